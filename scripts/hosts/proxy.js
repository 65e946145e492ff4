/**
 * `node proxy.js LOG COMMAND ARG...`: runs an MCP server on stdio and writes every message that passes to LOG, one JSON
 * object per line: `{from: "client"|"server", message}`, `{from: "server", stderr}` or `{event}`.
 * It changes nothing: bytes, signals, the end of stdin and the exit code go through as they are. It writes
 * synchronously, because a host may end it with SIGKILL at any moment.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [log, command, ...args] = process.argv.slice(2);
const write = (entry) => appendFileSync(log, `${JSON.stringify(entry)}\n`);

const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
write({ event: 'start', cwd: process.cwd() });

pass(process.stdin, child.stdin, (line) => write({ from: 'client', message: parse(line) }));
pass(child.stdout, process.stdout, (line) => write({ from: 'server', message: parse(line) }));
pass(child.stderr, process.stderr, (line) => write({ from: 'server', stderr: line }));
process.stdin.on('end', () => {
  write({ event: 'stdin ended' });
  child.stdin.end();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    write({ event: signal });
    child.kill(signal);
  });
}
// A host that has gone away closes its end of the pipe; the server learns of it by its own stdin.
for (const stream of [process.stdout, process.stderr, child.stdin]) stream.on('error', () => {});
child.on('error', (error) => {
  write({ event: `cannot start: ${error.message}` });
  process.exitCode = 1;
});
child.on('close', (code, signal) => {
  write({ event: 'exit', code, signal });
  process.exit(code ?? 1);
});

/** Copies bytes at once, and hands complete lines to `onLine`. */
function pass(from, to, onLine) {
  let rest = Buffer.alloc(0);
  from.on('data', (chunk) => {
    to.write(chunk);
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      onLine(rest.subarray(0, end).toString());
      rest = rest.subarray(end + 1);
    }
  });
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return { unreadable: line };
  }
}
