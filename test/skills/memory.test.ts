import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_SKILL_FILES } from '../../src/skills/limits.ts';
import { createMemorySkill } from '../../src/skills/memory.ts';
import { skillText } from '../harness/tree.ts';

const { signal } = new AbortController();

test('a skill in memory has its files, their digests and its directories', async () => {
  const text = skillText('pdf');
  const { files, ...skill } = await createMemorySkill('acme', {
    'a/b.bin': new Uint8Array([0, 255]),
    'SKILL.md': text,
  });
  assert.deepEqual([skill.name, skill.description, skill.directory], ['pdf', 'About pdf', 'skill://acme/pdf']);
  assert.equal(String(await skill.read()), text);
  const manifest = await files.manifest(signal);
  assert.ok(manifest.kind === 'whole' && manifest.files !== 'dynamic');
  assert.deepEqual(manifest.head, { name: 'pdf', description: 'About pdf' });
  assert.deepEqual(
    manifest.files.map(({ path, size }) => [path, size]),
    [
      ['SKILL.md', text.length],
      ['a/b.bin', 2],
    ],
  );
  assert.equal(await files.version('a/b.bin'), manifest.files[1]?.digest);
  assert.deepEqual(await files.list('a', signal), [{ name: 'b.bin', kind: 'file', size: 2 }]);
  assert.deepEqual(await files.read('a/b.bin', signal), { kind: 'read', bytes: Buffer.from([0, 255]) });
  assert.deepEqual(await files.read('a/b.bin', signal, 1), { kind: 'refused', why: 'is over 1 bytes' });
  assert.deepEqual(await files.read('a', signal), { kind: 'directory' });
  assert.deepEqual(await files.read('../SKILL.md', signal), { kind: 'missing' });
  assert.deepEqual(await files.read('__proto__', signal), { kind: 'missing' });
});

test('a provider is shown without invisible characters', async () => {
  const { provider } = await createMemorySkill('ac\u202eme\n tools', { 'SKILL.md': skillText('pdf') });
  assert.equal(provider, 'acme tools');
});

test('files without a usable SKILL.md are no skill, and too many cannot be listed with digests', async () => {
  await assert.rejects(createMemorySkill('acme', {}), /a skill needs a file SKILL\.md/);
  await assert.rejects(createMemorySkill('acme', { 'SKILL.md': '# x\n' }), /SKILL\.md: there is no front matter/);
  const many = Object.fromEntries(Array.from({ length: MAX_SKILL_FILES }, (_one, at) => [`${at}.txt`, '']));
  const { files } = await createMemorySkill('acme', { 'SKILL.md': skillText('pdf'), ...many });
  assert.deepEqual(await files.manifest(signal), { kind: 'unfit', why: 'it has over 512 files' });
});
