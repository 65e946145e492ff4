/** The scenarios of the requirements, each through the built program. */
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { type Answer, modern, type Program, startProgram } from '../harness/program.ts';
import { withoutPrivilege } from '../harness/rights.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

/** The timer alone, so that what is seen is seen by a refresh, and often. */
const QUICK = ['--no-watch', '--refresh-interval', '100'];

/** A home with the plugins `example-skills` and `other`, each with a skill `pdf`. */
function withPlugins(tree: Tree, plugins: readonly string[]): void {
  for (const plugin of plugins)
    tree.write(`home/plugins/${plugin}/skills/pdf/SKILL.md`, skillText('pdf', `PDF of ${plugin}`));
  const installed = plugins.map((plugin) => [`${plugin}@market`, { installPath: tree.at(`home/plugins/${plugin}`) }]);
  const file = { version: 1, plugins: Object.fromEntries(installed) };
  tree.write('home/.claude/plugins/installed_plugins.json', JSON.stringify(file));
}

async function skillTool(program: Program): Promise<Answer> {
  const { result } = await program.request('tools/list');
  return result.tools.find(({ name }: Answer) => name === 'skill');
}

/** The next time a refresh has come to its end, whatever it found. */
function nextRefresh(program: Program): Promise<string> {
  const seen = program.stderr().length;
  return program.waitForStderr(new RegExp(`^[\\s\\S]{${seen}}[\\s\\S]*refresh \\(.*skills? in`));
}

async function listed(program: Program): Promise<readonly string[]> {
  return [...(await program.description()).matchAll(/<name>(.*)<\/name>/g)].map(([, name]) => name ?? '');
}

/** Asks for the description until it holds what is waited for. */
async function until(program: Program, holds: (names: readonly string[]) => boolean): Promise<readonly string[]> {
  for (;;) {
    const names = await listed(program);
    if (holds(names)) return names;
    await nextRefresh(program);
  }
}

test('start on stdio: JSON-RPC on stdin and stdout, progress on stderr', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  const program = startProgram(t, { tree });
  const { result } = await program.handshake();
  assert.equal(result.protocolVersion, '2025-11-25');
  assert.equal(result.serverInfo.name, 'skillwire');
  assert.match(result.instructions, /skill/);
  await program.waitForStderr(
    /scanning skill directories\n(?:skillwire: client: .*\n)*skillwire: ready: 1 skill in \d+ ms\n/,
  );
  assert.equal(await program.end(), 0);
  assert.deepEqual(program.noise, []);
});

test('the definition of the skill tool is the contract’s', async (t) => {
  const program = startProgram(t, {
    tree: makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF') }),
  });
  const tool = await skillTool(program);
  assert.equal(tool.title, 'Load Skill');
  const { title: _title, ...hints } = tool.annotations;
  assert.deepEqual(hints, { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false });
  assert.equal(tool.inputSchema.type, 'object');
  assert.deepEqual(tool.inputSchema.required, ['name']);
  assert.equal(tool.inputSchema.additionalProperties, false);
  assert.equal(tool.inputSchema.properties.name.type, 'string');
  assert.match(tool.description, /How to use it/);
  assert.match(tool.description, /Where skills come from/);
  assert.match(
    tool.description,
    /<available_skills>\n<skill>\n<name>pdf<\/name>\n<description>Work with PDF<\/description>\n<location>project<\/location>\n<\/skill>\n<\/available_skills>$/,
  );
});

test('the plain list of the first contract is still to be had', async (t) => {
  const tree = makeTree(t, {
    'skills/user/SKILL.md': skillText('user', '用户的全局技能,必读!'),
    'skills/bun/SKILL.md': skillText('bun', "Enhanced documentation skill for 'bun'"),
  });
  withPlugins(tree, ['example-skills']);
  const program = startProgram(t, { tree, args: ['--describe', 'list'] });
  assert.equal(
    await program.description(),
    "Load a skill by name to get specialized instructions.\n\nAvailable skills:\n- bun: Enhanced documentation skill for 'bun'\n- user: 用户的全局技能,必读!\n- example-skills:pdf: PDF of example-skills",
  );
});

test('no skills found: the description has a none entry', async (t) => {
  const program = startProgram(t, { tree: makeTree(t) });
  assert.deepEqual(await listed(program), ['none']);
  assert.match(await program.skill('pdf'), /^Skill 'pdf' not found\.\n\nAvailable skills:\n- none\n/);
});

test('project, global, plugin and custom skills are all listed, with their locations', async (t) => {
  const tree = makeTree(t, {
    '.agents/skills/one/SKILL.md': skillText('one'),
    'home/.codex/skills/two/SKILL.md': skillText('two'),
    'extra/three/SKILL.md': skillText('three'),
  });
  withPlugins(tree, ['example-skills']);
  const program = startProgram(t, { tree, args: ['--skill-dir', 'extra'] });
  const description = await program.description();
  const found = [...description.matchAll(/<name>(.*)<\/name>\n.*\n<location>(.*)<\/location>/g)];
  assert.deepEqual(
    found.map(([, name, location]) => `${name} ${location}`),
    ['three custom', 'one project', 'two global', 'example-skills:pdf plugin'],
  );
});

test('a skill loads by name in any case, with its header and exact bytes', async (t) => {
  const text = skillText(
    'MCP-Builder',
    'Builds',
    '\tTab\r\n  two  blanks \n```\ncode\n```\n\u{1F642} é 用户 \u00a0\n\n\n',
  );
  const tree = makeTree(t, { 'home/.claude/skills/builder/SKILL.md': text });
  const program = startProgram(t, { tree });
  const directory = tree.at('home/.claude/skills/builder');
  const expected = `Loading: MCP-Builder\nBase directory: ${directory}\nPath: ${directory}/SKILL.md\nLocation: global\nProvider: claude\n\n${text}`;
  for (const name of ['MCP-Builder', 'mcp-builder', 'MCP-BUILDER', '  mcp-builder ', 'claude:MCP-builder']) {
    assert.equal(await program.skill(name), expected, name);
  }
});

test('names may hold blanks, Unicode and anything else', async (t) => {
  const names = ['two words', '用户', 'naïve café', "it's & <that>", 'a/b\\c', '..', '%2e%2e', '🙂'];
  const files = names.map((name, at) => [`skills/s${at}/SKILL.md`, skillText(JSON.stringify(name))]);
  const program = startProgram(t, { tree: makeTree(t, Object.fromEntries(files)) });
  for (const name of names) assert.match(await program.skill(name), /^Loading: .*\n/, name);
  assert.match(await program.skill('cafe\u0301 naïve'), /not found/);
  assert.match(
    await program.skill('nai\u0308ve cafe\u0301'),
    /^Loading: naïve café\n/,
    'Unicode spells it in two ways',
  );
});

test('a plugin’s skill loads by its full name, and by its short name while only one has it', async (t) => {
  const tree = makeTree(t);
  withPlugins(tree, ['example-skills']);
  const program = startProgram(t, { tree });
  for (const name of ['example-skills:pdf', 'pdf', 'Example-Skills:PDF']) {
    const text = await program.skill(name);
    assert.match(text, /^Loading: example-skills:pdf\n/, name);
    assert.match(text, /\nLocation: plugin\nProvider: claude\nPlugin: example-skills@market\n\n---\nname: pdf\n/, name);
  }
});

test('an ambiguous short name is an error that lists the full names', async (t) => {
  const tree = makeTree(t);
  withPlugins(tree, ['example-skills', 'other']);
  const program = startProgram(t, { tree });
  const result = await program.call('skill', { name: 'pdf' });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /ambiguous[\s\S]*- example-skills:pdf\n- other:pdf\n[\s\S]*full name/);
});

test('a short name that two providers have is ambiguous, and either full name loads', async (t) => {
  const program = startProgram(t, {
    tree: makeTree(t, {
      '.codex/skills/pdf/SKILL.md': skillText('pdf', 'of codex'),
      '.claude/skills/pdf/SKILL.md': skillText('pdf', 'of claude'),
    }),
  });
  assert.match((await program.call('skill', { name: 'pdf' })).content[0].text, /- claude:pdf\n- codex:pdf\n/);
  assert.match(await program.skill('codex:pdf'), /description: of codex/);
  assert.match(await program.skill('claude:pdf'), /Provider: claude\n[\s\S]*description: of claude/);
});

test('priority: universal before Claude, project before global', async (t) => {
  const places = ['.agent/skills', 'home/.agent/skills', '.claude/skills', 'home/.claude/skills'];
  const tree = makeTree(t);
  for (const place of places) tree.write(`${place}/git/SKILL.md`, skillText('git', `from ${place}`));
  const program = startProgram(t, { tree, args: QUICK });
  for (const [at, place] of places.entries()) {
    const directory = tree.at(`${place}/git`);
    for (;;) {
      const text = await program.skill('git');
      if (text.includes(`Base directory: ${directory}\n`)) break;
      assert.ok(at > 0 && text.startsWith("Skill 'git' cannot be read: ENOENT"), text); // Gone, and not yet missed.
      await nextRefresh(program);
    }
    tree.remove(`${place}/git`);
  }
});

test('not found is an error result with near names and what is available', async (t) => {
  const program = startProgram(t, {
    tree: makeTree(t, {
      'skills/postgres/SKILL.md': skillText('postgres', 'PostgreSQL database operations'),
      'skills/git/SKILL.md': skillText('git', 'Git workflow'),
    }),
  });
  assert.deepEqual(await program.call('skill', { name: 'postgers' }), {
    content: [
      {
        type: 'text',
        text: "Skill 'postgers' not found.\n\nDid you mean: postgres?\n\nAvailable skills:\n- git: Git workflow\n- postgres: PostgreSQL database operations\n\nUse the exact skill name (case-insensitive) to load a skill.",
      },
    ],
    isError: true,
  });
});

test('a call without a usable name is an invalid-params error that says what is required', async (t) => {
  const program = startProgram(t, { tree: makeTree(t) });
  for (const args of [{}, { name: '' }, { name: 7 }, { name: null }, { name: '\n' }]) {
    const { error } = await program.request('tools/call', { name: 'skill', arguments: args });
    assert.equal(error.code, -32602);
    assert.match(error.message, /name is required/);
  }
});

test('older clients call it with command, and that is taken for the name', async (t) => {
  const program = startProgram(t, { tree: makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') }) });
  const { content } = await program.call('skill', { command: 'pdf' });
  assert.match(content[0].text, /^Loading: pdf\n/);
});

test('a new skill is seen at the next refresh: listed, announced, loadable', async (t) => {
  const tree = makeTree(t, { 'skills/old/SKILL.md': skillText('old') });
  const program = startProgram(t, { tree, args: QUICK });
  await program.handshake();
  assert.deepEqual(await listed(program), ['old']);
  tree.write('skills/new/SKILL.md', skillText('new'));
  await program.waitFor(({ method }) => method === 'notifications/tools/list_changed', 'the notice');
  assert.deepEqual(await listed(program), ['new', 'old']);
  assert.match(await program.skill('new'), /^Loading: new\n/);
  await program.waitForStderr(/refresh \(timer\): 1 added, 0 changed, 0 removed; 2 skills in \d+ ms/);
});

test('a changed skill is served anew after the next refresh, and only announced when its listing changed', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf', 'About', 'one\n') });
  const program = startProgram(t, { tree, args: QUICK });
  await program.handshake();
  assert.match(await program.skill('pdf'), /one\n$/);
  tree.write('skills/pdf/SKILL.md', skillText('pdf', 'About', 'two\n'));
  while (!(await program.skill('pdf')).endsWith('two\n')) await nextRefresh(program);
  tree.write('skills/pdf/SKILL.md', skillText('pdf', 'About more', 'three\n'));
  const isNotice = ({ method }: Answer) => method === 'notifications/tools/list_changed';
  await program.waitFor(isNotice, 'the notice');
  assert.match(await program.skill('pdf'), /three\n$/);
  assert.equal(program.received.filter(isNotice).length, 1);
});

test('a removed skill is gone after the next refresh', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/b/SKILL.md': skillText('b') });
  const program = startProgram(t, { tree, args: QUICK });
  assert.deepEqual(await listed(program), ['a', 'b']);
  tree.remove('skills/b/SKILL.md');
  assert.deepEqual(await until(program, (names) => !names.includes('b')), ['a']);
  assert.match(await program.skill('b'), /^Skill 'b' not found\./);
});

test('--refresh-interval decides how often it looks, --no-refresh that it never looks again', async (t) => {
  const tree = makeTree(t);
  const often = startProgram(t, { tree, args: ['--no-watch', '--refresh-interval', '50'] });
  await often.waitForStderr(/(?:refresh \(timer\): no change; 0 skills in \d+ ms\nskillwire: ){3}/);

  const never = startProgram(t, { tree, args: ['--no-refresh', '--refresh-interval', '1'] });
  assert.deepEqual(await listed(never), ['none']);
  tree.write('skills/new/SKILL.md', skillText('new'));
  await until(often, (names) => names.includes('new'));
  assert.deepEqual(await listed(never), ['none']);
  assert.doesNotMatch(never.stderr(), /refresh/);
});

test('requests during a refresh are answered from the state before it, without waiting', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf', 'About', 'old\n') });
  const program = startProgram(t, { tree, args: QUICK });
  await program.skill('pdf');
  tree.write('skills/pdf/SKILL.md', skillText('pdf', 'About', 'new\n'));
  // A refresh that meets a change takes a quarter of a second, and the interval is shorter than that: nearly all of
  // these calls fall into one. Were they to wait for it, there would be one or two of them, not hundreds; on a busy machine
  // some ten.
  const answers: string[] = [];
  do answers.push((await program.skill('pdf')).slice(-4));
  while (answers.at(-1) !== 'new\n');
  assert.deepEqual([...new Set(answers)], ['old\n', 'new\n']);
  assert.ok(answers.length > 5, `${answers.length} calls`);
});

test('many calls at once are each answered with the skill they asked for', async (t) => {
  const names = Array.from({ length: 20 }, (_, at) => `skill-${at}`);
  const files = names.map((name) => [`skills/${name}/SKILL.md`, skillText(name)]);
  const program = startProgram(t, { tree: makeTree(t, Object.fromEntries(files)) });
  const texts = await Promise.all([...names, ...names, ...names].map((name) => program.skill(name)));
  for (const [at, text] of texts.entries()) assert.match(text, new RegExp(`^Loading: ${names[at % names.length]}\\n`));
});

test('directories that do not exist are skipped, the well-known ones in silence, a named one with a warning', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const program = startProgram(t, { tree, args: ['--skill-dir', 'no/such/place', '--skill-dir', 'skills'] });
  assert.deepEqual(await listed(program), ['pdf']);
  await program.end();
  const said = program.stderr().match(/^.*(?:warn|error).*$/gm);
  const fault = 'does not exist; correct --skill-dir, or create the directory';
  assert.deepEqual(said, [`skillwire: warn: ${tree.at('no/such/place')}: ${fault}`]);
});

test('a bad SKILL.md is skipped with one warning that says which and why; the rest is served', async (t) => {
  const faults: readonly (readonly [file: string, text: string, why: RegExp])[] = [
    ['none', '# just a heading\n', /there is no front matter/],
    ['open', '---\nname: open\ndescription: never closed\n', /front matter is not closed/],
    ['list', '---\n- a\n- b\n---\n', /not a mapping/],
    ['broken', '---\nname: [\n---\n', /front matter is not valid YAML/],
    ['nameless', '---\ndescription: no name\n---\n', /name is missing/],
    ['mute', '---\nname: mute\n---\n', /description is missing/],
    ['empty-name', '---\nname: ""\ndescription: x\n---\n', /name is empty/],
    ['empty-text', '---\nname: x\ndescription: "  "\n---\n', /description is empty/],
    ['empty', '', /there is no front matter/],
  ];
  const tree = makeTree(t, { 'skills/good/SKILL.md': skillText('good') });
  for (const [name, text] of faults) tree.write(`skills/${name}/SKILL.md`, text);
  const program = startProgram(t, { tree, args: QUICK });
  assert.deepEqual(await listed(program), ['good']);
  await nextRefresh(program);
  await nextRefresh(program);
  for (const [name, , why] of faults) {
    const warnings = program
      .stderr()
      .split('\n')
      .filter((line) => line.includes(tree.at(`skills/${name}/SKILL.md`)));
    assert.equal(warnings.length, 1, `${name}: ${warnings}`);
    assert.match(warnings[0] ?? '', /^skillwire: warn: /);
    assert.match(warnings[0] ?? '', why);
  }
  assert.equal(await program.end(), 0);
});

/** A file and a directory that may not be read, and one that may. */
function closedTree(t: TestContext): Tree & { open(): void } {
  const tree = makeTree(t, {
    'skills/good/SKILL.md': skillText('good'),
    'skills/secret/SKILL.md': skillText('secret'),
    'skills/vault/inner/SKILL.md': skillText('inner'),
  });
  const [file, directory] = [tree.at('skills/secret/SKILL.md'), tree.at('skills/vault')];
  chmodSync(file, 0);
  chmodSync(directory, 0);
  const open = () => {
    chmodSync(file, 0o600);
    chmodSync(directory, 0o700);
  };
  return { ...tree, open };
}

test('permission denied: file and directory are skipped with a line on stderr, the rest is served', async (t) => {
  const tree = closedTree(t);
  const program = startProgram(t, { tree, through: withoutPrivilege });
  const names = await listed(program);
  tree.open();
  assert.deepEqual(names, ['good']);
  await program.waitForStderr(/warn: .*skills\/secret\/SKILL\.md: cannot be read: EACCES/);
  await program.waitForStderr(/warn: .*skills\/vault: cannot be read: EACCES/);
});

test('a skill that may be read again appears by itself', async (t) => {
  const tree = closedTree(t);
  const program = startProgram(t, { tree, args: QUICK, through: withoutPrivilege });
  const names = await listed(program);
  tree.open();
  assert.deepEqual(names, ['good']);
  assert.deepEqual(await until(program, (now) => now.length === 3), ['good', 'secret', 'inner']);
});

test('a file that cannot be read when it is asked for is an error with the message, the whole of it on stderr', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const program = startProgram(t, { tree, args: ['--no-refresh'], through: withoutPrivilege });
  assert.match(await program.skill('pdf'), /^Loading: pdf\n/);
  chmodSync(tree.at('skills/pdf/SKILL.md'), 0);
  const denied = await program.call('skill', { name: 'pdf' });
  assert.equal(denied.isError, true);
  assert.match(denied.content[0].text, /^Skill 'pdf' cannot be read: EACCES: permission denied/);
  await program.waitForStderr(/error: cannot read .*SKILL\.md: Error: EACCES: .*\\n {4}at /);
  tree.remove('skills/pdf');
  const gone = await program.call('skill', { name: 'pdf' });
  assert.equal(gone.isError, true);
  assert.match(gone.content[0].text, /^Skill 'pdf' cannot be read: ENOENT/);
});

test('a modern client sees the same skills as a legacy one', async (t) => {
  const program = startProgram(t, { tree: makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') }) });
  const [old, now] = await Promise.all([program.request('tools/list'), program.request('tools/list', modern())]);
  assert.deepEqual(now.result.tools, old.result.tools);
});
