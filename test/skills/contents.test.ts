import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ManifestReading } from '../../src/model.ts';
import { localFiles } from '../../src/skills/contents.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const NEVER = new AbortController().signal;
const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

function filesOf(reading: ManifestReading) {
  assert.equal(reading.kind, 'whole');
  const files = reading.kind === 'whole' ? reading.files : [];
  assert.ok(Array.isArray(files));
  return new Map(files.map(({ path, digest }) => [path, digest]));
}

test('a manifest never mixes the files of two directories that take turns under one name', async (t) => {
  const tree = makeTree(t);
  const count = 450;
  const versions = new Map<string, string>();
  for (const version of ['a', 'b']) {
    const texts = new Map([['SKILL.md', skillText('x', `Version ${version}`)]]);
    for (let n = 0; n < count; n++) texts.set(`d${n}/f`, `${version} ${n}`);
    for (const [path, text] of texts) {
      tree.write(`${version}/${path}`, text);
      versions.set(digestOf(text), version);
    }
  }
  let shown = 'a';
  renameSync(tree.at('a'), tree.at('x'));
  const swap = () => {
    const other = shown === 'a' ? 'b' : 'a';
    renameSync(tree.at('x'), tree.at(shown));
    renameSync(tree.at(other), tree.at('x'));
    shown = other;
  };
  // Both versions are known, so that nothing has to be read again and only the directories tell them apart.
  await new Promise((done) => setTimeout(done, 50));
  const files = localFiles(tree.at('x'));
  for (let round = 0; round < 2; round++) {
    await files.manifest(NEVER);
    swap();
  }
  for (let round = 0; round < 30; round++) {
    // A manifest gives the event loop back every few milliseconds: the swap comes in the middle of it.
    setTimeout(swap, round % 10);
    const found = filesOf(await files.manifest(NEVER));
    assert.equal(found.size, count + 1);
    assert.equal(new Set([...found.values()].map((digest) => versions.get(digest))).size, 1);
    await new Promise((done) => setTimeout(done, 10));
  }
});

test('an edit that keeps size and times is still seen', async (t) => {
  const tree = makeTree(t, { 'x/SKILL.md': skillText('x'), 'x/f': 'aaaa' });
  const files = localFiles(tree.at('x'));
  const time = new Date(1_000_000_000_000);
  utimesSync(tree.at('x/f'), time, time);
  for (const text of ['aaaa', 'bbbb', 'cccc']) {
    writeFileSync(tree.at('x/f'), text);
    utimesSync(tree.at('x/f'), time, time);
    assert.equal(filesOf(await files.manifest(NEVER)).get('f'), digestOf(text));
  }
});

test('an unchanged file is not read again for its digest', async (t) => {
  const tree = makeTree(t, { 'x/SKILL.md': skillText('x'), 'x/f': 'text' });
  // Old enough that its version can be trusted.
  await new Promise((done) => setTimeout(done, 50));
  const files = localFiles(tree.at('x'));
  const first = filesOf(await files.manifest(NEVER));
  const again = await localFiles(tree.at('x')).manifest(NEVER);
  assert.deepEqual(filesOf(again), first);
  const before = process.resourceUsage();
  const start = performance.now();
  for (let round = 0; round < 50; round++) assert.deepEqual(filesOf(await files.manifest(NEVER)), first);
  assert.ok(performance.now() - start < 5000);
  assert.equal(process.resourceUsage().fsRead, before.fsRead);
});

test('a file that cannot be read makes the skill unfit to be listed, not broken', async (t) => {
  const tree = makeTree(t, { 'x/SKILL.md': skillText('x'), 'x/closed': 'x' });
  chmodSync(tree.at('x/closed'), 0);
  const files = localFiles(tree.at('x'));
  const reading = await files.manifest(NEVER);
  // Whoever runs as root may read everything.
  if (process.getuid?.() === 0) return void assert.equal(reading.kind, 'whole');
  assert.equal(reading.kind, 'unfit');
  assert.equal((await files.read('closed', NEVER)).kind, 'refused');
  assert.equal((await files.read('SKILL.md', NEVER)).kind, 'read');
});

test('a file name that is not UTF-8 makes a skill unfit to be listed, with that reason', async (t) => {
  const tree = makeTree(t, { 'x/SKILL.md': skillText('x') });
  const name = Buffer.concat([Buffer.from(`${tree.at('x')}/`), Buffer.from([0xff, 0xfe])]);
  writeFileSync(name, 'x');
  const reading = await localFiles(tree.at('x')).manifest(NEVER);
  assert.deepEqual(reading, { kind: 'unfit', why: 'it has a file whose name is not UTF-8' });
  // What can be served is.
  const children = await localFiles(tree.at('x')).list('', NEVER);
  assert.deepEqual(
    children?.map((child) => child.name),
    ['SKILL.md'],
  );
});

test('a deleted skill is reported as gone at once', async (t) => {
  const tree = makeTree(t, { 'x/SKILL.md': skillText('x'), 'y/SKILL.md': skillText('y'), 'y/f': '', 'out.md': '' });
  tree.remove('x');
  tree.remove('y/SKILL.md');
  const start = performance.now();
  for (let round = 0; round < 40; round++) {
    for (const name of ['x', 'y']) assert.deepEqual(await localFiles(tree.at(name)).manifest(NEVER), { kind: 'gone' });
  }
  assert.ok(performance.now() - start < 4000);
  tree.link('y/SKILL.md', tree.at('out.md'));
  const reading = await localFiles(tree.at('y')).manifest(NEVER);
  assert.deepEqual(reading, { kind: 'unfit', why: 'its SKILL.md is a link that leads out of it' });
});

test('circles of links end', async (t) => {
  const tree = makeTree(t, { 'x/SKILL.md': skillText('x'), 'x/a/f': 'f', 'x/b/g': 'g' });
  tree.link('x/a/b', '../b');
  tree.link('x/b/a', '../a');
  tree.link('x/loop', 'loop');
  const files = localFiles(tree.at('x'));
  assert.deepEqual([...filesOf(await files.manifest(NEVER)).keys()], ['SKILL.md', 'a/b/g', 'a/f', 'b/a/f', 'b/g']);
  assert.equal((await files.read('a/b/a/f', NEVER)).kind, 'missing');
  assert.equal((await files.read('loop', NEVER)).kind, 'missing');
});

test('more directories than a skill may have are not walked', async (t) => {
  const tree = makeTree(t, { 'x/SKILL.md': skillText('x') });
  for (let n = 0; n < 2050; n++) mkdirSync(tree.at(`x/d${n}`));
  const reading = await localFiles(tree.at('x')).manifest(NEVER);
  assert.deepEqual(reading, { kind: 'unfit', why: 'it has over 2048 directories' });
});

test('a SKILL.md that is a link to another file of its skill is read as what it is', async (t) => {
  const tree = makeTree(t, { 'x/AGENTS.md': skillText('x') });
  tree.link('x/SKILL.md', 'AGENTS.md');
  const files = localFiles(tree.at('x'));
  for (let round = 0; round < 2; round++) {
    assert.deepEqual([...filesOf(await files.manifest(NEVER)).keys()], ['AGENTS.md', 'SKILL.md']);
    await new Promise((done) => setTimeout(done, 50));
  }
});

test('a directory of very many files is listed in slices', async (t) => {
  const tree = makeTree(t, { 'x/SKILL.md': skillText('x') });
  for (let nth = 0; nth < 20_000; nth++) writeFileSync(tree.at(`x/f${nth}`), '');
  const files = localFiles(tree.at('x'));
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const children = await files.list('', NEVER);
  clearInterval(timer);
  assert.equal(children?.length, 20_001);
  assert.ok(turns >= 5, `${turns} turns for others`);
  assert.deepEqual(await files.manifest(NEVER), { kind: 'unfit', why: 'it has over 512 files' });
});

test('a clock that is behind that of the file system does not hide a skill', async (t) => {
  const tree = makeTree(t, { 'pdf/SKILL.md': skillText('pdf'), 'pdf/a.md': 'one' });
  const files = localFiles(tree.at('pdf'));
  const now = Date.now;
  t.mock.method(Date, 'now', () => now() - 60_000);
  const manifest = await files.manifest(NEVER);
  assert.equal(manifest.kind, 'whole');
  assert.deepEqual(
    (await files.list('', NEVER))?.map(({ name }) => name),
    ['SKILL.md', 'a.md'],
  );
});
