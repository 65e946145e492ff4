import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { hashOf } from '../../src/text.ts';
import { listed, names, warnings } from '../harness/listing.ts';
import { type Answer, PROGRAM, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const plugin = (...skills: readonly string[]) => ({
  'home/.claude/plugins/installed_plugins.json': JSON.stringify({
    plugins: Object.fromEntries(
      [...new Set(skills.map((id) => id.split(':')[0] ?? ''))].map((name) => [`${name}@market`, { installPath: name }]),
    ),
  }),
  ...Object.fromEntries(
    skills.map((id) => [
      `home/.claude/plugins/${id.replace(':', '/skills/')}/SKILL.md`,
      skillText(id.split(':')[1] ?? ''),
    ]),
  ),
});

const at = (root: string, name: string, text = skillText(name)) => ({ [`${root}/skills/${name}/SKILL.md`]: text });

test('every name in the list loads exactly its own skill', async (t) => {
  const tree = makeTree(t, {
    ...at('.', 'both', skillText('both', 'custom')),
    ...at('.agents', 'both', skillText('both', 'agents')),
    ...at('.claude', 'both', skillText('both', 'claude')),
    ...at('home/.claude', 'both', skillText('both', 'claude global')),
    ...at('home/.claude', 'again', skillText('both', 'claude global again')),
    ...at('.codex', 'rival', skillText('rival', 'codex')),
    ...at('.cursor', 'rival', skillText('rival', 'cursor')),
    ...at('.codex', 'odd', skillText('claude:both', 'named like an id')),
    ...at('.codex', 'slash', skillText('a/b c', 'a slash and a blank')),
    ...plugin('docs:pdf', 'docs:rival', 'codex:odd', 'more:pdf'),
  });
  const program = startProgram(t, { tree });
  const shown = await program.description();
  const entries = [...shown.matchAll(/<name>(.*)<\/name>\n<description>(.*)<\/description>/g)];
  assert.equal(entries.length, 11);
  for (const [, name = '', description = ''] of entries) {
    const text = await program.skill(name);
    assert.ok(text.startsWith(`Loading: ${name}\n`), `${name}: ${text.slice(0, 200)}`);
    assert.ok(text.includes(`description: ${description}\n`), name);
  }
  // Hidden by another of their provider: not listed, but loaded by their full names.
  assert.match(await program.skill('claude@global:both'), /description: claude global again\n/);
  assert.match(
    await program.skill(`claude@global#${hashOf(tree.at('home/.claude/skills/both'))}:both`),
    /description: claude global\n/,
  );
  assert.deepEqual(await names(program), [
    'both',
    'agents:both',
    'claude:both',
    'codex:claude:both',
    'codex:rival',
    'a/b c',
    'cursor:rival',
    'docs:pdf',
    'docs:rival',
    'codex:odd',
    'more:pdf',
  ]);
});

test('a bare name that several have is an error that lists every full id', async (t) => {
  const tree = makeTree(t, { ...at('.claude', 'pdf'), ...at('.codex', 'pdf'), ...plugin('docs:x', 'more:x') });
  const program = startProgram(t, { tree });
  const own = await program.call('skill', { name: 'pdf' });
  assert.equal(own.isError, true);
  assert.match(
    own.content[0].text,
    /'pdf' is ambiguous: .*\n\n- claude:pdf\n- codex:pdf\n\nTo load one of them, use the full name/,
  );
  const plugins = await program.call('skill', { name: 'X' });
  assert.equal(plugins.isError, true);
  assert.match(plugins.content[0].text, /\n- docs:x\n- more:x\n/);
});

test('a misspelt name is an error with the nearest names, then what there is', async (t) => {
  const tree = makeTree(t, { ...at('.claude', 'pdf'), ...plugin('example-skills:docx') });
  const program = startProgram(t, { tree });
  for (const [asked, meant] of [
    ['pdff', 'pdf'],
    ['example-skill:docx', 'example-skills:docx'],
    ['claude:pfd', 'pdf'],
    ['dcox', 'example-skills:docx'],
  ] as const) {
    const answer = await program.call('skill', { name: asked });
    assert.equal(answer.isError, true);
    const [first, near, available] = answer.content[0].text.split('\n\n');
    assert.equal(first, `Skill '${asked}' not found.`);
    assert.equal(near, `Did you mean: ${meant}?`);
    assert.match(available, /^Available skills:\n- pdf: About pdf\n- example-skills:docx: About docx/);
  }
});

test('a shadowed skill is not listed to models, stays reachable and is reported once (11.12)', async (t) => {
  const tree = makeTree(t, {
    ...at('.claude', 'pdf', skillText('pdf', 'of the project')),
    ...at('home/.claude', 'pdf', skillText('pdf', 'of the home')),
  });
  const program = startProgram(t, { tree });
  assert.deepEqual(await listed(program), ['pdf (project)']);
  assert.match(await program.skill('claude:pdf'), /of the project/);
  assert.match(await program.skill('Claude@Global:PDF'), /of the home/);
  const { prompts } = (await program.request('prompts/list')).result;
  assert.deepEqual(prompts, [{ name: 'pdf', title: 'pdf', description: 'of the project' }]);
  const prompt = await program.request('prompts/get', { name: 'claude@global:pdf' });
  assert.match(prompt.result.messages[0].content.text, /of the home/);
  const { structuredContent } = await program.call('skills.list', {});
  assert.deepEqual(
    structuredContent.skills.map((one: Answer) => one.meta.description),
    ['of the project', 'of the home'],
  );
  const uris = (await program.request('skills/list')).result.skills.map(({ uri }: Answer) => uri);
  assert.deepEqual(uris, ['skill://claude/global/pdf/SKILL.md', 'skill://claude/pdf/SKILL.md']);
  assert.doesNotMatch(await program.skill('nothing-like-it'), /global/);
  assert.deepEqual(warnings(program, tree.path), [
    'home/.claude/skills/pdf/SKILL.md: is shadowed by .claude/skills/pdf/SKILL.md; it loads as "claude@global:pdf"',
  ]);
});

test('a skill inside another one does not take the name of one beside that', async (t) => {
  const tree = makeTree(t, {
    ...at('.claude', 'pdf', skillText('pdf', 'of the user')),
    ...at('.claude', 'authoring-kit', skillText('authoring-kit')),
    ...at('.claude', 'authoring-kit/examples/pdf', skillText('pdf', 'an example')),
  });
  const program = startProgram(t, { tree });
  assert.deepEqual(await listed(program), ['authoring-kit (project)', 'pdf (project)']);
  for (const name of ['pdf', 'claude:pdf']) assert.match(await program.skill(name), /of the user/);
});

test('--dedupe folds copies that are equal byte for byte, and both names still load', async (t) => {
  const tree = makeTree(t, {
    ...at('.claude', 'pdf'),
    ...at('.codex', 'pdf'),
    ...at('.cursor', 'pdf', skillText('pdf', 'other')),
  });
  assert.deepEqual(await names(startProgram(t, { tree })), ['claude:pdf', 'codex:pdf', 'cursor:pdf']);
  const program = startProgram(t, { tree, args: ['--dedupe'] });
  assert.deepEqual(await names(program), ['claude:pdf', 'cursor:pdf']);
  assert.match(await program.skill('codex:pdf'), /^Loading: codex:pdf\n/);
});

test('--dedupe folds whole directories, and a full name always loads its own (11.4)', async (t) => {
  const tree = makeTree(t, {
    ...at('.claude', 'pdf'),
    ...at('.codex', 'pdf'),
    '.claude/skills/pdf/ref/a.md': 'one',
    '.codex/skills/pdf/ref/a.md': 'two',
    ...at('.claude', 'same'),
    ...at('.codex', 'same'),
    '.claude/skills/same/ref/a.md': 'one',
    '.codex/skills/same/ref/a.md': 'one',
    ...at('.claude', 'more'),
    ...at('.codex', 'more'),
    '.codex/skills/more/extra.md': 'x',
    // Not YAML, and folded all the same.
    ...at('.claude', 'odd', '---\nname: odd\ndescription: use: it\n---\n'),
    ...at('.codex', 'odd', '---\nname: odd\ndescription: use: it\n---\n'),
  });
  const program = startProgram(t, { tree, args: ['--dedupe', '--no-refresh'] });
  const expected = ['claude:more', 'odd', 'claude:pdf', 'same', 'codex:more', 'codex:pdf'];
  assert.deepEqual(await names(program), expected);
  for (const provider of ['claude', 'codex']) {
    for (const name of ['pdf', 'same']) {
      const text = await program.skill(`${provider}:${name}`);
      assert.match(text, new RegExp(`Base directory: ${tree.at(`.${provider}/skills/${name}`)}\n`));
    }
    const { structuredContent } = await program.call('skills.read', { name: `${provider}:pdf`, path: 'ref/a.md' });
    assert.match(JSON.stringify(structuredContent ?? {}), /./);
  }
  // Copies that part while the server runs are two from then on, though no SKILL.md has changed.
  tree.write('.codex/skills/same/ref/a.md', 'three');
  await program.call('skills.list', {});
  assert.deepEqual(await names(program), [
    'claude:more',
    'odd',
    'claude:pdf',
    'claude:same',
    'codex:more',
    'codex:pdf',
    'codex:same',
  ]);
});

test('a name is only ever looked up, never a path', async (t) => {
  const tree = makeTree(t, { ...at('.claude', 'pdf'), 'secret/SKILL.md': skillText('secret') });
  const program = startProgram(t, { tree });
  for (const name of [
    '../../secret',
    tree.at('secret'),
    'pdf/../../../secret',
    '.claude/skills/pdf',
    'pdf\u0000',
    '__proto__',
    'constructor',
  ]) {
    const answer = await program.call('skill', { name });
    assert.equal(answer.isError, true, name);
    assert.match(answer.content[0].text, /not found\./, name);
  }
});

test('a name with characters that cannot be shown is listed without them, and loads', async (t) => {
  const names = ['bell\\a', 'x\\0y', '\\uFFFEq', 'rtl\\u202Eevil', 'lrm\\u200ex', 'two\\nlines'];
  const files = names.map((name, at) => [`skills/s${at}/SKILL.md`, `---\nname: "${name}"\ndescription: d\n---\n`]);
  const tree = makeTree(t, Object.fromEntries(files));
  for (const describe of ['full', 'list', 'compact']) {
    const program = startProgram(t, { tree, args: ['--describe', describe] });
    const text = await program.description();
    for (const name of ['bell', 'xy', 'q', 'rtlevil', 'lrmx', 'two lines']) {
      assert.match(text, new RegExp(`(?:<name>|- )${name}(?:</name>|: )`), describe);
      assert.match(await program.skill(name), /^Loading: /);
    }
  }
});

test('doctor reports names that are ambiguous (11.9)', (t) => {
  const tree = makeTree(t, { ...at('.claude', 'pdf'), ...at('.codex', 'pdf'), ...at('.codex', 'own') });
  const { stdout } = spawnSync(process.execPath, [PROGRAM, 'doctor'], {
    cwd: tree.path,
    env: { PATH: process.env.PATH, HOME: tree.at('home') },
    encoding: 'utf8',
  });
  assert.match(
    stdout,
    /Names that several skills have: 1\n {2}name "pdf": is ambiguous: claude:pdf, codex:pdf; only a full name loads one\n/,
  );
});

test('a name that is too long to be one is refused by whatever takes names (10.3)', async (t) => {
  const program = startProgram(t, { tree: makeTree(t, at('.claude', 'pdf')) });
  await program.handshake();
  // Composing that many marks took a minute.
  const marks = `a${'\u0301\u0323'.repeat(150_000)}`;
  const long = (field: string) => ({ [field]: marks });
  const start = performance.now();
  const requests: readonly (readonly [method: string, params: object, message: RegExp])[] = [
    ['tools/call', { name: 'skill', arguments: long('name') }, /name must have at most 4096 characters/],
    ['tools/call', { name: 'skill', arguments: long('command') }, /name must have at most 4096 characters/],
    ['tools/call', { name: 'skills.read', arguments: { name: marks, path: 'x' } }, /at most 4096 characters/],
    ['tools/call', { name: 'skills.read', arguments: { name: 'pdf', path: marks } }, /path must be .* at most 4096/],
    ['tools/call', { name: 'skills.list', arguments: long('query') }, /at most 500 characters/],
    ['tools/call', { name: 'skills.search', arguments: long('query') }, /500 characters/],
    [
      'tools/call',
      { name: 'skills.search', arguments: { query: 'x'.repeat(101) } },
      /at most 50 words of at most 100 characters/,
    ],
    ['tools/call', { name: 'skills.search', arguments: { query: 'x '.repeat(51) } }, /at most 50 words/],
    ['tools/call', { name: marks }, /no tool has a name of over 4096 characters/],
    ['prompts/get', { name: marks }, /no prompt has a name of over 4096 characters/],
    ['prompts/list', { cursor: marks }, /cursor has over 100000 characters/],
    ['skills/list', { cursor: marks }, /cursor has over/],
    ['resources/read', { uri: marks }, /uri has over 65536 characters/],
    ['resources/subscribe', { uri: marks }, /uri has over/],
  ];
  for (const [method, params, message] of requests) {
    const { error } = await program.request(method, { ...params });
    assert.equal(error?.code, -32602, method);
    assert.match(error.message, message);
    assert.ok(error.message.length < 500);
  }
  assert.ok(performance.now() - start < 10_000);
});
