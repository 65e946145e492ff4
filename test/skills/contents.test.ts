import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { test } from 'node:test';
import type { Manifest } from '../../src/model.ts';
import { LocalFiles } from '../../src/skills/contents.ts';
import { makeTree, skillText } from '../harness/tree.ts';

test('what a skill serves is listed by name and stands in its manifest, each file once, and nothing else', async (t) => {
  const all = {
    'SKILL.md': skillText('x'),
    'image.bin': Buffer.from([0xff, 0, 1]),
    'inner/SKILL.md': skillText('inner'),
    'link.md': 'inside',
    'ref/a b.md': 'inside',
  };
  const tree = makeTree(t, { 'x/.git/config': 'SECRET', 'x/node_modules/m/index.js': 'SECRET', 'out/secret.txt': '' });
  for (const [path, data] of Object.entries(all)) if (path !== 'link.md') tree.write(`x/${path}`, data);
  mkdirSync(tree.at('x/empty'));
  const links = { 'link.md': 'ref/a b.md', 'out.txt': '../out/secret.txt', outdir: '../out', 'ref/up': '../..' };
  for (const [name, target] of Object.entries({ ...links, 'ref/circle': '..', git: '.git', nowhere: 'gone' }))
    tree.link(`x/${name}`, target);
  spawnSync('mkfifo', [tree.at('x/fifo')]);

  const files = new LocalFiles(tree.at('x'));
  const list = async (path: string) =>
    (await files.list(path)).map(({ name, kind, size }) => `${name} ${size ?? kind}`).join();
  assert.equal(await list(''), 'SKILL.md 41,empty directory,image.bin 3,inner directory,link.md 6,ref directory');
  assert.deepEqual([await list('ref'), await list('empty')], ['a b.md 6', '']);
  for (const path of ['SKILL.md', 'outdir', 'ref/up', '..']) await assert.rejects(list(path), { kind: 'refused' });
  for (const path of ['gone', '.git']) await assert.rejects(list(path), { kind: 'missing' });

  const digestOf = (data: string | Uint8Array) => `sha256:${createHash('sha256').update(data).digest('hex')}`;
  const entries = Object.entries(all).map(([path, data]) => ({ path, size: data.length, digest: digestOf(data) }));
  const manifest = await files.manifest();
  assert.deepEqual([manifest.files, manifest.head()], [entries, { name: 'x', description: 'About x' }]);
  for (const path of ['x/ref', 'gone'])
    await assert.rejects(new LocalFiles(tree.at(path)).manifest(), { kind: 'missing' });
});

test('a skill of 512 files and 16 MiB has a manifest; one more byte is refused, and said', async (t) => {
  const tree = makeTree(t, { 'x/SKILL.md': skillText('x') });
  const files = new LocalFiles(tree.at('x'));
  for (let nth = 1; nth < 512; nth++) tree.write(`x/d${nth % 7}/f${nth}`, '');
  const large = Buffer.alloc(16 * 1024 * 1024 - skillText('x').length + 1);
  tree.write('x/d0/f7', large);
  await assert.rejects(files.manifest(), { message: 'its files have over 16777216 bytes together' });
  tree.write('x/d0/f7', large.subarray(1));
  assert.equal((await files.manifest()).files.length, 512);
});

test('a manifest never mixes the files of two directories that take turns under one name', async (t) => {
  const tree = makeTree(t);
  for (const path of ['SKILL.md', 'a/f', 'b/f']) {
    tree.write(`x/${path}`, '1');
    tree.write(`y/${path}`, '22');
  }
  const swap = () => {
    for (const [from = '', to = ''] of ['xz', 'yx', 'zy']) renameSync(tree.at(from), tree.at(to));
  };
  const sizesIn = ({ files: all }: Manifest) => (all === 'dynamic' ? all : all.map(({ size }) => size).join());
  const files = new LocalFiles(tree.at('x'));
  const outcomes = new Set<string>();
  // The swap comes one step of the work later each time, and in the end after all of them.
  for (let steps = 0; steps < 100; steps++) {
    const work = files.manifest().then(sizesIn, ({ kind }) => kind);
    for (let step = 0; step < steps; step++) await undefined;
    swap();
    outcomes.add(await work);
    swap();
  }
  assert.deepEqual([...outcomes], ['changing', '1,1,1']);
});
