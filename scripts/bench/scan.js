/**
 * Many skills: how long until the first `tools/list`, what a refresh costs when nothing changed, and whether `ping`
 * notices a rescan. The measure is a plain walk of the same tree by bare Node, in this same run.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'dist', 'bin', 'skillwire.cjs');
const SKILLS = 10_000;
const ROUNDS = 5;

/** Lines for people, one per measurement. */
export async function benchScan(say) {
  const tree = makeSkills();
  try {
    const sync = median(times(ROUNDS, () => walkTime(tree, SYNC_WALK)));
    const promises = median(times(ROUNDS, () => walkTime(tree, PROMISE_WALK)));
    const plain = Math.min(sync, promises);
    const firsts = [];
    for (let round = 0; round < ROUNDS; round++) firsts.push(await firstList(tree));
    const first = median(firsts);
    say(`plain walk of ${SKILLS} skills, process included: ${ms(sync)} with sync calls, ${ms(promises)} with promises`);
    say(`first tools/list: ${ms(first)} = ${(first / plain).toFixed(2)}x the faster walk (wanted: at most 2.5x)`);
    await rescans(tree, say);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

// --- internal ---

function makeSkills() {
  const tree = mkdtempSync(join(tmpdir(), 'skillwire-bench-'));
  for (let at = 0; at < SKILLS; at++) {
    const directory = join(tree, `group-${at % 100}`, `skill-${at}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'SKILL.md'), skillText(at, ''));
  }
  return tree;
}

// Half as long as the median of public ones in the body, about as long in the description.
function skillText(at, mark) {
  const about = `Works on things of kind ${at}. Use when the task speaks of kind ${at}, of its files or of its tools, ${'or of what is near '.repeat(5)}it${mark}.`;
  return `---\nname: skill-${at}\ndescription: ${about}\nlicense: MIT\n---\n# Skill ${at}\n\n${'A line of instructions for the model.\n'.repeat(40)}`;
}

const SYNC_WALK = `
const { readdirSync, readFileSync } = require('node:fs');
(function walk(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) walk(directory + '/' + entry.name);
    else readFileSync(directory + '/' + entry.name, 'utf8');
  }
})(process.argv[1]);`;

const PROMISE_WALK = `
const { readdir, readFile } = require('node:fs/promises');
(async function walk(directory) {
  const entries = await readdir(directory, { withFileTypes: true });
  await Promise.all(entries.map((entry) => entry.isDirectory()
    ? walk(directory + '/' + entry.name) : readFile(directory + '/' + entry.name, 'utf8')));
})(process.argv[1]);`;

function walkTime(tree, code) {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, ['-e', code, tree]);
  if (status !== 0) throw new Error('the plain walk failed');
  return performance.now() - start;
}

async function firstList(tree) {
  const start = performance.now();
  const server = connect(tree, ['--no-refresh']);
  await server.request('initialize', HELLO);
  await server.request('tools/list', {});
  const took = performance.now() - start;
  await server.end();
  return took;
}

/** Refreshes with and without changes, pinged throughout. */
async function rescans(tree, say) {
  const server = connect(tree, ['--no-watch', '--refresh-interval', '1500']);
  await server.request('initialize', HELLO);
  server.notify('notifications/initialized');
  await server.request('tools/list', {});
  const first = Number((await server.logged(/ready: .* in (\d+) ms/))[1]);
  const idle = Number((await server.logged(/refresh \(timer\): no change; .* in (\d+) ms/))[1]);
  say(
    `scan ${ms(first)}, refresh without a change ${ms(idle)} = ${(idle / first).toFixed(2)} of it (wanted: at most 0.25)`,
  );

  const pings = [];
  for (let round = 1; round <= 3; round++) {
    for (let at = 0; at < SKILLS; at += 10) {
      writeFileSync(join(tree, `group-${at % 100}`, `skill-${at}`, 'SKILL.md'), skillText(at, ` ${round}`));
    }
    const done = server.noticed(round);
    for (let over = false; !over; ) {
      const start = performance.now();
      await server.request('ping', {});
      pings.push(performance.now() - start);
      over = await Promise.race([done.then(() => true), pause(2)]);
    }
    const start = performance.now();
    await server.request('tools/list', {});
    say(`tools/list after a rescan with changes: ${ms(performance.now() - start)}`);
  }
  pings.sort((a, b) => a - b);
  const at = (share) => ms(pings[Math.min(pings.length - 1, Math.floor(pings.length * share))]);
  say(
    `${pings.length} pings during rescans with 1,000 changes: p50 ${at(0.5)}, p99 ${at(0.99)}, worst ${at(1)} (wanted: p99 at most 20 ms)`,
  );
  await server.end();
}

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };

function connect(tree, args) {
  const child = spawn(process.execPath, [PROGRAM, '--no-default-dirs', '--no-plugins', '--skill-dir', tree, ...args]);
  const waiting = new Map();
  const logWaiters = new Set();
  let notices = 0;
  let log = '';
  let nextId = 1;
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const wake = () => {
    for (const waiter of [...logWaiters]) waiter();
  };
  const until = (look) =>
    new Promise((resolve) => {
      const check = () => {
        const found = look();
        if (!found) return;
        logWaiters.delete(check);
        resolve(found);
      };
      logWaiters.add(check);
      check();
    });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text;
    wake();
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    // Telling an answer by its beginning keeps megabytes of JSON out of the measurement.
    const id = Number(/^\{"jsonrpc":"2\.0","id":(\d+)/.exec(line)?.[1]);
    if (line.includes('"notifications/tools/list_changed"')) notices += 1;
    waiting.get(id)?.();
    waiting.delete(id);
    wake();
  });
  return {
    notify: (method) => send({ method }),
    request(method, params) {
      const id = nextId++;
      send({ id, method, params });
      return new Promise((done) => waiting.set(id, done));
    },
    logged: (pattern) => until(() => pattern.exec(log)),
    noticed: (count) => until(() => notices >= count),
    end() {
      child.stdin.end();
      return new Promise((done) => child.once('close', done));
    },
  };
}

const pause = (length) => new Promise((done) => setTimeout(done, length));
const times = (count, make) => Array.from({ length: count }, make);
const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const ms = (number) => `${number.toFixed(number < 10 ? 1 : 0)} ms`;
