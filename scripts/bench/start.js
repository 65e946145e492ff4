/**
 * A hundred skills: from spawning the program to its first `tools/list` answer, memory when idle, calls per second.
 * The measure is a script that does nothing but answer: it reads lines and writes the bytes that skillwire answers the
 * same lines with, as constants. For the start there is a second one, which finds and reads the same files and makes its
 * list of them, as anything must that serves them. Rounds alternate, and the medians are compared.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'dist', 'bin', 'skillwire.cjs');
const SKILLS = 100;
const ROUNDS = 21;
const MEMORY_ROUNDS = 5;
const CALL_ROUNDS = 5;
const CALLS = 5000;
// Long enough for whatever a start leaves to be done.
const IDLE_MS = 2000;

/** Lines for people, one per measurement. */
export async function benchStart(say) {
  const place = mkdtempSync(join(tmpdir(), 'skillwire-bench-'));
  try {
    makeSkills(place);
    const skillwire = [PROGRAM, '--no-default-dirs', '--no-plugins', '--skill-dir', join(place, 'skills')];
    const results = await answersOf(skillwire);
    const bare = [makeBare(place, 'bare', results, '')];
    const reading = [makeBare(place, 'reading', results, readingAll(join(place, 'skills')))];
    await start(say, skillwire, bare, reading);
    await memory(say, skillwire, bare);
    await calls(say, skillwire, bare);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

// --- internal ---

const HELLO = request(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
});
const LIST = request(2, 'tools/list', {});
const call = (id) => request(id, 'tools/call', { name: 'skill', arguments: { name: 'skill-42' } });

function request(id, method, params) {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
}

// About what the median of public skills is: 3 KB, a description of 190 characters.
function makeSkills(place) {
  for (let at = 0; at < SKILLS; at++) {
    const directory = join(place, 'skills', `skill-${at}`);
    mkdirSync(directory, { recursive: true });
    const about = `Works on things of kind ${at}. Use when the task speaks of kind ${at}, of its files or of its tools, ${'or of what is near '.repeat(4)}it.`;
    const body = 'A line of instructions for the model, as long as such lines are.\n'.repeat(44);
    writeFileSync(
      join(directory, 'SKILL.md'),
      `---\nname: skill-${at}\ndescription: ${about}\n---\n# ${at}\n\n${body}`,
    );
  }
}

/** What skillwire answers each method with, once, as JSON. */
async function answersOf(skillwire) {
  const { child, take } = open(skillwire);
  child.stdin.write(HELLO + LIST + call(3));
  const answers = new Map((await take(3)).map((line) => [JSON.parse(line).id, line.replace(/^.*?"result":/, '')]));
  child.kill('SIGKILL');
  return { initialize: answers.get(1), 'tools/list': answers.get(2), 'tools/call': answers.get(3) };
}

/** The script that answers with these results. CommonJS, which starts a little sooner. */
function makeBare(place, name, results, preparation) {
  const file = join(place, `${name}.cjs`);
  writeFileSync(
    file,
    `const results = ${JSON.stringify(results)};
let rest = '';
${preparation}
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  let out = '';
  for (const line of lines) {
    const { id, method } = JSON.parse(line);
    out += \`{"jsonrpc":"2.0","id":\${id},"result":\${results[method]}\\n\`;
  }
  process.stdout.write(out);
});`,
  );
  return file;
}

const readingAll = (directory) => `
const { readdirSync, readFileSync } = require('node:fs');
const skills = [];
for (const name of readdirSync(${JSON.stringify(directory)})) {
  const inside = ${JSON.stringify(`${directory}/`)} + name;
  for (const { name: file } of readdirSync(inside, { withFileTypes: true })) {
    const text = readFileSync(inside + '/' + file, 'utf8');
    skills.push('- ' + /^name: (.*)$/m.exec(text)[1] + ': ' + /^description: (.*)$/m.exec(text)[1]);
  }
}
const skill = { name: 'skill', description: skills.join('\\n'), inputSchema: { type: 'object' } };
results['tools/list'] = JSON.stringify({ tools: [skill] }) + '}';`;

/** A child, and its lines of output: `take(n)` gives the next n. */
function open(args) {
  // Not this process's whole environment: some variables make every Node start later, and so hide what we add to it.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'], env });
  const lines = [];
  let rest = '';
  let look = () => {};
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop();
    lines.push(...parts);
    look();
  });
  const take = (count) =>
    new Promise((done) => {
      look = () => {
        if (lines.length >= count) done(lines.splice(0, count));
      };
      look();
    });
  return { child, take };
}

async function startTime(args) {
  const begin = performance.now();
  const { child, take } = open(args);
  child.stdin.write(HELLO + LIST);
  await take(2);
  const took = performance.now() - begin;
  child.kill('SIGKILL');
  return took;
}

async function start(say, skillwire, bare, reading) {
  const [ours, ...others] = await alternate(ROUNDS, ...[skillwire, reading, bare].map((args) => () => startTime(args)));
  const names = ['a bare script that lists them too (wanted: under 1.6x)', 'one that only answers constants'];
  const against = others.map((time, at) => `${(ours / time).toFixed(2)}x the ${time.toFixed(0)} ms of ${names[at]}`);
  say(`start to the first tools/list answer, ${SKILLS} skills: ${ours.toFixed(0)} ms = ${against.join(', ')}`);
}

async function idleMemory(args) {
  const { child, take } = open(args);
  child.stdin.write(HELLO + LIST);
  await take(2);
  await new Promise((done) => setTimeout(done, IDLE_MS));
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  child.kill('SIGKILL');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

async function memory(say, skillwire, bare) {
  const [ours, theirs] = await alternate(
    MEMORY_ROUNDS,
    () => idleMemory(skillwire),
    () => idleMemory(bare),
  );
  say(
    `idle memory: ${ours.toFixed(1)} MiB against ${theirs.toFixed(1)} MiB of a bare script = +${(ours - theirs).toFixed(1)} MiB (wanted: under +15)`,
  );
}

/** Calls per second, `width` of them on their way at any time. */
async function callRate(args, width) {
  const { child, take } = open(args);
  child.stdin.write(HELLO + LIST);
  await take(2);
  const begin = performance.now();
  for (let id = 0; id < CALLS; id += width) {
    child.stdin.write(Array.from({ length: width }, (_, at) => call(id + at)).join(''));
    await take(width);
  }
  const took = performance.now() - begin;
  child.kill('SIGKILL');
  return (CALLS / took) * 1000;
}

async function calls(say, skillwire, bare) {
  for (const width of [1, 100]) {
    const [ours, theirs] = await alternate(
      CALL_ROUNDS,
      () => callRate(skillwire, width),
      () => callRate(bare, width),
    );
    say(
      `skill calls, ${width} at a time: ${ours.toFixed(0)} a second against ${theirs.toFixed(0)} of a bare script = ${(ours / theirs).toFixed(2)} of it`,
    );
  }
}

/** The median of each, measured in turn. */
async function alternate(rounds, ...measures) {
  const all = measures.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, measure] of measures.entries()) all[at].push(await measure());
  }
  return all.map((numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]);
}
