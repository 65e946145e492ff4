/** What clients with needs of their own are shown: tool names and descriptions, by the name of the client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { names, warnings } from '../harness/listing.ts';
import { type Answer, modern, type Program, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

/** What a client introduces itself as, how tool names are spelled for it, and how long a description may be for it. */
const CLIENTS: readonly (readonly [name: string, names: 'plain' | 'safe', budget?: number])[] = [
  ['claude-code', 'safe', 2000],
  ['claude-code (via mcp-remote 0.1.37)', 'safe', 2000],
  ['claude-ai', 'safe'],
  ['codex-mcp-client', 'safe'],
  ['cursor-vscode', 'safe'],
  ['Visual Studio Code', 'safe'],
  ['Visual Studio Code - Insiders', 'safe'],
  ['Visual-Studio-Code', 'safe'],
  ['Code - OSS', 'safe'],
  ['github-copilot-developer', 'safe'],
  ['JetBrains-IU-copilot-intellij', 'safe'],
  ['JetBrains-IU/copilot-intellij', 'safe'],
  ['Xcode-copilot-xcode', 'safe'],
  ['gemini-cli-mcp-client', 'safe'],
  ['gemini-cli-mcp-client-skillwire', 'safe'],
  ['qwen-cli-mcp-client-skillwire', 'safe'],
  ['qwen-code-mcp-client', 'safe'],
  ['opencode', 'safe'],
  ['kilo', 'safe'],
  ['Zed', 'safe'],
  ['Windsurf', 'safe'],
  ['windsurf-client', 'safe'],
  ['Cline', 'safe'],
  ['@cline/core', 'safe'],
  ['Roo Code', 'safe'],
  ['goose', 'safe'],
  ['goose-cli', 'safe'],
  ['goose-desktop', 'safe'],
  ['continue-client', 'safe'],
  ['continue-cli-client', 'safe'],
  ['Q DEV CLI', 'safe', 9000],
  ['@librechat/api-client', 'safe'],
  ['amp-mcp-client', 'safe'],
  ['crush', 'safe'],
  ['kode', 'safe'],
  ['junie-client', 'safe'],
  ['antigravity-client', 'safe'],
  ['grok-shell-skillwire', 'safe'],
  ['dev.warp.Warp-Stable', 'safe'],
  ['copilot-cli', 'safe'],
  ['ai-sdk-mcp-client', 'safe'],
  ['@langchain/mcp-adapters', 'safe'],
  ['mcporter', 'safe'],
  ['grok-cli', 'plain'],
  ['inspector-cli', 'plain'],
  ['mcp-test-client', 'plain'],
  ['mcp-inspector', 'plain'],
  ['mcp', 'plain'],
  ['somebody new', 'plain'],
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
  // One description alone takes more than any client does.
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf', 'x'.repeat(25_000)) });
  const program = startProgram(t, { tree });
  for (const [client, spelled, budget = 20_000] of CLIENTS) {
    const expected = spelled === 'safe' ? SAFE : PLAIN;
    const stateless = await program.request('tools/list', modern({}, client));
    assert.deepEqual(namesOf(stateless), expected, client);
    const text = about(stateless);
    assert.ok(text.length <= budget && text.length > budget - 30, `${client}: ${text.length}`);
    const greeting = await program.handshake('2025-11-25', client);
    const legacy = await program.request('tools/list');
    assert.deepEqual(toolsOf(legacy), toolsOf(stateless), client);
    // What the model is told about the tools has the names that it sees.
    const discovered = await program.request('server/discover', modern({}, client));
    assert.equal(greeting.result.instructions, discovered.result.instructions, client);
    const told = greeting.result.instructions.match(/\bskills[._]\w+/g);
    assert.deepEqual(told.sort(), expected.slice(1), client);
  }
});

test('skills are described in full while that fits what the client takes, then in short, with one warning for each limit', async (t) => {
  const tree = makeTree(t);
  const write = (count: number) => {
    for (let nth = 0; nth < count; nth++)
      tree.write(
        `skills/s${nth}/SKILL.md`,
        skillText(`s${nth}`, 'Does something that takes a while to say. '.repeat(5)),
      );
  };
  write(2);
  const program = startProgram(t, { tree });
  const text = async (client: string) => about(await program.request('tools/list', modern({}, client)));
  for (const client of ['claude-code', 'somebody new']) assert.equal(shape(await text(client)), 'full', client);
  write(50);
  await program.call('skills.list', {});
  assert.equal(shape(await text('somebody new')), 'full');
  assert.equal(shape(await text('codex-mcp-client')), 'full');
  assert.doesNotMatch(program.stderr(), /warn/);
  assert.equal(shape(await text('claude-code')), 'compact');
  write(100);
  await program.call('skills.list', {});
  for (const client of ['claude-code', 'codex-mcp-client', 'somebody new', 'grok-cli'])
    assert.equal(shape(await text(client)), 'compact', client);
  assert.ok((await text('grok-cli')).length > 19_900);
  await program.end();
  assert.deepEqual(
    warnings(program, tree.path).map((line) => /of (.*) is longer than the (\d+) characters/.exec(line)?.slice(1)),
    [
      ['50 skills', '2000'],
      ['100 skills', '20000'],
    ],
  );
});

test('the tool that lists the skills asks never to be kept from the model (13.1)', async (t) => {
  const program = startProgram(t, { tree: makeTree(t) });
  const { result } = await program.request('tools/list', modern({}, 'claude-code'));
  const marked = result.tools.filter(({ _meta }: Answer) => _meta !== undefined);
  assert.deepEqual(
    marked.map(({ name, _meta }: Answer) => [name, _meta]),
    [['skill', { 'anthropic/alwaysLoad': true }]],
  );
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

test('a client that counts bytes is shown no more than it takes, in Chinese too', async (t) => {
  const names = Array.from({ length: 60 }, (_, nth) => `skill-${nth}`);
  const files = names.map((name) => [
    `.claude/skills/${name}/SKILL.md`,
    skillText(name, '读取、填写和合并文件。'.repeat(20)),
  ]);
  const program = startProgram(t, { tree: makeTree(t, Object.fromEntries(files)) });
  const bytesFor = async (client: string) =>
    Buffer.byteLength(about(await program.request('tools/list', modern({}, client))));
  // The client cuts at 10,004.
  assert.ok((await bytesFor('q-dev-cli')) <= 9000);
  assert.ok((await bytesFor('codex-mcp-client')) > 10_004);
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
  const program = startProgram(t, { tree, args: ['--describe', 'compact'] });
  await program.handshake('2025-11-25', 'claude-code');
  const text = await program.description();
  assert.match(text, /\n- claude:pdf: a &lt; b &amp; c &gt; d\n- codex:pdf: About pdf\n/);
  assert.match(await program.skill('claude:pdf'), /^Loading: claude:pdf\n/);
  const full = startProgram(t, { tree });
  assert.deepEqual(await names(full), ['claude:pdf', 'codex:pdf']);
});
