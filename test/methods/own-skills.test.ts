/** `--skip-own`: what an agent finds by itself is not shown to it again. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { type Answer, modern, type Program, startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

/** One skill in each place, named after the place. */
function treeWith(t: Parameters<typeof makeTree>[0], ...places: readonly string[]): Tree {
  const skills = places.map((place) => [`${place}/${nameIn(place)}/SKILL.md`, skillText(nameIn(place))]);
  return makeTree(t, Object.fromEntries(skills));
}

const nameIn = (place: string) =>
  place
    .replace(/\/skills\b/, '')
    .replaceAll(/[^a-z]+/g, '-')
    .replace(/^-/, '');

/** The names in everything that lists skills to a client; they must be the same everywhere. */
async function shownTo(client: string, program: Program): Promise<readonly string[]> {
  const request = async (method: string, params: object = {}) =>
    (await program.request(method, modern({ ...params }, client))).result;
  const call = async (name: string, args: object) =>
    (await request('tools/call', { name, arguments: args })).structuredContent;
  const { tools } = await request('tools/list');
  const { description } = tools.find(({ name }: Answer) => name === 'skill');
  const names = [...description.matchAll(/<name>(.*)<\/name>/g)]
    .map(([, name]) => name)
    .filter((one) => one !== 'none');
  const { prompts } = await request('prompts/list');
  const { skills } = await call('skills.list', {});
  const { results } = await call('skills.search', { query: 'about', limit: 25 });
  const lists = [prompts.map(({ title }: Answer) => title), skills.map(nameOf), results.map(nameOf)];
  for (const list of lists) assert.deepEqual(list.toSorted(), names.toSorted(), client);
  return names.toSorted();
}

const nameOf = ({ name }: Answer): string => name;

const PLACES = [
  '.claude/skills',
  '.claude/skills/nested/deep',
  '.codex/skills',
  '.codex/skills/.system',
  '.agents/skills',
  '.agent/skills',
  '.gemini/skills',
  '.github/skills',
  '.opencode/skills',
  'skills',
  'home/.claude/skills',
  'home/.codex/skills',
  'home/.agents/skills',
  'home/.config/agents/skills',
  'home/.config/opencode/skills',
  'home/.copilot/skills',
];

/** The places that each client reads by itself, of those above. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  'claude-code': ['.claude/skills', 'home/.claude/skills'],
  'codex-mcp-client': [
    '.codex/skills',
    '.codex/skills/.system',
    '.agents/skills',
    'home/.codex/skills',
    'home/.agents/skills',
  ],
  'gemini-cli-mcp-client': ['.gemini/skills', '.agents/skills', 'home/.agents/skills'],
  opencode: [
    '.opencode/skills',
    '.claude/skills',
    '.claude/skills/nested/deep',
    '.agents/skills',
    'home/.claude/skills',
    'home/.agents/skills',
    'home/.config/opencode/skills',
  ],
  'copilot-cli': ['.github/skills', '.claude/skills', '.agents/skills', 'home/.copilot/skills', 'home/.agents/skills'],
  'antigravity-client': ['.agent/skills'],
  zed: [],
  'somebody new': [],
};

test('with --skip-own each client is shown every skill but those that it finds by itself, and loads these all the same', async (t) => {
  const tree = treeWith(t, ...PLACES);
  const program = startProgram(t, { tree, args: ['--skip-own', '--describe', 'full'] });
  for (const [client, own] of Object.entries(OWN)) {
    const others = PLACES.filter((place) => !own.includes(place));
    assert.deepEqual(await shownTo(client, program), others.map(nameIn).toSorted(), client);
    for (const name of own.map(nameIn)) {
      const params = modern({ name: 'skill', arguments: { name } }, client);
      assert.match((await program.request('tools/call', params)).result.content[0].text, /^Loading: /, name);
      assert.ok((await program.request('prompts/get', modern({ name }, client))).result, name);
    }
  }
  const everything = startProgram(t, { tree, args: ['--describe', 'full'] });
  assert.deepEqual(await shownTo('claude-code', everything), PLACES.map(nameIn).toSorted());
});

test('a skill that the agent has a link to is its own, under whichever name it is listed', async (t) => {
  const tree = makeTree(t, {
    '.agents/skills/linked/SKILL.md': skillText('linked'),
    '.agents/skills/alone/SKILL.md': skillText('alone'),
    'home/.codex/skills/same/SKILL.md': skillText('same'),
    'home/.claude/skills/same/SKILL.md': skillText('same'),
  });
  tree.link('.claude/skills/linked', '../../.agents/skills/linked');
  const program = startProgram(t, { tree, args: ['--skip-own'] });
  assert.deepEqual(await shownTo('claude-code', program), ['alone', 'codex:same']);
  assert.deepEqual(await shownTo('codex-mcp-client', program), ['claude:same']);
  // Equal copies are one skill with --dedupe.
  const folding = startProgram(t, { tree, args: ['--skip-own', '--dedupe'] });
  assert.deepEqual(await shownTo('claude-code', folding), ['alone']);
  assert.deepEqual(await shownTo('codex-mcp-client', folding), []);
});

test("plugins are Claude Code's own, and a directory that was moved is followed", async (t) => {
  const plugins = { version: 2, plugins: { 'docs@market': [{ installPath: 'cache/docs', scope: 'user' }] } };
  const tree = makeTree(t, {
    'moved/skills/global/SKILL.md': skillText('global'),
    'moved/plugins/installed_plugins.json': JSON.stringify(plugins),
    'moved/plugins/cache/docs/skills/pdf/SKILL.md': skillText('pdf'),
    'moved-codex/skills/theirs/SKILL.md': skillText('theirs'),
  });
  const env = { CLAUDE_CONFIG_DIR: tree.at('moved'), CODEX_HOME: tree.at('moved-codex') };
  const program = startProgram(t, { tree, args: ['--skip-own'], env });
  assert.deepEqual(await shownTo('claude-code', program), ['theirs']);
  assert.deepEqual(await shownTo('codex-mcp-client', program), ['docs:pdf', 'global']);
  // OpenCode reads ~/.claude, wherever Claude Code may have moved.
  assert.deepEqual(await shownTo('opencode', program), ['docs:pdf', 'global', 'theirs']);
});

test('a skill of its own that comes or goes is no change for the agent', async (t) => {
  const tree = treeWith(t, 'skills');
  mkdirSync(tree.at('.claude/skills'), { recursive: true });
  const program = startProgram(t, { tree, args: ['--skip-own', '--no-refresh'] });
  await program.handshake('2025-11-25', 'claude-code');
  await program.request('tools/list');
  const isNews = ({ method = '' }: Answer) => /(?:tools|prompts)\/list_changed/.test(method);
  tree.write('.claude/skills/own/SKILL.md', skillText('own'));
  await program.call('skills.list', {});
  // Resources are listed to everybody, so this is sent, and nothing else before it.
  await program.waitFor(({ method }) => method === 'notifications/resources/list_changed', 'a new resource');
  assert.equal(program.received.some(isNews), false);
  tree.write('skills/another/SKILL.md', skillText('another'));
  await program.call('skills.list', {});
  await program.waitFor(isNews, 'a new tool list');
});

test('a client of either era is shown the same', async (t) => {
  const program = startProgram(t, { tree: treeWith(t, ...PLACES), args: ['--skip-own'] });
  await program.handshake('2025-11-25', 'codex-mcp-client');
  for (const method of ['tools/list', 'prompts/list']) {
    const { result: legacy } = await program.request(method);
    const { result: stateless } = await program.request(method, modern({}, 'codex-mcp-client'));
    const member = method.replace('/list', '');
    assert.deepEqual(legacy[member], stateless[member]);
  }
});
