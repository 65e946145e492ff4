/**
 * `node proxy.js LOG COMMAND ARG...`: runs an MCP server on stdio and writes every message that passes to LOG, one JSON
 * object per line: `{ from: "client"|"server", message }`. It changes nothing: bytes, signals, the end of stdin and the
 * exit code go through as they are. It writes synchronously, because a host may end it with SIGKILL at any moment.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [log, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });

pass('client', process.stdin, child.stdin);
pass('server', child.stdout, process.stdout);
process.stdin.on('end', () => child.stdin.end());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
// A host that has gone away closes its end of the pipe; the server learns of it by its own stdin.
for (const stream of [process.stdout, child.stdin]) stream.on('error', () => {});
child.on('close', (code) => process.exit(code ?? 1));

/** Copies bytes at once, and writes down complete lines. */
function pass(from, input, output) {
  let rest = Buffer.alloc(0);
  input.on('data', (chunk) => {
    output.write(chunk);
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      appendFileSync(log, `{"from":"${from}","message":${rest.subarray(0, end)}}\n`);
      rest = rest.subarray(end + 1);
    }
  });
}
