/** Skills of upstream servers: which entries are valid, and that only verified bytes are served. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { FileError } from '../../src/files/read.ts';
import { UpstreamError } from '../../src/hub/connection.ts';
import { skillFrom, skillOf } from '../../src/hub/skills.ts';
import type { Upstream } from '../../src/hub/upstream.ts';
import type { Params } from '../../src/protocol/index.ts';

type Files = Readonly<Record<string, string>>;
type Served = Readonly<{ get?: Params; read?: Files }>;
const FILES: Files = { 'SKILL.md': '# pdf\n', 'docs/a b.md': 'about', 'docs/deep/x.bin': '\u0001' };
const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

function entryOf(name = 'pdf', files = FILES, base = `skill://acme/${name}`) {
  const resources = Object.entries(files).map(([path, text]) => {
    const uri = `${base}/${path.split('/').map(encodeURIComponent).join('/')}`;
    return { uri, digest: digestOf(text), size: Buffer.byteLength(text) };
  });
  return { uri: `${base}/SKILL.md`, frontmatter: { name, description: 'About\u200b it', license: 'MIT' }, resources };
}

/** A skill whose server answers these; `asked` has what it was asked for. */
function skill(entry: Params, { get = entry, read = FILES }: Served = {}) {
  const asked: string[] = [];
  const server = {
    config: { name: 'docs', timeout: 5 },
    async request(method: string, { uri }: Params) {
      asked.push(`${method} ${uri}`);
      if (method === 'skills/get') return { skill: get };
      const text = read[decodeURIComponent(String(uri)).replace(/^skill:\/\/acme\/\w+\//, '')];
      if (text === undefined) throw new UpstreamError('gone');
      return { contents: [{ uri, blob: Buffer.from(text).toString('base64') }] };
    },
  };
  return { asked, ...skillOf(server as unknown as Upstream, skillFrom(entry)) };
}
/** The text of a file, or the kind of the error. */
const outcomeOf = (promise: Promise<unknown>) =>
  promise.then(String, (error) => (error instanceof FileError ? error.kind : error));

const NOW = { ...FILES, 'SKILL.md': 'edited' };
const DYNAMIC = { get: { ...entryOf(), resources: 'dynamic' } };
const READS: readonly (readonly [what: string, path: string, served: Served, outcome: string])[] = [
  ['as it is', 'docs/a b.md', {}, 'about'],
  ['as its server has it now', 'SKILL.md', { get: entryOf('pdf', NOW), read: NOW }, 'edited'],
  ['without a digest where it is made on demand', 'docs/a b.md', DYNAMIC, 'about'],
  ['not with another digest', 'SKILL.md', { read: { 'SKILL.md': '# pdg\n' } }, 'unreadable'],
  ['not from a server that does not answer', 'SKILL.md', { read: {} }, 'unreadable'],
  ['not from the entry of another skill', 'SKILL.md', { get: entryOf('other') }, 'unreadable'],
  ['not when it is not listed', 'none.md', {}, 'missing'],
  ['not when it is a directory', 'docs', {}, 'directory'],
  ['not over the limit', 'SKILL.md', { get: entryOf('pdf', { 'SKILL.md': 'x'.repeat(101) }) }, 'refused'],
  ['not over the limit where it is made on demand', 'x', { ...DYNAMIC, read: { x: 'x'.repeat(101) } }, 'refused'],
];
for (const [what, path, served, outcome] of READS)
  test(`a file is read ${what}`, async () => {
    assert.equal(await outcomeOf(skill(entryOf(), served).files.read(path, 100)), outcome);
  });

test('a file is read by skills/get and resources/read; directories and the manifest come from the entry', async () => {
  const { files, asked } = skill(entryOf());
  const docs = { name: 'docs', kind: 'directory' };
  assert.deepEqual(await files.list(''), [{ name: 'SKILL.md', kind: 'file', size: 6 }, docs]);
  const names = (await files.list('docs')).map(({ name }) => name);
  assert.deepEqual([names, await outcomeOf(files.list('doc'))], [['a b.md', 'deep'], 'missing']);
  const { head, files: all } = await files.manifest();
  const paths = all === 'dynamic' ? all : all.map(({ path }) => path);
  assert.deepEqual([head().license, paths, asked], ['MIT', Object.keys(FILES), []]);
  await files.read('docs/a b.md', 100);
  assert.deepEqual(asked, ['skills/get skill://acme/pdf/SKILL.md', 'resources/read skill://acme/pdf/docs/a%20b.md']);
  const onDemand = skill({ ...entryOf(), resources: 'dynamic' }).files;
  assert.deepEqual([(await onDemand.manifest()).files, await outcomeOf(onDemand.list(''))], ['dynamic', 'refused']);
});

const file = (uri: string) => ({ uri, digest: digestOf(''), size: 0 });
const FAULTS: readonly (readonly [why: RegExp, change: object])[] = [
  [/not that of a SKILL\.md/, { uri: 'skill://acme/pdf/skill.md' }],
  [/does not end with its name/, { uri: 'skill://acme/word/SKILL.md' }],
  [/description/, { frontmatter: { name: 'pdf' } }],
  [/with size and digest/, { resources: [{ uri: 'skill://acme/pdf/SKILL.md' }] }],
  [/outside its directory/, { resources: [file('skill://acme/other/SKILL.md')] }],
  [/invalid path/, { resources: [file('skill://acme/pdf/a/%2e%2e/SKILL.md')] }],
  [/SKILL\.md is not among/, { resources: [file('skill://acme/pdf/a.md')] }],
  [/twice/, { resources: [file('skill://acme/pdf/SKILL.md'), file('skill://acme/pdf/%53KILL.md')] }],
];
test('an entry that is not valid says why', () => {
  for (const [why, change] of FAULTS) assert.throws(() => skillFrom({ ...entryOf(), ...change }), why);
});
