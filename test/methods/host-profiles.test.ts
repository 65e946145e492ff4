/** What clients with needs of their own are shown: tool names and descriptions, by the name of the client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { names } from '../harness/listing.ts';
import { type Answer, modern, type Program, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

/** What a client introduces itself as, how tool names are spelled for it, and how skills are described to it. */
const CLIENTS: readonly (readonly [name: string, names: 'plain' | 'safe', describe: 'full' | 'compact'])[] = [
  ['claude-code', 'safe', 'compact'],
  ['claude-code (via mcp-remote 0.1.37)', 'safe', 'compact'],
  ['claude-ai', 'safe', 'full'],
  ['codex-mcp-client', 'safe', 'full'],
  ['cursor-vscode', 'safe', 'full'],
  ['Visual Studio Code', 'safe', 'full'],
  ['Visual Studio Code - Insiders', 'safe', 'full'],
  ['Visual-Studio-Code', 'safe', 'full'],
  ['Code - OSS', 'safe', 'full'],
  ['github-copilot-developer', 'safe', 'full'],
  ['JetBrains-IU-copilot-intellij', 'safe', 'full'],
  ['JetBrains-IU/copilot-intellij', 'safe', 'full'],
  ['Xcode-copilot-xcode', 'safe', 'full'],
  ['gemini-cli-mcp-client', 'safe', 'full'],
  ['gemini-cli-mcp-client-skillwire', 'safe', 'full'],
  ['qwen-cli-mcp-client-skillwire', 'safe', 'full'],
  ['qwen-code-mcp-client', 'safe', 'full'],
  ['opencode', 'safe', 'full'],
  ['kilo', 'safe', 'full'],
  ['Zed', 'safe', 'full'],
  ['Windsurf', 'safe', 'full'],
  ['windsurf-client', 'safe', 'full'],
  ['Cline', 'safe', 'full'],
  ['@cline/core', 'safe', 'full'],
  ['Roo Code', 'safe', 'full'],
  ['goose', 'safe', 'full'],
  ['goose-cli', 'safe', 'full'],
  ['goose-desktop', 'safe', 'full'],
  ['continue-client', 'safe', 'full'],
  ['continue-cli-client', 'safe', 'full'],
  ['Q DEV CLI', 'safe', 'compact'],
  ['@librechat/api-client', 'safe', 'full'],
  ['amp-mcp-client', 'safe', 'full'],
  ['crush', 'safe', 'full'],
  ['kode', 'safe', 'full'],
  ['junie-client', 'safe', 'full'],
  ['antigravity-client', 'safe', 'full'],
  ['grok-shell-skillwire', 'safe', 'full'],
  ['dev.warp.Warp-Stable', 'safe', 'full'],
  ['mcp-inspector', 'plain', 'full'],
  ['mcp', 'plain', 'full'],
  ['somebody new', 'plain', 'full'],
];

const PLAIN = ['skill', 'skills.list', 'skills.read', 'skills.search'];
const SAFE = PLAIN.map((name) => name.replace('.', '_'));

const toolsOf = (answer: Answer): readonly Answer[] => answer.result.tools;
const namesOf = (answer: Answer) =>
  toolsOf(answer)
    .map(({ name }) => name)
    .sort();
const about = (answer: Answer): string => toolsOf(answer).find(({ name }) => name === 'skill').description;
const shape = (text: string) => (text.includes('<location>') ? 'full' : 'compact');

test('each client of the table is shown what it can take, whichever way it introduces itself', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  const program = startProgram(t, { tree });
  for (const [client, spelled, describe] of CLIENTS) {
    const expected = spelled === 'safe' ? SAFE : PLAIN;
    const stateless = await program.request('tools/list', modern({}, client));
    assert.deepEqual(namesOf(stateless), expected, client);
    assert.equal(shape(about(stateless)), describe, client);
    await program.handshake('2025-11-25', client);
    const legacy = await program.request('tools/list');
    assert.deepEqual(toolsOf(legacy), toolsOf(stateless), client);
  }
});

test('every spelling answers a call, whoever calls', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  const program = startProgram(t, { tree });
  for (const client of ['claude-code', 'somebody new']) {
    await program.handshake('2025-11-25', client);
    for (const tool of ['skills.list', 'skills_list']) {
      assert.equal((await program.call(tool, {})).structuredContent.skills.length, 1, `${client} ${tool}`);
    }
  }
});

test('--names, --describe and --description-budget overrule the table', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf', 'x'.repeat(3000)) });
  const list = async (client: string, ...args: string[]) =>
    startProgram(t, { tree, args }).request('tools/list', modern({}, client));
  assert.deepEqual(namesOf(await list('claude-code', '--names', 'plain')), PLAIN);
  assert.deepEqual(namesOf(await list('somebody new', '--names', 'safe')), SAFE);
  assert.equal(shape(about(await list('claude-code', '--describe', 'full'))), 'full');
  const plain = about(await list('claude-code', '--describe', 'list'));
  assert.match(plain, /^Load a skill by name to get specialized instructions\.\n\nAvailable skills:\n- pdf: x{3000}$/);
  for (const budget of [200, 1000, 2500]) {
    const text = about(await list('somebody new', '--describe', 'compact', '--description-budget', String(budget)));
    assert.ok(text.length <= budget && text.length > budget - 30, `${text.length} of ${budget}`);
  }
  assert.ok(about(await list('claude-code')).length <= 2000);
});

/** 300 skills whose names have that many characters, described to Claude Code. */
async function compact(t: Parameters<typeof startProgram>[0], width: number, description: string): Promise<Program> {
  const tree = makeTree(t);
  for (let nth = 0; nth < 300; nth++) {
    const name = nth.toString(36).padStart(width, 'a');
    tree.write(`.claude/skills/${name}/SKILL.md`, skillText(name, description));
  }
  const program = startProgram(t, { tree });
  await program.handshake('2025-11-25', 'claude-code');
  return program;
}

test('300 skills whose names fit are all named to a client that cuts at 2048 characters', async (t) => {
  const program = await compact(t, 5, 'Does things');
  const text = await program.description();
  assert.ok(text.length <= 2000);
  for (let nth = 0; nth < 300; nth++) assert.match(text, new RegExp(`\\n${nth.toString(36).padStart(5, 'a')}\\n`));
  assert.doesNotMatch(text, / more\b.*find them/);
});

test('300 skills whose names do not fit are counted, and search is pointed to', async (t) => {
  const program = await compact(t, 30, 'Does things');
  const text = await program.description();
  assert.ok(text.length <= 2000 && text.length > 1900);
  const shown = text.match(/^a{25,}\w*$/gm)?.length ?? 0;
  assert.ok(shown > 50);
  assert.match(text, new RegExp(`\\n… and ${300 - shown} more: find them with skills_search\\n</available_skills>$`));
});

test('an agent that is shown compact names loads them by just those', async (t) => {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf', 'a < b & c > d'),
    '.codex/skills/pdf/SKILL.md': skillText('pdf'),
  });
  const program = startProgram(t, { tree });
  await program.handshake('2025-11-25', 'claude-code');
  const text = await program.description();
  assert.match(text, /\n- claude:pdf: a &lt; b &amp; c &gt; d\n- codex:pdf: About pdf\n/);
  assert.match(await program.skill('claude:pdf'), /^Loading: claude:pdf\n/);
  await program.handshake('2025-11-25', 'somebody new');
  assert.deepEqual(await names(program), ['claude:pdf', 'codex:pdf']);
});
