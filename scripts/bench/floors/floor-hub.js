/**
 * Bare Node between a client and the server that its arguments start: each message is parsed, gets another id, and is
 * written again. To swap ids in the text would be cheaper, but no hub may rely on where in a message its id stands.
 */
import { spawn } from 'node:child_process';

const child = spawn(process.execPath, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'ignore'] });
const asked = new Map();
let next = 1;

passLines(process.stdin, child.stdin, (id) => {
  asked.set(next, id);
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
      const message = JSON.parse(line);
      if (message.id !== undefined) message.id = swap(message.id);
      out += `${JSON.stringify(message)}\n`;
    }
    to.write(out);
  });
}
