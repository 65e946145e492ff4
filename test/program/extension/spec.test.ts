/** Every MUST of the Skills extension that binds a server, each under the words of the specification. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ERAS, filesBelow, listAll } from '../../harness/host.ts';
import { type Answer, modern, type Program, startProgram } from '../../harness/program.ts';
import { makeTree, skillText, type Tree } from '../../harness/tree.ts';

const EXTENSION = 'io.modelcontextprotocol/skills';

function start(t: TestContext, files: Readonly<Record<string, string>>): { tree: Tree; program: Program } {
  const tree = makeTree(t, files);
  return { tree, program: startProgram(t, { tree }) };
}

const PDF = {
  '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files'),
  '.claude/skills/pdf/references/forms.md': 'forms',
  '.claude/skills/pdf/references/deep/er.md': 'deeper',
};

test('"A server that declares this extension MUST implement skills/list and skills/get. […] directoryRead: true MUST implement resources/directory/read. […] MUST also declare the resources capability."', async (t) => {
  const { program } = start(t, PDF);
  const initialized = (await program.handshake()).result;
  const discovered = (await program.request('server/discover', modern())).result;
  for (const { capabilities } of [initialized, discovered]) {
    assert.deepEqual(capabilities.extensions, { [EXTENSION]: { directoryRead: true } });
    assert.deepEqual(capabilities.resources, { subscribe: true, listChanged: true });
  }
  for (const [, speak] of ERAS) {
    const ask = speak(program);
    assert.equal((await ask('skills/list')).result.skills.length, 1);
    assert.equal(
      (await ask('skills/get', { uri: 'skill://claude/pdf/SKILL.md' })).result.skill.frontmatter.name,
      'pdf',
    );
    assert.equal((await ask('resources/directory/read', { uri: 'skill://claude/pdf' })).result.resources.length, 2);
  }
});

// The name, and the front matter after it.
const UNLAWFUL: readonly (readonly [directory: string, text: string, why: RegExp])[] = [
  ['Upper', skillText('Upper'), /lower-case letters/],
  ['two words', skillText('two words'), /lower-case letters/],
  ['under_score', skillText('under_score'), /lower-case letters/],
  ['double--hyphen', skillText('double--hyphen'), /lower-case letters/],
  ['edge-', skillText('edge-'), /lower-case letters/],
  ['x'.repeat(65), skillText('x'.repeat(65)), /lower-case letters/],
  ['long-description', skillText('long-description', 'd'.repeat(1025)), /1 to 1024 characters/],
  ['map', '---\nname: map\ndescription: d\nmetadata:\n  n: 1\n---\n', /metadata has a value that is not text/],
  ['list', '---\nname: list\ndescription: d\nmetadata: [a]\n---\n', /metadata is not a map/],
  ['compat', `---\nname: compat\ndescription: d\ncompatibility: ${'c'.repeat(501)}\n---\n`, /1 to 500 characters/],
  ['number', '---\nname: number\ndescription: 5\n---\n', /description is not text/],
  ['lenient', '---\nname: lenient\ndescription: Use when: always\n---\n', /cannot be given as JSON/],
  ['tags', `---\nname: tags\ndescription: hi \u{e0041}\u{e0042}\n---\n`, /front matter has invisible characters/],
  ['bidi', '---\nname: bidi\ndescription: d\nlicense: "MIT \\u202e"\n---\n', /front matter has invisible characters/],
  ['late', '\n\n---\nname: late\ndescription: d\n---\n', /two lines of three dashes/],
];

test('"A skill served over MCP MUST conform to the Agent Skills specification." One that does not is reported, not listed, and loads by tool.', async (t) => {
  const files = Object.fromEntries(UNLAWFUL.map(([directory, text]) => [`.claude/skills/${directory}/SKILL.md`, text]));
  const tree = makeTree(t, { ...PDF, ...files });
  const program = startProgram(t, { tree, args: ['--log-level', 'debug'] });
  await program.handshake();
  for (const [, speak] of ERAS) {
    const ask = speak(program);
    assert.deepEqual(
      (await listAll(ask)).map((entry) => entry.uri),
      ['skill://claude/pdf/SKILL.md'],
    );
    for (const [directory] of UNLAWFUL) {
      const uri = `skill://claude/${encodeURIComponent(directory)}/SKILL.md`;
      assert.equal((await ask('skills/get', { uri })).error.code, -32602);
    }
  }
  await program.waitForStderr(/: is not in skills\/list, because/);
  const lines = program.stderr().split('\n');
  for (const [directory, , why] of UNLAWFUL) {
    const told = lines.filter((line) => line.includes(`/${directory}/SKILL.md: is not in skills/list, because`));
    assert.equal(told.length, 1, `${directory}: ${told.join('\n')}`);
    assert.match(told[0] ?? '', why);
    assert.match(await program.skill(directory), /^Loading: /);
  }
});

test('"Every skill MUST contain a SKILL.md file at its root." "SKILL.md MUST begin with YAML frontmatter containing at minimum the name and description fields"', async (t) => {
  const { program } = start(t, {
    ...PDF,
    '.claude/skills/nothing/readme.md': 'no skill',
    '.claude/skills/headless/SKILL.md': '# no front matter',
    '.claude/skills/nameless/SKILL.md': '---\ndescription: d\n---\n',
    '.claude/skills/wordless/SKILL.md': '---\nname: wordless\n---\n',
  });
  for (const [, speak] of ERAS) {
    const entries = await listAll(speak(program));
    assert.deepEqual(
      entries.map(({ uri, frontmatter }) => [uri, frontmatter]),
      [['skill://claude/pdf/SKILL.md', { name: 'pdf', description: 'Work with PDF files' }]],
    );
  }
});

test('"The final segment of <skill-path> MUST equal the skill\'s name as declared in its SKILL.md frontmatter", also when its directory has another', async (t) => {
  const { program } = start(t, {
    '.claude/skills/Some Directory/SKILL.md': skillText('other-name'),
    '.claude/skills/group/inside/SKILL.md': skillText('inside'),
    '.claude/skills/outer/SKILL.md': skillText('outer'),
    '.claude/skills/outer/Wrong/SKILL.md': skillText('right'),
  });
  for (const [, speak] of ERAS) {
    assert.deepEqual(
      (await listAll(speak(program))).map(({ uri }) => uri),
      ['skill://claude/inside/SKILL.md', 'skill://claude/other-name/SKILL.md', 'skill://claude/outer/SKILL.md'],
    );
  }
});

test('"The frontmatter object MUST be identical in content to the frontmatter of the SKILL.md it describes."', async (t) => {
  const date = ['2026', '01', '02'].join('-');
  const { program } = start(t, {
    '.claude/skills/all/SKILL.md': `---
name: all
description: |
  Kept with its line break
license: Apache-2.0
allowed-tools: Read Grep
released: ${date}
version: 1.10
octal: 010
nested: {list: [1, two, ~], deep: {er: false}}
metadata:
  io.modelcontextprotocol/x: "1"
---
`,
  });
  const [entry] = await listAll(ERAS[0]?.[1](program) ?? assert.fail());
  assert.deepEqual(entry.frontmatter, {
    name: 'all',
    description: 'Kept with its line break\n',
    license: 'Apache-2.0',
    'allowed-tools': 'Read Grep',
    released: date,
    version: 1.1,
    octal: 10,
    nested: { list: [1, 'two', null], deep: { er: false } },
    metadata: { 'io.modelcontextprotocol/x': '1' },
  });
});

test('"When resources is an array, it MUST be complete. It lists every file of the skill, each exactly once" "Completeness extends to nested skills."', async (t) => {
  const { program } = start(t, {
    ...PDF,
    '.claude/skills/pdf/inner/SKILL.md': skillText('inner'),
    '.claude/skills/pdf/inner/x.md': 'x',
    '.claude/skills/pdf/.hidden': 'h',
  });
  const paths = ['.hidden', 'SKILL.md', 'inner/SKILL.md', 'inner/x.md', 'references/deep/er.md', 'references/forms.md'];
  for (const [, speak] of ERAS) {
    const [pdf, inner] = await listAll(speak(program));
    const uris = pdf.resources.map((resource: Answer) => resource.uri);
    assert.deepEqual(
      uris,
      paths.map((path) => `skill://claude/pdf/${path}`),
    );
    assert.equal(inner.uri, 'skill://claude/pdf/inner/SKILL.md');
    // The same file has the same URI, digest and size in both entries.
    for (const resource of inner.resources) {
      assert.deepEqual(
        pdf.resources.find((one: Answer) => one.uri === resource.uri),
        resource,
      );
    }
  }
});

test('"Each uri MUST be the skill\'s SKILL.md or a file within the skill\'s directory": links that lead out are no part of it', async (t) => {
  const { tree, program } = start(t, { ...PDF, 'secret.md': 'secret', 'dir/secret.md': 'secret' });
  tree.link('.claude/skills/pdf/out.md', tree.at('secret.md'));
  tree.link('.claude/skills/pdf/out', tree.at('dir'));
  tree.link('.claude/skills/pdf/gone.md', 'nowhere');
  tree.link('.claude/skills/pdf/self', '.');
  tree.link('.claude/skills/pdf/in.md', 'references/forms.md');
  tree.link('.claude/skills/pdf/again', 'references');
  const paths = [
    'SKILL.md',
    'again/deep/er.md',
    'again/forms.md',
    'in.md',
    'references/deep/er.md',
    'references/forms.md',
  ];
  for (const [, speak] of ERAS) {
    const ask = speak(program);
    const [entry] = await listAll(ask);
    const uris = entry.resources.map((resource: Answer) => resource.uri);
    assert.deepEqual(
      uris,
      paths.map((path) => `skill://claude/pdf/${path}`),
    );
    assert.deepEqual([...(await filesBelow(ask, 'skill://claude/pdf'))].sort(), uris);
    for (const path of ['out.md', 'out/secret.md', 'gone.md', 'self/SKILL.md', 'self/self/SKILL.md', 'out']) {
      const { error } = await ask('resources/read', { uri: `skill://claude/pdf/${path}` });
      assert.equal(error?.code, -32602, path);
    }
  }
});

test('"The resultType field MUST be set to "complete"" and "ttlMs and cacheScope are REQUIRED"', async (t) => {
  const { program } = start(t, PDF);
  const calls: readonly (readonly [string, object])[] = [
    ['skills/list', {}],
    ['skills/get', { uri: 'skill://claude/pdf/SKILL.md' }],
    ['resources/directory/read', { uri: 'skill://claude/pdf' }],
    ['resources/read', { uri: 'skill://claude/pdf/SKILL.md' }],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['prompts/list', {}],
    ['tools/list', {}],
  ];
  for (const [method, params] of calls) {
    const { result } = await program.request(method, modern({ ...params }));
    assert.equal(result.resultType, 'complete', method);
    assert.ok(Number.isInteger(result.ttlMs) && result.ttlMs >= 0, method);
    assert.equal(result.cacheScope, 'private', method);
    const legacy = await program.request(method, { ...params });
    assert.equal(legacy.result.resultType ?? legacy.result.ttlMs ?? legacy.result.cacheScope, undefined, method);
  }
});

test('"If the URI does not identify a skill the server serves, the server MUST return error -32602" "params.uri MUST be the URI of a skill\'s SKILL.md"', async (t) => {
  const { program } = start(t, PDF);
  const uris = [
    'skill://claude/pdf',
    'skill://claude/pdf/',
    'skill://claude/pdf/references/forms.md',
    'skill://claude/pdf/references/SKILL.md',
    'skill://claude/none/SKILL.md',
    'skill://claude/SKILL.md',
    'skill://SKILL.md',
    'skill:///pdf/SKILL.md',
    'SKILL://claude/pdf/SKILL.md',
    'file:///etc/passwd',
    'https://example.com/pdf/SKILL.md',
    'pdf',
    '',
    5,
    null,
    undefined,
  ];
  for (const [, speak] of ERAS) {
    for (const uri of uris)
      assert.equal((await speak(program)('skills/get', { uri })).error?.code, -32602, String(uri));
    const { error } = await speak(program)('skills/get', { uri: 'skill://claude/none/SKILL.md' });
    assert.deepEqual(error.data, { uri: 'skill://claude/none/SKILL.md' });
  }
});

test('"If the URI does not exist, or exists but is not a directory resource, the server MUST return error -32602" "An empty directory yields an empty resources array."', async (t) => {
  const { tree, program } = start(t, PDF);
  tree.write('.claude/skills/pdf/void/x', '');
  tree.remove('.claude/skills/pdf/void/x');
  const uris = [
    'skill://claude/pdf/SKILL.md',
    'skill://claude/pdf/none',
    'skill://claude/pdf/',
    'skill://claude/pdf/references/',
    'skill://claude/pdf/references/..',
    'skill://claude/none',
    'skill://none',
    'skill://',
    'skill:',
    'file:///tmp',
    'https://example.com',
    7,
  ];
  for (const [, speak] of ERAS) {
    const ask = speak(program);
    for (const uri of uris) {
      assert.equal((await ask('resources/directory/read', { uri })).error?.code, -32602, String(uri));
    }
    const { result } = await ask('resources/directory/read', { uri: 'skill://claude/pdf/void' });
    assert.deepEqual(result.resources, []);
  }
});

test('"A server that declares directoryRead MUST support the method for every directory within the skill namespaces it serves"', async (t) => {
  const { program } = start(t, PDF);
  const children = async (uri: string) => (await program.request('resources/directory/read', { uri })).result.resources;
  assert.deepEqual(await children('skill://claude'), [
    { uri: 'skill://claude/pdf', name: 'pdf', mimeType: 'inode/directory' },
  ]);
  assert.deepEqual(await children('skill://claude/pdf'), [
    {
      uri: 'skill://claude/pdf/SKILL.md',
      name: 'pdf',
      title: 'pdf',
      description: 'Work with PDF files',
      mimeType: 'text/markdown',
      size: PDF['.claude/skills/pdf/SKILL.md'].length,
    },
    { uri: 'skill://claude/pdf/references', name: 'references', mimeType: 'inode/directory' },
  ]);
  assert.deepEqual(await children('skill://claude/pdf/references'), [
    { uri: 'skill://claude/pdf/references/deep', name: 'deep', mimeType: 'inode/directory' },
    { uri: 'skill://claude/pdf/references/forms.md', name: 'forms.md', mimeType: 'text/markdown', size: 5 },
  ]);
  assert.deepEqual(
    (await children('skill://claude/pdf/references/deep')).map((child: Answer) => child.name),
    ['er.md'],
  );
});

test('"Servers SHOULD NOT serve a skill that exceeds either limit": 512 files and 16 MiB are listed, one more is not', async (t) => {
  const tree = makeTree(t);
  const make = (name: string, files: number, bytes: number) => {
    tree.write(`.claude/skills/${name}/SKILL.md`, skillText(name));
    const rest = bytes - skillText(name).length;
    if (rest > 0) tree.write(`.claude/skills/${name}/f0`, Buffer.alloc(rest, 0x80));
    for (let n = 1; n < files; n++) tree.write(`.claude/skills/${name}/d/f${n}`, '');
  };
  make('full', 512, 0);
  make('overfull', 513, 0);
  make('heavy', 1, 16 * 1024 * 1024);
  make('overweight', 1, 16 * 1024 * 1024 + 1);
  const program = startProgram(t, { tree });
  const [, speak] = ERAS[0] ?? assert.fail();
  const ask = speak(program);
  const entries = await listAll(ask);
  assert.deepEqual(
    entries.map(({ frontmatter, resources }) => [frontmatter.name, resources.length]),
    [
      ['full', 512],
      ['heavy', 2],
    ],
  );
  const { result } = await ask('resources/read', { uri: 'skill://claude/heavy/f0' });
  assert.equal(Buffer.from(result.contents[0].blob, 'base64').length, entries[1].resources[1].size);
  await program.waitForStderr(/overfull\/SKILL\.md: is not in skills\/list, because it has over 512 files/);
  await program.waitForStderr(
    /overweight\/SKILL\.md: is not in skills\/list, because its files have over 16777216 bytes/,
  );
  for (const name of ['overfull', 'overweight']) {
    assert.match(await program.skill(name), /^Loading: /);
    assert.equal((await ask('skills/get', { uri: `skill://claude/${name}/SKILL.md` })).error.code, -32602);
  }
});

test('"An entry is atomic, and a skill\'s resources set is never split across pages": pages neither repeat nor lose a skill while others come and go', async (t) => {
  const name = (n: number) => `s${String(n).padStart(4, '0')}`;
  const files = Array.from({ length: 600 }, (_, n) => [`.claude/skills/${name(n)}/SKILL.md`, skillText(name(n))]);
  const { tree, program } = start(t, Object.fromEntries(files));
  for (const [, speak] of ERAS) {
    const ask = speak(program);
    const first = (await ask('skills/list')).result;
    assert.equal(first.skills.length, 250);
    // Before, at and after the place the cursor stands for.
    tree.remove(`.claude/skills/${name(100)}`);
    tree.remove(`.claude/skills/${name(249)}`);
    tree.write(`.claude/skills/${name(99)}x/SKILL.md`, skillText(`${name(99)}x`));
    tree.write(`.claude/skills/${name(400)}x/SKILL.md`, skillText(`${name(400)}x`));
    await program.call('skills.list', { query: 'nothing' });
    const second = (await ask('skills/list', { cursor: first.nextCursor })).result;
    const third = (await ask('skills/list', { cursor: second.nextCursor })).result;
    assert.equal(third.nextCursor, undefined);
    const names = [...first.skills, ...second.skills, ...third.skills].map(({ frontmatter }) => frontmatter.name);
    assert.equal(new Set(names).size, names.length);
    assert.equal(names.length, 601);
    assert.ok(names.includes(`${name(400)}x`));
    tree.remove(`.claude/skills/${name(400)}x`);
    tree.remove(`.claude/skills/${name(99)}x`);
    tree.write(`.claude/skills/${name(100)}/SKILL.md`, skillText(name(100)));
    tree.write(`.claude/skills/${name(249)}/SKILL.md`, skillText(name(249)));
    await program.call('skills.list', { query: 'nothing' });
  }
});

test('a cursor that is not one of the list it is given to is -32602', async (t) => {
  const files = Array.from({ length: 501 }, (_, n) => [`.claude/skills/s${n}/SKILL.md`, skillText(`s${n}`)]);
  const { program } = start(t, Object.fromEntries(files));
  const cursors = new Map<string, string>();
  for (const method of ['skills/list', 'resources/list', 'prompts/list']) {
    const { nextCursor } = (await program.request(method)).result;
    assert.equal(typeof nextCursor, 'string', method);
    cursors.set(method, nextCursor);
  }
  for (const method of [...cursors.keys(), 'resources/templates/list']) {
    const others = [...cursors].filter(([of]) => of !== method).map(([, cursor]) => cursor);
    const own = cursors.get(method) ?? '';
    for (const cursor of [...others, 'x', '', ' ', `${own}=`, own.slice(0, -2), own.slice(2), 5, null, {}, `${own}x`]) {
      const { error } = await program.request(method, { cursor });
      assert.equal(error?.code, -32602, `${method} ${JSON.stringify(cursor)}`);
    }
  }
  const directory = { uri: 'skill://claude' };
  const page = (await program.request('resources/directory/read', directory)).result;
  assert.equal(page.resources.length, 500);
  const rest = (await program.request('resources/directory/read', { ...directory, cursor: page.nextCursor })).result;
  assert.equal(rest.resources.length, 1);
  const wrong = { uri: 'skill://claude/s1', cursor: page.nextCursor };
  assert.equal((await program.request('resources/directory/read', wrong)).error.code, -32602);
});
