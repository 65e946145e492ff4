import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOST_NAMES } from '../../src/config.ts';
import { dataOf, runCommand } from '../harness/command.ts';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const TREE = { 'skills/a/SKILL.md': skillText('a'), 'skills/b/SKILL.md': skillText('b') };

test('try shows what a host of that name gets over a pipe, and loads a skill', async (t) => {
  const tree = makeTree(t, TREE);
  for (const host of ['claude-code', 'somebody']) {
    const program = startProgram(t, { tree });
    const { result } = await program.handshake('2025-11-25', host);
    const { tools } = (await program.request('tools/list')).result;
    const data = dataOf(runCommand(tree, ['try', '--as', host, '--json']));
    assert.equal(data.version, 1);
    assert.equal(data.host, host);
    assert.equal(data.instructions, result.instructions);
    assert.deepEqual(data.tools, tools);
    assert.equal(data.description, await program.description());
    assert.equal(data.characters, JSON.stringify(tools).length);
    assert.deepEqual(data.loaded, { name: 'a', text: await program.skill('a'), isError: false });
  }
});

test('for people it is a page: instructions, tools, the description and its size, the skill', (t) => {
  const { status, stdout, stderr } = runCommand(makeTree(t, TREE), ['try', 'b']);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  assert.match(stdout, /^What the model of claude-code gets\n\nInstructions: \d+ characters/);
  assert.match(
    stdout,
    /\nTools: 4, [\d,]+ characters, roughly [\d,]+ tokens\n {2}skills_list {4}List Skills {6}[\d,]+ characters\n/,
  );
  assert.match(stdout, /\nDescription of skill: [\d,]+ characters, roughly \d+ tokens\n {2}\| Load a skill: /);
  assert.match(stdout, /\nResult of loading b: \d+ characters, roughly \d+ tokens\n {2}\| Loading: b\n/);
});

test('what is cut or not named in the description is said', (t) => {
  const names = Array.from({ length: 40 }, (_, nth) => `skill-number-${nth}`);
  const files = names.map((name) => [`skills/${name}/SKILL.md`, skillText(name, 'Long. '.repeat(50))]);
  const tree = makeTree(t, Object.fromEntries(files));
  const heading = (...args: string[]) =>
    /^Description of skill: .*$/m.exec(runCommand(tree, ['try', ...args]).stdout)?.[0];
  assert.match(heading() ?? '', /^Description of skill: [\d,]+ characters, roughly \d+ tokens, 40 descriptions cut$/);
  assert.match(heading('--description-budget', '600') ?? '', / tokens, \d+ descriptions cut, \d+ skills not named$/);
  assert.match(heading('--describe', 'full') ?? '', / tokens$/);
});

test('the names of setup are those of clients in the table of hosts', (t) => {
  const tree = makeTree(t, TREE);
  const expected = new Map([
    ['claude-desktop', 'claude-ai'],
    ['codex', 'codex-mcp-client'],
    ['cursor', 'cursor-vscode'],
    ['vscode', 'visual-studio-code'],
    ['gemini', 'gemini-cli-mcp-client'],
    ['copilot', 'copilot-cli'],
  ]);
  for (const host of HOST_NAMES) {
    const { stdout } = runCommand(tree, ['try', '--as', host]);
    assert.doesNotMatch(stdout, /is not in the table/, host);
    const data = dataOf(runCommand(tree, ['try', '--as', host, '--json']));
    assert.deepEqual([data.host, data.client], [host, expected.get(host) ?? host]);
  }
});

test('an unknown host is named as such, a skill that does not load is exit 1, and there may be none', (t) => {
  const tree = makeTree(t, TREE);
  assert.match(
    runCommand(tree, ['try', '--as', 'cursor-vscod']).stdout,
    /any other client gets\. Did you mean cursor-vscode\?\nKnown are claude-code, .*, windsurf, and the names that \S+ \S+ doctor lists\.\n/,
  );
  const { status, stdout } = runCommand(tree, ['try', 'nothing']);
  assert.equal(status, 1);
  assert.match(stdout, /\| Skill 'nothing' not found\./);
  const empty = runCommand(makeTree(t), ['try']);
  assert.equal(empty.status, 0);
  assert.match(empty.stdout, /There is no skill to load\.\n$/);
});
