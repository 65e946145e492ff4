/**
 * Bare Node with the duties of a scan: every directory of DIR listed, every SKILL.md read whole and held, an identity
 * of each directory and file kept (by which a later scan would see what changed), and a complete tools/list made of it.
 * The other arguments are METHOD=BYTES, as in floor.js; tools/list is filled up to its size.
 */
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';

const [root, ...sizes] = process.argv.slice(2);
const bytesOf = new Map(sizes.map((pair) => pair.split('=')));
const directories = new Map();
const skills = [];

scan(root);
const results = new Map([...bytesOf].map(([method, bytes]) => [method, fill('{"x":""}', bytes)]));
results.set('tools/list', fill(`{"tools":${JSON.stringify([describe()])},"x":""}`, bytesOf.get('tools/list')));

let rest = '';
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method } = JSON.parse(line);
    if (id !== undefined) process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${results.get(method)}}\n`);
  }
});

function scan(directory) {
  directories.set(directory, identityOf(statSync(directory, { bigint: true })));
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) scan(path);
    else if (entry.name === 'SKILL.md') skills.push(read(path));
  }
}

function read(path) {
  const file = openSync(path);
  const identity = identityOf(fstatSync(file, { bigint: true }));
  const bytes = readFileSync(file);
  closeSync(file);
  const head = bytes.toString('utf8', 0, bytes.indexOf('\n---\n'));
  const [, name] = /^name: (.*)$/m.exec(head);
  const [, description] = /^description: (.*)$/m.exec(head);
  return { path, identity, bytes, name, description };
}

function identityOf({ dev, ino, size, mtimeNs, ctimeNs }) {
  return { dev, ino, size, mtimeNs, ctimeNs };
}

function describe() {
  const list = skills.map(
    ({ name, description }) =>
      `<skill><name>${name}</name><description>${description}</description><location>custom</location></skill>`,
  );
  return { name: 'skill', description: list.join('\n'), inputSchema: { type: 'object' } };
}

function fill(text, bytes) {
  return text.replace(/"x":""}$/, `"x":"${'x'.repeat(Math.max(0, bytes - Buffer.byteLength(text)))}"}`);
}
