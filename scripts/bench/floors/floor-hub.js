/**
 * Bare Node between a client and the server that its arguments start: ids are swapped in the text, the rest passes
 * unread. It knows the one way in which the client here and upstream.js write an id, which no real hub may rely on.
 */
import { spawn } from 'node:child_process';

const child = spawn(process.execPath, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'ignore'] });
const asked = new Map();
let next = 1;

passLines(process.stdin, child.stdin, (id) => {
  asked.set(String(next), id);
  return next++;
});
process.stdin.on('end', () => child.stdin.end());

passLines(child.stdout, process.stdout, (id) => {
  const original = asked.get(id);
  asked.delete(id);
  return original;
});

/** Everything that came in one piece goes on in one piece: a write costs more than the rest. */
function passLines(from, to, swap) {
  let rest = '';
  from.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    let out = '';
    for (const line of lines) {
      const [, head, id] = /^(\{"jsonrpc":"2.0","id":)(\d+)/.exec(line) ?? [];
      out += id === undefined ? `${line}\n` : `${head}${swap(id)}${line.slice(head.length + id.length)}\n`;
    }
    to.write(out);
  });
}
