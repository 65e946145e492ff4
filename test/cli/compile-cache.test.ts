import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMPLETE_AFTER_MS, MOST_CACHES, WRITE_AFTER_MS } from '../../src/cli/compile-cache.ts';
import { makeTree } from '../harness/tree.ts';

const LOADER = fileURLToPath(new URL('../../src/cli/compile-cache.js', import.meta.url));
const programText = (word: string) => `(function (exports, require, module, __filename, __dirname) {
function say() { require('node:process').stdout.write('${word} ' + __filename.length); }
say();
})
`;

/** A program in a file of its own, in a home where its compiled form is kept. */
function makeProgram(t: TestContext, { off = false } = {}) {
  const tree = makeTree(t, { 'home/x': '', 'program.cjs': programText('one') });
  tree.write(
    'run.mjs',
    `import { createRequire } from 'node:module';
import { loadFile } from ${JSON.stringify(LOADER)};
loadFile(process.argv[2], createRequire(import.meta.url));
setTimeout(() => {}, Number(process.argv[3] ?? 0));
`,
  );
  const env = { PATH: process.env.PATH, HOME: tree.at('home'), ...(off ? { SKILLWIRE_CACHE: 'off' } : {}) };
  const directory = tree.at('home/.cache/skillwire');
  const file = tree.at('program.cjs');
  /** Runs it and gives the word that it says. */
  function run(stay = 0): string {
    const { stdout, stderr, status } = spawnSync(process.execPath, [tree.at('run.mjs'), file, String(stay)], {
      env,
      encoding: 'utf8',
    });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    const [word = '', length] = stdout.split(' ');
    assert.equal(Number(length), file.length);
    return word;
  }
  const caches = () => (existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : []);
  /** Runs it for long enough that its compiled form is written, and gives the file of that. */
  function runAndKeep(): string {
    const before = new Set(caches());
    run(WRITE_AFTER_MS + 500);
    const [made] = caches().filter((path) => !before.has(path));
    assert.ok(made);
    return made;
  }
  return { tree, file, directory, run, runAndKeep, caches };
}

/** The parts of a cache file, in which the compiled code stands twice. */
function split(bytes: Buffer) {
  const end = bytes.indexOf('\n') + 1;
  return { key: bytes.subarray(0, end), code: bytes.subarray(end, (end + bytes.length) / 2) };
}

test('what a slow first start compiles later is kept too', (t) => {
  const { tree, run, caches } = makeProgram(t);
  const late = `function late() { return ['${'x'.repeat(2000)}', Math.max(1, 2)]; }`;
  tree.write('program.cjs', programText('one').replace('say();', `say(); ${late} setTimeout(late, 1000);`));
  const bytesAfter = (stay: number) => {
    for (const one of caches()) rmSync(one);
    run(stay);
    return statSync(caches()[0] ?? '').size;
  };
  // The constants of a function that has not run are not in it.
  assert.ok(bytesAfter(COMPLETE_AFTER_MS + 500) > bytesAfter(WRITE_AFTER_MS + 400) + 2000);
});

test('the compiled form is kept for this user alone, and is used by the next start', (t) => {
  const { directory, run, runAndKeep, caches } = makeProgram(t);
  const kept = runAndKeep();
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(statSync(kept).mode & 0o777, 0o600);
  const before = statSync(kept);
  assert.equal(run(WRITE_AFTER_MS + 500), 'one');
  // One that was not used would have been written again.
  assert.equal(statSync(kept).ino, before.ino);
  assert.deepEqual(caches(), [kept]);
});

test('a changed program of equal length is compiled again, also with its old times', (t) => {
  const { file, run, runAndKeep } = makeProgram(t);
  runAndKeep();
  const { atime, mtime } = statSync(file);
  writeFileSync(file, programText('two'));
  utimesSync(file, atime, mtime);
  assert.equal(run(), 'two');
});

test('compiled code of another owner, or that others may write, is not used', (t) => {
  const one = makeProgram(t);
  const other = makeProgram(t);
  writeFileSync(other.file, programText('bad'));
  const kept = one.runAndKeep();
  const { code } = split(readFileSync(other.runAndKeep()));
  // Code of other source of equal length, under the right key: V8 would run it.
  writeFileSync(kept, Buffer.concat([split(readFileSync(kept)).key, code, code]));
  assert.equal(one.run(), 'bad', 'it is what the checks below protect from');
  for (const mode of [0o660, 0o606, 0o644]) {
    chmodSync(kept, mode);
    assert.equal(one.run(), 'one', mode.toString(8));
  }
  chmodSync(kept, 0o600);
  if (process.getuid?.() !== 0) return;
  chownSync(kept, 12_345, 12_345);
  assert.equal(one.run(), 'one', 'another owner');
});

test('no damage to the file changes what the program does', (t) => {
  const { run, runAndKeep } = makeProgram(t);
  const kept = runAndKeep();
  const whole = readFileSync(kept);
  let seed = 7;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed % below;
  };
  for (let round = 0; round < 50; round++) {
    const damaged = Buffer.from(whole);
    const at = random(whole.length);
    if (round % 5 === 4) writeFileSync(kept, damaged.subarray(0, at));
    else {
      damaged[at] = (damaged[at] ?? 0) ^ (1 << random(8));
      writeFileSync(kept, damaged);
    }
    assert.equal(run(), 'one', `round ${round}, byte ${at}`);
  }
  writeFileSync(kept, '');
  assert.equal(run(), 'one', 'empty');
});

test('where nothing can be written, or with SKILLWIRE_CACHE=off, nothing is kept', (t) => {
  const { tree, run } = makeProgram(t);
  tree.write('home/.cache', 'a file where the directory would be');
  assert.equal(run(WRITE_AFTER_MS + 500), 'one');
  const off = makeProgram(t, { off: true });
  assert.equal(off.run(WRITE_AFTER_MS + 500), 'one');
  assert.deepEqual(off.caches(), []);
});

test('the oldest of many are removed', (t) => {
  const { directory, tree, runAndKeep, caches } = makeProgram(t);
  for (let nth = 0; nth < MOST_CACHES + 4; nth++) {
    const path = tree.write(`home/.cache/skillwire/old-${nth}.bin`, 'x');
    utimesSync(path, 1000 + nth, 1000 + nth);
  }
  const kept = runAndKeep();
  assert.equal(caches().length, MOST_CACHES);
  assert.ok(caches().includes(kept));
  assert.ok(!existsSync(join(directory, 'old-0.bin')));
});

test('a file that could not be loaded is loaded at the next attempt', (t) => {
  const tree = makeTree(t, { 'home/x': '' });
  const file = tree.at('late.cjs');
  tree.write(
    'run.mjs',
    `import { writeFileSync } from 'node:fs';
import { loadFile } from ${JSON.stringify(LOADER)};
const [file, text] = process.argv.slice(2);
const attempt = () => { try { return loadFile(file, undefined).word; } catch (error) { return error.code ?? error.message; } };
const words = [attempt()];
writeFileSync(file, '(function () { throw new Error("half"); })');
words.push(attempt());
writeFileSync(file, text);
words.push(attempt(), attempt());
process.stdout.write(words.join(' '));
`,
  );
  const text = '(function (exports) { exports.word = "whole"; })';
  const { stdout, stderr } = spawnSync(process.execPath, [tree.at('run.mjs'), file, text], {
    env: { PATH: process.env.PATH, HOME: tree.at('home') },
    encoding: 'utf8',
  });
  assert.equal(stdout, 'ENOENT half whole whole', stderr);
});
