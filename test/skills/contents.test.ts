import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { FileError } from '../../src/files/read.ts';
import { contentOf, LocalFiles, typeOfName } from '../../src/skills/contents.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const digestOf = (data: string | Uint8Array) => `sha256:${createHash('sha256').update(data).digest('hex')}`;

/** Rejects with a FileError of that kind. */
const fails = (work: Promise<unknown>, kind: string, message = /./) =>
  assert.rejects(work, (error) => error instanceof FileError && error.kind === kind && message.test(error.message));

/** A skill `x` with everything that may and may not be served. */
function oddSkill(t: TestContext) {
  const tree = makeTree(t, {
    'x/SKILL.md': skillText('x'),
    'x/ref/a b.md': 'inside',
    'x/inner/SKILL.md': skillText('inner'),
    'x/.git/config': 'SECRET',
    'x/node_modules/m/index.js': 'SECRET',
    'out/secret.txt': 'SECRET',
  });
  tree.write('x/image.bin', Buffer.from([0xff, 0, 1]));
  mkdirSync(tree.at('x/empty'));
  const links = 'link.md>ref/a b.md|out.txt>../out/secret.txt|outdir>../out|ref/up>../..|ref/circle>..|git>.git';
  for (const link of `${links}|loop>loop|nowhere>gone`.split('|'))
    tree.link(`x/${link.split('>')[0]}`, link.split('>')[1] ?? '');
  spawnSync('mkfifo', [tree.at('x/fifo')]);
  return { tree, files: new LocalFiles(tree.at('x')) };
}

test('a file is read as it is now, up to the limit, and nothing from outside', async (t) => {
  const { tree, files } = oddSkill(t);
  for (const path of ['ref/a b.md', 'link.md']) assert.equal(String(await files.read(path, 6)), 'inside');
  tree.write('x/ref/a b.md', 'edited');
  assert.equal(String(await files.read('ref/a b.md', 6)), 'edited');
  await fails(files.read('ref/a b.md', 5), 'refused', /over 5 bytes/);
  for (const path of ['out.txt', 'outdir/secret.txt', '../out/secret.txt', 'fifo'])
    await fails(files.read(path, 9), 'refused');
});

test('a directory is listed by name, with what would be served and nothing else', async (t) => {
  const { files } = oddSkill(t);
  const names = async (path: string) =>
    (await files.list(path)).map(({ name, kind, size }) => [name, size ?? kind].join());
  const all = ['SKILL.md,41', 'empty,directory', 'image.bin,3', 'inner,directory', 'link.md,6', 'ref,directory'];
  assert.deepEqual([await names(''), await names('ref'), await names('empty')], [all, ['a b.md,6'], []]);
  for (const path of ['SKILL.md', 'outdir', 'ref/up', '..']) await fails(files.list(path), 'refused');
  for (const path of ['gone', '.git']) await fails(files.list(path), 'missing');
});

test('a manifest has every file once, by path, with the digest of its bytes, and the front matter', async (t) => {
  const manifest = await oddSkill(t).files.manifest();
  assert.deepEqual(manifest.head, { name: 'x', description: 'About x' });
  const expected = {
    'SKILL.md': skillText('x'),
    'image.bin': Buffer.from([0xff, 0, 1]),
    'inner/SKILL.md': skillText('inner'),
    'link.md': 'inside',
    'ref/a b.md': 'inside',
  };
  const files = Object.entries(expected).map(([path, data]) => ({ path, size: data.length, digest: digestOf(data) }));
  assert.deepEqual(manifest.files, files);
});

test('without a SKILL.md inside the skill there is no manifest; with unfit front matter, one without that', async (t) => {
  const tree = makeTree(t, { 'x/A.md': skillText('x'), 'y/f': '', 'out.md': skillText('z') });
  tree.write('w/SKILL.md', '---\na: b: c\n---\n');
  tree.link('x/SKILL.md', 'A.md');
  tree.link('z/SKILL.md', tree.at('out.md'));
  const manifestOf = (name: string) => new LocalFiles(tree.at(name)).manifest();
  assert.deepEqual((await manifestOf('x')).head, { name: 'x', description: 'About x' });
  const manifest = await manifestOf('w');
  assert.equal(manifest.files.length, 1);
  assert.throws(() => manifest.head, FileError);
  for (const name of ['y', 'z', 'gone']) await fails(manifestOf(name), 'missing');
});

test('a skill of 512 files and 16 MiB has a manifest; one more file or byte is refused, and said', async (t) => {
  const tree = makeTree(t, { 'x/SKILL.md': skillText('x') });
  const files = new LocalFiles(tree.at('x'));
  for (let nth = 1; nth < 512; nth++) tree.write(`x/d${nth % 7}/f${nth}`, '');
  tree.write('x/d0/f7', Buffer.alloc(16 * 1024 * 1024 - skillText('x').length));
  assert.equal((await files.manifest()).files.length, 512);
  tree.write('x/d1/f1', 'x');
  await fails(files.manifest(), 'refused', /^its files have over 16777216 bytes together$/);
  tree.write('x/d1/f1', '');
  tree.write('x/one-more', '');
  await fails(files.manifest(), 'refused', /^it has over 512 files$/);
});

test('a manifest never mixes the files of two directories that take turns under one name', async (t) => {
  const tree = makeTree(t);
  for (const version of ['x', 'y']) {
    tree.write(`${version}/SKILL.md`, skillText('x'));
    // Of as many characters as its version says.
    for (let nth = 0; nth < 300; nth++) tree.write(`${version}/d${nth}/f`, version === 'x' ? '1' : '22');
  }
  const files = new LocalFiles(tree.at('x'));
  const outcome = async () => {
    const found = await files.manifest().catch(({ kind }: FileError) => kind);
    if (typeof found === 'string' || found.files === 'dynamic') return String(found);
    return [...new Set(found.files.slice(1).map(({ size }) => size))].join(' and ');
  };
  const outcomes = new Set([await outcome()]);
  for (let turns = 0; turns < 40; turns += 2) {
    const work = outcome();
    // A manifest gives the event loop back every few milliseconds: most swaps come in the middle of one.
    for (let turn = 0; turn < turns; turn++) await new Promise((done) => setImmediate(done));
    for (const [from = '', to = ''] of ['xz', 'yx', 'zy']) renameSync(tree.at(from), tree.at(to));
    outcomes.add(await work);
  }
  assert.ok(outcomes.has('1') && outcomes.has('changing'));
  for (const one of outcomes) assert.match(one, /^(?:1|2|changing|missing)$/);
});

test('bytes are sent as text only when they are UTF-8, with their byte order mark', () => {
  const sent = (path: string, bytes: Buffer) => contentOf('u', path, bytes);
  const marked = '\ufeffmarked\r\n';
  assert.deepEqual(sent('a.MD', Buffer.from(marked)), { uri: 'u', mimeType: 'text/markdown', text: marked });
  assert.deepEqual(sent('a.py', Buffer.from('é')), { uri: 'u', mimeType: 'text/plain', text: 'é' });
  assert.deepEqual(sent('a.json', Buffer.from([0xe9])), { uri: 'u', mimeType: 'application/json', blob: '6Q==' });
  assert.deepEqual(sent('a', Buffer.from([0xff])), { uri: 'u', mimeType: 'application/octet-stream', blob: '/w==' });
  assert.deepEqual(['x/y.JPG', 'md', '.md', 'a.unknown'].map(typeOfName), ['image/jpeg', ...Array(3).fill(undefined)]);
});
