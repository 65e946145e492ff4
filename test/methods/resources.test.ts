import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { FileError } from '../../src/files/read.ts';
import type { Resource, Skill, Template } from '../../src/model.ts';
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
  const files = {
    ...PDF,
    'home/.claude/skills/pdf/SKILL.md': skillText('pdf', 'Shadowed'),
    '.agents/skills/Not Lawful/SKILL.md': skillText('Not Lawful', 'Odd'),
  };
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
    const fail = () => Promise.reject(new FileError(kind, `EACCES: ${kind}`));
    return sketch('far@mcp', kind, { files: { read: fail, list: fail, manifest: fail } });
  };
  const skills = [failing('unreadable'), failing('changing'), failing('refused')];
  const { tree, ask, lines } = startServer(
    t,
    { 'skills/a/SKILL.md': skillText('a'), 'skills/a/d/x': '' },
    {},
    { skills },
  );
  tree.write('skills/a/large.bin', Buffer.alloc(16 * 1024 * 1024 + 1));
  execFileSync('mkfifo', [tree.at('skills/a/pipe')]);
  const table: readonly (readonly [uri: unknown, code: number, message: RegExp])[] = [
    ['skill://custom/a/pipe', -32602, /it is not a regular file/],
    ['skill://custom/a/large.bin', -32602, /over 16777216 bytes/],
    ['skill://custom/a/d', -32602, /it is a directory/],
    ['skill://custom/a/none', -32602, /nothing is served there/],
    ['skill://custom/a/SKILL.md/x', -32602, /nothing is served there/],
    ['file:///etc/passwd', -32602, /nothing is served there/],
    ['skill://far/refused/x', -32602, /EACCES: refused/],
    [5, -32602, /uri must be text/],
    [`skill://custom/a/${'x'.repeat(70_000)}`, -32602, /uri has over 65536 characters/],
    ['skill://far/unreadable/x', -32603, /EACCES: unreadable/],
    ['skill://far/changing/x', -32603, /EACCES: changing/],
  ];
  for (const [uri, code, message] of table) {
    const { error } = await ask('resources/read', { uri });
    assert.equal(error.code, code, String(uri));
    assert.ok(error.data === undefined || error.data.uri === uri);
    assert.match(error.message, message);
  }
  const logged = lines.flatMap((line) => /error: resources\/read failed: .*EACCES: (\w+)/.exec(line)?.[1] ?? []);
  assert.deepEqual(logged, ['unreadable', 'changing']);
});

test('every directory of a skill can be read, in pages', async (t) => {
  const { eras, tree, ask } = startServer(t, { ...PDF, '.codex/skills/pdf/SKILL.md': skillText('pdf') });
  for (let n = 0; n < 501; n++) tree.write(`.codex/skills/pdf/d/${n}`, '');
  tree.write('.claude/skills/pdf/void/x', '');
  tree.remove('.claude/skills/pdf/void/x');
  const directory = (name: string) => ({ uri: `skill://claude/pdf/${name}`, name, mimeType: 'inode/directory' });
  const size = PDF['.claude/skills/pdf/SKILL.md'].length;
  const skillFile = { ...about('skill://claude/pdf/SKILL.md', 'pdf', 'claude:pdf', 'Work with PDF files'), size };
  const file = { uri: 'skill://claude/pdf/ref/a%20b.md', name: 'a b.md', mimeType: 'text/markdown', size: 6 };
  const table: readonly (readonly [uri: unknown, children?: readonly object[]])[] = [
    ['skill://claude/pdf', [skillFile, directory('ref'), directory('void')]],
    ['skill://claude/pdf/ref', [file]],
    ['skill://claude/pdf/void', []],
    ['skill://claude', [{ uri: 'skill://claude/pdf', name: 'pdf', mimeType: 'inode/directory' }]],
    ...['skill://claude/pdf/SKILL.md', 'skill://claude/pdf/', 'skill://cursor', 'file:///tmp', 7].map(
      (uri) => [uri] as const,
    ),
  ];
  for (const speak of eras)
    for (const [uri, children] of table) {
      const { result, error } = await speak('resources/directory/read', { uri });
      assert.deepEqual(
        [result?.resources, error?.code],
        children ? [children, undefined] : [undefined, -32602],
        String(uri),
      );
    }
  const page = async (uri: string, cursor?: string) => ask('resources/directory/read', { uri, cursor });
  const { resources, nextCursor } = (await page('skill://codex/pdf/d')).result;
  const rest = (await page('skill://codex/pdf/d', nextCursor)).result.resources;
  assert.deepEqual([resources.length, rest.length], [500, 1]);
  assert.equal((await page('skill://codex/pdf', nextCursor)).error.code, -32602);
});
