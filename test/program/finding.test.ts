/** skills.list, skills.search and skills.read, as a client sees them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Ajv } from 'ajv';
import * as v from 'valibot';
import { LIST_INPUT } from '../../src/tools/list.ts';
import { READ_INPUT } from '../../src/tools/read.ts';
import { SEARCH_INPUT } from '../../src/tools/search.ts';
import { type Answer, modern, type Program, startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const ajv = new Ajv({ strict: false });

async function start(t: TestContext, tree: Tree, args: readonly string[] = []): Promise<Program> {
  const program = startProgram(t, { tree, args });
  await program.handshake();
  return program;
}

/** Calls a tool and holds its structured result to the schema that tools/list gives. */
async function callChecked(program: Program, name: string, args: object): Promise<Answer> {
  const { result } = await program.request('tools/list');
  const { outputSchema } = result.tools.find((tool: Answer) => tool.name === name);
  const answer = await program.call(name, { ...args });
  const validate = ajv.compile(outputSchema);
  assert.ok(validate(answer.structuredContent), ajv.errorsText(validate.errors));
  assert.equal(answer.content[0].type, 'text');
  return answer;
}

test('the four tools stand in the order list, skill, search, read, each marked as harmless', async (t) => {
  const program = await start(t, makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') }));
  const { result } = await program.request('tools/list');
  assert.deepEqual(
    result.tools.map((tool: Answer) => tool.name),
    ['skills.list', 'skill', 'skills.search', 'skills.read'],
  );
  for (const { annotations, inputSchema } of result.tools) {
    assert.equal(inputSchema.additionalProperties, false);
    const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
    assert.deepEqual(
      { readOnlyHint, destructiveHint, openWorldHint },
      { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
    );
  }
});

test('skills.list gives every skill with relative paths under the working directory and absolute ones elsewhere', async (t) => {
  const tree = makeTree(t, {
    'skills/pdf-tools/SKILL.md': skillText('pdf', 'Work with PDF files', '# PDF\nbody\n'),
    'home/.claude/skills/git/SKILL.md': skillText('git', 'Commit and push'),
  });
  const program = await start(t, tree);
  const { structuredContent, content } = await callChecked(program, 'skills.list', {});
  const git = tree.at('home/.claude/skills/git');
  assert.deepEqual(structuredContent, {
    skills: [
      {
        name: 'pdf',
        installName: 'pdf-tools',
        meta: { name: 'pdf', description: 'Work with PDF files' },
        provider: 'custom',
        location: 'custom',
        skillPath: 'skills/pdf-tools',
        skillFile: 'skills/pdf-tools/SKILL.md',
      },
      {
        name: 'git',
        installName: 'git',
        meta: { name: 'git', description: 'Commit and push' },
        provider: 'claude',
        location: 'global',
        // The home of these tests lies in the working directory.
        skillPath: 'home/.claude/skills/git',
        skillFile: 'home/.claude/skills/git/SKILL.md',
      },
    ],
  });
  assert.match(content[0].text, /^2 skills\n- pdf: Work with PDF files\n- git: Commit and push$/);
  const elsewhere = makeTree(t, { 'x/SKILL.md': skillText('x') });
  const other = await start(t, tree, ['--skill-dir', elsewhere.path]);
  const { structuredContent: more } = await callChecked(other, 'skills.list', { query: 'about x' });
  assert.deepEqual(
    more.skills.map((skill: Answer) => [skill.skillPath, skill.skillFile]),
    [[elsewhere.at('x'), elsewhere.at('x/SKILL.md')]],
  );
  assert.ok(git.startsWith('/'));
});

test('every entry of a list or a search has the name that loads it, its provider and its location (13.2)', async (t) => {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf', 'In the project of Claude'),
    'home/.claude/skills/pdf/SKILL.md': skillText('pdf', 'In the home of Claude'),
    '.codex/skills/pdf/SKILL.md': skillText('pdf', 'In the project of Codex'),
    'skills/Dir/SKILL.md': skillText('Odd "Name"', 'In the project'),
  });
  const program = await start(t, tree);
  const { skills } = (await callChecked(program, 'skills.list', {})).structuredContent;
  const { results } = (await callChecked(program, 'skills.search', { query: 'in the' })).structuredContent;
  const facts = ({ name, provider, location }: Answer) => [name, provider, location];
  assert.deepEqual(skills.map(facts).toSorted(), results.map(facts).toSorted());
  assert.deepEqual(skills.map(facts), [
    ['Odd "Name"', 'custom', 'custom'],
    ['claude:pdf', 'claude', 'project'],
    ['claude@global:pdf', 'claude', 'global'],
    ['codex:pdf', 'codex', 'project'],
  ]);
  for (const { name, meta, skillFile } of [...skills, ...results]) {
    const text = await program.skill(name);
    assert.ok(text.includes(skillFile) && text.includes(`description: ${meta.description}\n`), name);
  }
});

test('skills.list filters by directory, name and description, and adds bodies without front matter', async (t) => {
  const program = await start(
    t,
    makeTree(t, {
      'skills/Alpha-Dir/SKILL.md': skillText('one', 'First', 'Body of one mentions gamma\n'),
      'skills/b/SKILL.md': skillText('beta', 'Second'),
      'skills/c/SKILL.md': `\ufeff---\r\nname: third\r\ndescription: About GAMMA rays\r\n---\r\nline\r\n---\r\nrest`,
    }),
  );
  const names = async (query: string) =>
    (await callChecked(program, 'skills.list', { query })).structuredContent.skills.map((one: Answer) => one.meta.name);
  assert.deepEqual(await names('alpha-d'), ['one']);
  assert.deepEqual(await names('BET'), ['beta']);
  assert.deepEqual(await names('gamma'), ['third']);
  assert.deepEqual(await names('nothing has this'), []);
  assert.deepEqual(await names('  '), ['one', 'beta', 'third']);
  const { structuredContent } = await callChecked(program, 'skills.list', { includeBody: true });
  assert.deepEqual(
    structuredContent.skills.map((one: Answer) => one.body),
    ['Body of one mentions gamma\n', '# beta\n', 'line\r\n---\r\nrest'],
  );
});

test('skills.list and skills.search see what is on disk when they are called', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a', 'Old words') });
  const program = await start(t, tree, ['--no-refresh']);
  assert.equal((await program.call('skills.list', {})).structuredContent.skills.length, 1);
  tree.write('skills/b/SKILL.md', skillText('b', 'New', 'hippopotamus\n'));
  tree.write('skills/a/SKILL.md', skillText('a', 'Newer words'));
  const { structuredContent } = await program.call('skills.search', { query: 'hippopotamus' });
  assert.deepEqual(
    structuredContent.results.map((one: Answer) => one.meta.name),
    ['b'],
  );
  const again = await program.call('skills.list', {});
  assert.deepEqual(
    again.structuredContent.skills.map((one: Answer) => one.meta.description),
    ['Newer words', 'New'],
  );
  tree.remove('skills/b');
  assert.equal((await program.call('skills.list', {})).structuredContent.skills.length, 1);
});

test('a skill must hold every word of a search; names rank before descriptions before bodies', async (t) => {
  const program = await start(
    t,
    makeTree(t, {
      'skills/z/SKILL.md': skillText('z', 'Other', 'deploy to KUBERNETES now\n'),
      'skills/m/SKILL.md': skillText('m', 'Deploy kubernetes', 'nothing\n'),
      'skills/deploy-kubernetes/SKILL.md': skillText('x', 'Third', 'nothing\n'),
      'skills/half/SKILL.md': skillText('half', 'deploy only', 'nothing\n'),
      'skills/a/SKILL.md': skillText('a', 'Other', 'kubernetes … deploy\n'),
    }),
  );
  const { structuredContent, content } = await callChecked(program, 'skills.search', { query: ' Deploy\tkubernetes ' });
  assert.deepEqual(
    structuredContent.results.map((one: Answer) => [one.meta.name, one.score]),
    [
      ['x', 2],
      ['m', 2],
      ['a', 2],
      ['z', 2],
    ],
  );
  assert.equal(structuredContent.total, 4);
  assert.equal(structuredContent.limit, 10);
  assert.match(content[0].text, /^4 skills for "Deploy kubernetes"\n/);
  const cut = await callChecked(program, 'skills.search', { query: 'deploy', limit: 2 });
  assert.equal(cut.structuredContent.results.length, 2);
  assert.equal(cut.structuredContent.total, 5);
});

test('a word is only text: no pattern, no case', async (t) => {
  const program = await start(
    t,
    makeTree(t, { 'skills/a/SKILL.md': skillText('a', 'x', 'C++ (a|b) [x] $1 ^.* \\d ÄÖÜ 日本語\n') }),
  );
  for (const query of ['c++', '(a|b)', '[x]', '$1', '^.*', '\\d', 'äöü', '日本']) {
    assert.equal((await program.call('skills.search', { query })).structuredContent.total, 1, query);
  }
  for (const query of ['.', '^'].map((one) => `${one}q`)) {
    assert.equal((await program.call('skills.search', { query })).structuredContent.total, 0, query);
  }
});

test('an excerpt is the text around the match as its author wrote it, cut between characters', async (t) => {
  const family = '👩‍👩‍👧‍👦';
  const body = `${family.repeat(60)} The NEEDLE is here ${'e\u0301'.repeat(300)}`;
  const program = await start(
    t,
    makeTree(t, {
      'skills/a/SKILL.md': skillText('a', 'Plain', `${body}\n`),
      'skills/b/SKILL.md': skillText('b', 'The needle in a description', 'nothing\n'),
      'skills/needle/SKILL.md': skillText('c', 'Only the directory says it', 'nothing\n'),
    }),
  );
  const { structuredContent } = await callChecked(program, 'skills.search', { query: 'needle' });
  const excerpts = new Map<string, string>(
    structuredContent.results.map((one: Answer) => [one.meta.name, one.excerpt]),
  );
  const excerpt = excerpts.get('a') ?? '';
  assert.ok(body.includes(excerpt) && excerpt.includes('NEEDLE'));
  assert.ok(excerpt.length > 100 && excerpt.length < 200, String(excerpt.length));
  const graphemes = (text: string) => [...new Intl.Segmenter('en').segment(text)].map(({ segment }) => segment);
  const known = new Set(graphemes(body));
  assert.deepEqual(
    graphemes(excerpt).filter((one) => !known.has(one)),
    [],
  );
  assert.equal(excerpts.get('b'), 'The needle in a description');
  assert.equal(excerpts.get('c'), 'Only the directory says it');
});

const BAD_CALLS: readonly (readonly [tool: string, args: object, message: RegExp])[] = [
  ...[0, 26, 1.5, '3', null, -1, 1e9].map(
    (limit) => ['skills.search', { query: 'x', limit }, /limit must be a whole number from 1 to 25/] as const,
  ),
  ['skills.search', {}, /query is required/],
  ['skills.search', { query: '' }, /query must be text of 1 to 500 characters/],
  ['skills.search', { query: ' \n' }, /query must be text/],
  ['skills.search', { query: 5 }, /query must be text/],
  ['skills.search', { query: 'x'.repeat(501) }, /500 characters/],
  ['skills.search', { query: 'x', more: 1 }, /no argument "more"; this tool takes query, limit/],
  ['skills.list', { query: 5 }, /query must be text/],
  ['skills.list', { includeBody: 'yes' }, /includeBody must be true or false/],
  ['skills.list', { body: true }, /no argument "body"/],
  ['skills.read', { name: 'a' }, /path is required/],
  ['skills.read', { path: 'a' }, /name is required/],
  ['skills.read', { name: ' ', path: 'a' }, /name must be/],
  ['skills.read', { name: 'a', path: '' }, /path must be/],
];

test('arguments outside the schema are -32602 and say what is allowed, in both eras', async (t) => {
  const program = await start(t, makeTree(t, { 'skills/a/SKILL.md': skillText('a') }));
  for (const [name, args, message] of BAD_CALLS) {
    for (const params of [{ name, arguments: args }, modern({ name, arguments: args })]) {
      const { error } = await program.request('tools/call', params);
      assert.equal(error?.code, -32602, JSON.stringify(args));
      assert.match(error.message, message);
    }
  }
});

test('the published schemas and the checks agree', () => {
  const good: readonly (readonly [string, object])[] = [
    ['skills.search', { query: 'a b', limit: 25 }],
    ['skills.search', { query: 'a', limit: 1 }],
    ['skills.list', {}],
    ['skills.list', { query: '', includeBody: false }],
    ['skills.read', { name: 'a', path: 'b/c' }],
  ];
  const tools = new Map<string, { check(): v.GenericSchema; readonly schema: object }>([
    ['skills.search', SEARCH_INPUT],
    ['skills.list', LIST_INPUT],
    ['skills.read', READ_INPUT],
  ]);
  for (const [name, args] of [...good, ...BAD_CALLS]) {
    const { schema, check } = tools.get(name) ?? assert.fail(name);
    assert.equal(ajv.validate(schema, args), v.is(check(), args), `${name} ${JSON.stringify(args)}`);
  }
});

test('skills.read gives text as text and other bytes as an embedded resource', async (t) => {
  const tree = makeTree(t, {
    'skills/a/SKILL.md': skillText('a'),
    'skills/a/ref/x y.md': '\ufeffÜber\r\n',
    'skills/Odd Name/SKILL.md': skillText('Odd Name'),
  });
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0]);
  tree.write('skills/a/logo.png', bytes);
  tree.write('skills/Odd Name/logo.png', bytes);
  const program = await start(t, tree);
  const read = (name: string, path: string) => program.call('skills.read', { name, path });
  assert.deepEqual(await read('A', './ref/x y.md'), { content: [{ type: 'text', text: '\ufeffÜber\r\n' }] });
  const { content } = await read('a', 'logo.png');
  assert.deepEqual(content, [
    {
      type: 'resource',
      resource: { uri: 'skill://custom/a/logo.png', mimeType: 'image/png', blob: bytes.toString('base64') },
    },
  ]);
  const odd = await read('odd name', 'logo.png');
  assert.equal(odd.content[0].resource.uri, 'skill://custom/Odd%20Name/logo.png');
});

test('skills.read answers whatever is no file of the skill with an error a model can act on', async (t) => {
  const tree = makeTree(t, {
    'skills/a/SKILL.md': skillText('a'),
    'skills/a/ref/x.md': 'x',
    'skills/a/.git/config': 'secret',
    'outside.txt': 'secret',
    'skills/b/SKILL.md': skillText('b', 'secret'),
  });
  tree.link('skills/a/out.md', tree.at('outside.txt'));
  tree.link('skills/a/up', tree.at('skills'));
  tree.write('skills/a/large.bin', Buffer.alloc(4 * 1024 * 1024 + 1));
  const program = await start(t, tree);
  const table: readonly (readonly [path: string, message: RegExp])[] = [
    ['../b/SKILL.md', /not a path inside the skill/],
    ['ref/../../b/SKILL.md', /not a path inside the skill/],
    [tree.at('outside.txt'), /not a path inside the skill.*relative/],
    ['/etc/passwd', /not a path inside/],
    ['ref//x.md', /not a path inside/],
    ['ref/', /not a path inside/],
    ['.', /not a path inside/],
    ['ref\0', /not a path inside/],
    ['ref', /is a directory. "ref" contains: x\.md\./],
    ['nope.md', /does not exist. The skill contains: SKILL\.md, large\.bin, ref\//],
    ['ref/nope.md', /does not exist. "ref" contains: x\.md\./],
    ['out.md', /link that leaves the skill/],
    ['up/b/SKILL.md', /link that leaves the skill/],
    ['.git/config', /does not exist/],
    ['large.bin', /is over 4194304 bytes/],
    ['..%2fb%2fSKILL.md', /does not exist/],
  ];
  for (const [path, message] of table) {
    const result = await program.call('skills.read', { name: 'a', path });
    assert.equal(result.isError, true, path);
    assert.match(result.content[0].text, message);
    assert.doesNotMatch(JSON.stringify(result), /secret/);
  }
  const miss = await program.call('skills.read', { name: 'c', path: 'x' });
  assert.equal(miss.isError, true);
  assert.match(miss.content[0].text, /Skill 'c' not found/);
});

test('paths are relative when the root was given by way of a link to the working directory', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a', 'About a', 'needle\n') });
  const elsewhere = makeTree(t);
  elsewhere.link('link', tree.path);
  const program = await start(t, tree, ['--no-default-dirs', '--skill-dir', elsewhere.at('link/skills')]);
  for (const [tool, args] of [
    ['skills.list', {}],
    ['skills.search', { query: 'needle' }],
  ] as const) {
    const { skills, results } = (await callChecked(program, tool, args)).structuredContent;
    const [{ skillPath, skillFile }] = skills ?? results;
    assert.deepEqual([skillPath, skillFile], ['skills/a', 'skills/a/SKILL.md']);
  }
});

test('--tools chooses which tools there are, and the instructions follow', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a') });
  const program = startProgram(t, { tree, args: ['--tools', 'read,skill'] });
  const { result } = await program.handshake();
  assert.doesNotMatch(result.instructions, /skills\.list|skills\.search/);
  const list = await program.request('tools/list');
  assert.deepEqual(
    list.result.tools.map((tool: Answer) => tool.name),
    ['skill', 'skills.read'],
  );
  assert.equal((await program.request('tools/call', { name: 'skills.list' })).error.code, -32602);
  const all = startProgram(t, { tree });
  assert.match((await all.handshake()).result.instructions, /Prefer skills\.list .*skills\.search/);
  const wrong = startProgram(t, { tree, args: ['--tools', 'skill,serach'] });
  assert.equal(await wrong.exit(), 2);
  assert.match(wrong.stderr(), /--tools takes auto, skill, list, search, read, not "serach"; did you mean search\?/);
});

test('--tools auto spares a client that has the Skills extension the tools it does not need', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a') });
  const extension = { extensions: { 'io.modelcontextprotocol/skills': {} } };
  const namesFor = async (args: readonly string[], capabilities: object) => {
    const program = startProgram(t, { tree, args });
    const params = modern();
    const meta = { ...(params._meta as object), 'io.modelcontextprotocol/clientCapabilities': capabilities };
    const { result } = await program.request('tools/list', { _meta: meta });
    return result.tools.map((tool: Answer) => tool.name);
  };
  const all = ['skills.list', 'skill', 'skills.search', 'skills.read'];
  assert.deepEqual(await namesFor(['--tools', 'auto'], extension), ['skills.search']);
  assert.deepEqual(await namesFor(['--tools', 'auto'], {}), all);
  assert.deepEqual(await namesFor([], extension), all);
});
