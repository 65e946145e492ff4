import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileError } from '../../src/files/read.ts';
import { PAGE } from '../../src/limits.ts';
import type { Resource, Skill, SkillFiles, Template } from '../../src/model.ts';
import { startServer } from '../harness/server.ts';
import { sketch } from '../harness/sketch.ts';
import { skillText } from '../harness/tree.ts';

const PDF = {
  '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files'),
  '.claude/skills/pdf/ref/a b.md': 'inside',
};
const about = (uri: string, name: string, title: string, description: string) => {
  return { uri, name, title, description, mimeType: 'text/markdown' };
};
const memo: Resource = {
  definition: { uri: 'memo://one', name: 'memo' },
  read: () => ({ contents: [{ uri: 'memo://one', text: 'memo' }] }),
};
const templateOf = (start: string): Template => ({
  definition: { uriTemplate: `${start}{id}`, name: start },
  matches: (uri) => uri.startsWith(start),
  read: (uri) => ({ contents: [{ uri, text: `by ${start}` }] }),
});

test('resources/list has the SKILL.md of each skill and the resources of sources, sorted by URI', async (t) => {
  const shadowed = { 'home/.claude/skills/pdf/SKILL.md': skillText('pdf', 'Shadowed') };
  const files = { ...PDF, ...shadowed, '.agents/skills/Not Lawful/SKILL.md': skillText('Not Lawful', 'Odd') };
  const { eras } = startServer(t, files, {}, { resources: [memo], templates: [templateOf('t://')] });
  for (const ask of eras) {
    assert.deepEqual((await ask('resources/list')).result.resources, [
      memo.definition,
      about('skill://agents/Not%20Lawful/SKILL.md', 'Not Lawful', 'Not Lawful', 'Odd'),
      about('skill://claude/global/pdf/SKILL.md', 'pdf', 'claude@global:pdf', 'Shadowed'),
      about('skill://claude/pdf/SKILL.md', 'pdf', 'pdf', 'Work with PDF files'),
    ]);
    const { resourceTemplates } = (await ask('resources/templates/list')).result;
    assert.deepEqual(resourceTemplates, [templateOf('t://').definition]);
  }
});

test('a URI is read from its resource, else from the file of a skill as it is now, else by the first template', async (t) => {
  const templates = ['skill://', 't://', 't://x'].map(templateOf);
  const { ask, tree } = startServer(t, PDF, {}, { resources: [memo], templates });
  const contentAt = async (uri: string) => (await ask('resources/read', { uri })).result.contents[0];
  assert.equal((await contentAt('memo://one')).text, 'memo');
  assert.equal((await contentAt('t://x1')).text, 'by t://');
  assert.equal((await contentAt('skill://far/away/SKILL.md')).text, 'by skill://');
  const [uri, mimeType] = ['skill://claude/pdf/ref/a%20b.md', 'text/markdown'];
  assert.deepEqual(await contentAt('skill://cl%61ude/pdf/r%65f/a b.md'), { uri, mimeType, text: 'inside' });
  tree.write('.claude/skills/pdf/ref/a b.md', Buffer.from([0xff, 0xd8]));
  assert.deepEqual(await contentAt(uri), { uri, mimeType, blob: '/9g=' });
});

test('what cannot be read is an error with the URI, -32603 and logged when it is not the client to blame', async (t) => {
  const failing = (kind: FileError['kind']): Skill => {
    const fail = () => Promise.reject(new FileError(kind, `it is ${kind}`));
    return sketch('far@mcp', kind, { files: { read: fail, list: fail, manifest: fail } });
  };
  const skills = (['missing', 'directory', 'refused', 'unreadable', 'changing'] as const).map(failing);
  const { ask, lines } = startServer(t, {}, {}, { skills });
  const table: readonly (readonly [uri: unknown, code: number, message: RegExp])[] = [
    ['file:///etc/passwd', -32602, /nothing is served there/],
    ['skill://far/missing/x', -32602, /nothing is served there/],
    ['skill://far/directory/x', -32602, /it is directory/],
    ['skill://far/refused/x', -32602, /it is refused/],
    [5, -32602, /uri must be text/],
    [`skill://far/refused/${'x'.repeat(70_000)}`, -32602, /uri has over 65536 characters/],
    ['skill://far/unreadable/x', -32603, /it is unreadable/],
    ['skill://far/changing/x', -32603, /it is changing/],
  ];
  for (const [uri, code, message] of table) {
    const { error } = await ask('resources/read', { uri });
    assert.deepEqual([error.code, error.data?.uri ?? uri], [code, uri]);
    assert.match(error.message, message);
  }
  const logged = lines.flatMap((line) => /error: resources\/read failed: .*it is (\w+)/.exec(line)?.[1] ?? []);
  assert.deepEqual(logged, ['unreadable', 'changing']);
});

test('every directory of a skill can be read, in pages, and so can what is above the skills', async (t) => {
  const list = async () => Array.from({ length: PAGE + 1 }, (_, n) => ({ name: `${n}`, kind: 'file' as const }));
  const skills = ['many', 'more'].map((name) => sketch('far@mcp', name, { files: { list } as unknown as SkillFiles }));
  const { ask } = startServer(t, PDF, {}, { skills });
  const childrenOf = async (uri: unknown, cursor?: string) => {
    const { result, error } = await ask('resources/directory/read', { uri, cursor });
    return result ?? error.code;
  };
  const directory = (uri: string, name: string) => ({ uri, name, mimeType: 'inode/directory' });
  const size = PDF['.claude/skills/pdf/SKILL.md'].length;
  const skillFile = { ...about('skill://claude/pdf/SKILL.md', 'pdf', 'pdf', 'Work with PDF files'), size };
  const file = { uri: 'skill://claude/pdf/ref/a%20b.md', name: 'a b.md', mimeType: 'text/markdown', size: 6 };
  for (const [uri, ...resources] of [
    ['skill://claude', directory('skill://claude/pdf', 'pdf')],
    ['skill://claude/pdf', skillFile, directory('skill://claude/pdf/ref', 'ref')],
    ['skill://claude/pdf/ref', file],
  ])
    assert.deepEqual(await childrenOf(uri), { resources });
  for (const uri of ['skill://claude/pdf/SKILL.md', 'skill://claude/pdf/', 'skill://cursor', 'file:///tmp', 7])
    assert.equal(await childrenOf(uri), -32602, String(uri));
  const { resources, nextCursor } = await childrenOf('skill://far/many');
  const rest = await childrenOf('skill://far/many', nextCursor);
  assert.deepEqual([resources.length, rest.resources.length, rest.nextCursor], [PAGE, 1, undefined]);
  assert.equal(await childrenOf('skill://far/more', nextCursor), -32602, 'a cursor is that of its directory');
});
