/** The scenarios of seed 000, "MCP Interface Specification", by their names, through the built program. */
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type Answer, FAST_INTERVALS, startProgram, WITHOUT_PRIVILEGE } from '../harness/program.ts';
import { makeTree, pluginFiles, skillText } from '../harness/tree.ts';

/** The timer alone, so that what is seen is seen by a refresh, and often. */
const QUICK = ['--no-watch', '--refresh-interval', '100'];
const PDF = { '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files') };

describe('seed 000', { concurrency: 4 }, () => {
  test('Start MCP server on stdio', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, PDF) });
    const { jsonrpc, result } = await program.handshake();
    assert.deepEqual([jsonrpc, result.protocolVersion, result.serverInfo.name], ['2.0', '2025-11-25', 'skillwire']);
    await program.waitForStderr(/ready: 1 skill in \d+ ms\n/);
    assert.equal(await program.end(), 0);
    assert.deepEqual(program.noise, [], 'stdout carries protocol and nothing else');
    for (const line of program.stderr().trimEnd().split('\n')) assert.match(line, /^skillwire: /);
  });

  test('Initialize skill registry on startup: at once, and said on stderr before the first list is answered', async (t) => {
    const silent = startProgram(t, { tree: makeTree(t, PDF) });
    await silent.waitForStderr(/^skillwire: scanning skill directories\nskillwire: ready: 1 skill in \d+ ms\n$/);
    // Log and messages on one stream, for their order.
    const through = ['/bin/sh', '-c', 'exec "$0" "$@" 2>&1'];
    const program = startProgram(t, { tree: makeTree(t, PDF), through });
    let output = '';
    program.child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    await program.request('tools/list');
    assert.match(
      output,
      /^.*scanning skill directories\n.*ready: 1 skill in \d+ ms\n\{"jsonrpc":"2\.0","id":1000,"result"/,
    );
  });

  test('Provide skill tool definition', async (t) => {
    const { tools } = (await startProgram(t, { tree: makeTree(t, PDF) }).request('tools/list')).result;
    const { description, inputSchema } = tools.find(({ name }: Answer) => name === 'skill');
    assert.match(description, /<name>pdf<\/name>\n<description>Work with PDF files<\/description>/);
    assert.deepEqual([inputSchema.type, inputSchema.required], ['object', ['name']]);
    assert.equal(inputSchema.properties.name.type, 'string');
  });

  test('Dynamic skill list in description: user, project and plugin skills, after each refresh', async (t) => {
    const tree = makeTree(t, {
      'skills/bun/SKILL.md': skillText('bun', "Enhanced documentation skill for 'bun'"),
      'home/.agents/skills/user/SKILL.md': skillText('user', '用户的全局技能,必读!'),
      ...pluginFiles('example-skills:pdf'),
    });
    const program = startProgram(t, { tree, args: ['--describe', 'list', ...QUICK] });
    const lines = ["- bun: Enhanced documentation skill for 'bun'", '- user: 用户的全局技能,必读!'];
    const text = (late: string) =>
      `Load a skill by name to get specialized instructions.\n\nAvailable skills:\n${lines.join(late)}\n- example-skills:pdf: pdf of example-skills`;
    assert.equal(await program.description(), text('\n'));
    tree.write('skills/late/SKILL.md', skillText('late'));
    await program.waitForStderr(/changed; 4 skills/);
    assert.equal(await program.description(), text('\n- late: About late\n'));
  });

  test('Load skill by name; Include base directory in response; Preserve exact formatting', async (t) => {
    const body = '\tTab\r\n  two  blanks \n```\ncode\n```\n\u{1F642} é 用户 \u00a0\n\n\n';
    const file = `\ufeff${skillText('User', 'Builds', body)}`;
    const tree = makeTree(t, { 'home/.claude/skills/u/SKILL.md': file });
    const program = startProgram(t, { tree });
    const place = `Base directory: ${tree.at('home/.claude/skills/u')}\nPath: ${tree.at('home/.claude/skills/u/SKILL.md')}`;
    for (const name of ['user', 'User', 'USER', ' user\n', 'claude:user'])
      assert.equal(await program.skill(name), `Loading: User\n${place}\nLocation: global\nProvider: claude\n\n${file}`);
  });

  test('Load skill by full namespaced name; Load skill by short name (unambiguous)', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, pluginFiles('example-skills:pdf')) });
    for (const name of ['example-skills:pdf', 'Example-Skills:PDF', 'claude:example-skills:pdf', 'pdf'])
      assert.match(await program.skill(name), /^Loading: example-skills:pdf\n[\s\S]*pdf of example-skills/, name);
  });

  test('Error on ambiguous short name', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, pluginFiles('example-skills:pdf', 'other:pdf')) });
    const { isError, content } = await program.call('skill', { name: 'pdf' });
    assert.equal(isError, true);
    assert.equal(
      content[0].text,
      "Skill 'pdf' is ambiguous: 2 skills have that name.\n\n- example-skills:pdf\n- other:pdf\n\nTo load one of them, use the full name.",
    );
  });

  test('Error on skill not found: with similar names', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, { ...PDF, ...pluginFiles('example-skills:docx') }) });
    const meant = { pfd: 'pdf', 'claude:pfd': 'pdf', 'example-skill:docx': 'example-skills:docx' };
    for (const [name, near] of Object.entries(meant)) {
      const { isError, content } = await program.call('skill', { name });
      const start = `Skill '${name}' not found.\n\nDid you mean: ${near}?\n\nAvailable skills:\n`;
      assert.ok(isError && content[0].text.startsWith(start), content[0].text);
    }
  });

  test('Refresh on 30-second interval: every tick is a refresh and one line, also while everything is watched', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, PDF), env: FAST_INTERVALS });
    await program.waitForStderr(/interval of 30000 ms\n/);
    await program.waitForStderr(/(?:skillwire: refresh \(timer\): no change; 1 skill in \d+ ms\n){3}/);
  });

  test('Detect new skills; Detect modified skills; Detect removed skills', async (t) => {
    const tree = makeTree(t, { 'skills/old/SKILL.md': skillText('old', 'About', 'one\n') });
    const program = startProgram(t, { tree, args: QUICK });
    assert.deepEqual(await program.names(), ['old']);
    tree.write('skills/new/SKILL.md', skillText('new'));
    await program.waitForStderr(/refresh \(timer\): changed; 2 skills in \d+ ms\n/);
    assert.deepEqual(await program.names(), ['new', 'old']);
    assert.match(await program.skill('new'), /^Loading: new\n/);
    tree.write('skills/old/SKILL.md', skillText('old', 'About', 'two\n'));
    await program.waitForStderr(/(?:refresh \(timer\): changed; 2 skills[\s\S]*){2}/);
    assert.match(await program.skill('old'), /two\n$/);
    tree.remove('skills/new');
    await program.waitForStderr(/refresh \(timer\): changed; 1 skill in \d+ ms\n/);
    assert.deepEqual(await program.names(), ['old']);
    assert.match(await program.skill('new'), /^Skill 'new' not found\./);
  });

  test('Handle multiple simultaneous requests', async (t) => {
    const names = Array.from({ length: 60 }, (_, at) => `skill-${at % 20}`);
    const files = names.map((name) => [`skills/${name}/SKILL.md`, skillText(name)]);
    const program = startProgram(t, { tree: makeTree(t, Object.fromEntries(files)) });
    const texts = await Promise.all(names.map((name) => program.skill(name)));
    for (const [at, text] of texts.entries()) assert.match(text, new RegExp(`^Loading: ${names[at]}\n`));
  });

  test('Handle requests during refresh: from the state before it, without waiting', async (t) => {
    const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf', 'About', 'old\n') });
    const program = startProgram(t, { tree, args: QUICK });
    await program.skill('pdf');
    tree.write('skills/pdf/SKILL.md', skillText('pdf', 'About', 'new\n'));
    // A refresh that meets a change takes a quarter of a second, and the interval is shorter than that: nearly all of
    // these calls fall into one. Were they to wait for it, there would be one or two of them, not hundreds; on a busy
    // machine some ten.
    const answers: string[] = [];
    do answers.push((await program.skill('pdf')).slice(-4));
    while (answers.at(-1) !== 'new\n');
    assert.deepEqual([...new Set(answers)], ['old\n', 'new\n']);
    assert.ok(answers.length > 5, `${answers.length} calls`);
  });

  test('Invalid tool call parameter', async (t) => {
    const program = startProgram(t, { tree: makeTree(t) });
    for (const args of [{}, { name: '' }, { name: 7 }, { name: null }, { name: '\n' }, { name: ['a'] }]) {
      const { error } = await program.request('tools/call', { name: 'skill', arguments: args });
      assert.equal(error.code, -32602);
      assert.match(error.message, /name is required/);
    }
  });

  test('Internal errors: the message to the client, the whole error to stderr', async (t) => {
    const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf'), 'skills/pdf/notes.md': 'notes' });
    const program = startProgram(t, { tree, args: ['--no-refresh'], through: WITHOUT_PRIVILEGE });
    await program.description();
    chmodSync(tree.at('skills/pdf/notes.md'), 0);
    const { error } = await program.request('resources/read', { uri: 'skill://custom/pdf/notes.md' });
    assert.equal(error.code, -32603);
    assert.match(error.message, /EACCES: permission denied/);
    await program.waitForStderr(/error: resources\/read failed: .*EACCES: .*\\n {4}at /);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`Handle ${signal}`, async (t) => {
      const program = startProgram(t, { tree: makeTree(t), args: QUICK });
      await program.nextRefresh();
      program.child.kill(signal);
      assert.equal(await program.exit(), 0);
      assert.match(program.stderr(), new RegExp(`\nskillwire: stopped: ${signal}\n$`));
    });
  }
});
