/** Seed 002, "MCP Skills Server Contract", section by section, through the built program. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { Ajv } from 'ajv';
import { type Answer, type Program, runCommand, startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const ajv = new Ajv({ strict: false });

async function start(t: TestContext, tree: Tree, args: readonly string[] = []): Promise<Program> {
  const program = startProgram(t, { tree, args: ['mcp-server', ...args] });
  await program.handshake();
  return program;
}

async function toolNamed(program: Program, name: string): Promise<Answer> {
  return (await program.request('tools/list')).result.tools.find((tool: Answer) => tool.name === name);
}

/** Calls a tool and holds its structured result to the schema that tools/list gives. */
async function callChecked(program: Program, name: string, args: object): Promise<Answer> {
  const { outputSchema } = await toolNamed(program, name);
  const answer = await program.call(name, args);
  const validate = ajv.compile(outputSchema);
  assert.ok(validate(answer.structuredContent), ajv.errorsText(validate.errors));
  assert.equal(answer.content[0].type, 'text');
  return answer;
}

const BODIES = {
  'skills/Alpha-Dir/SKILL.md': skillText('one', 'First', 'Body of one mentions gamma\n'),
  'skills/deep/er/b/SKILL.md': skillText('beta', 'Second'),
  'skills/c/SKILL.md': '\ufeff---\r\nname: third\r\ndescription: About GAMMA rays\r\n---\r\nline\r\n---\r\nrest',
};

describe('seed 002', { concurrency: 4 }, () => {
  test('Lifecycle + Capabilities', async (t) => {
    const tree = makeTree(t, { 'vendor/pdf/SKILL.md': skillText('pdf') });
    const program = startProgram(t, { tree, args: ['mcp-server', '--root', './vendor'] });
    await program.waitForStderr(/ready: 1 skill/);
    assert.deepEqual(program.received, [], 'it waits for the client to speak');
    const { result } = await program.handshake('2025-03-26');
    assert.equal(result.protocolVersion, '2025-03-26');
    assert.deepEqual(result.capabilities, {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true },
      extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } },
    });
    assert.match(result.serverInfo.version, /^\d+\.\d+\.\d+$/);
    assert.match(result.instructions, /Prefer skills\.list .*all .*skills\.search/);
    assert.ok(result.instructions.length < 2048);
    assert.deepEqual((await program.request('ping')).result, {});
    assert.equal(program.received.length, 2, 'notifications/initialized is not answered');
  });

  test('Tool Surface: four tools in a fixed order, each for exact arguments; --tools chooses among them', async (t) => {
    const tree = makeTree(t, BODIES);
    const { tools } = (await (await start(t, tree)).request('tools/list')).result;
    const names = ({ name }: Answer) => name;
    assert.deepEqual(tools.map(names), ['skills.list', 'skill', 'skills.search', 'skills.read']);
    for (const { inputSchema } of tools) assert.equal(inputSchema.additionalProperties, false);
    const few = startProgram(t, { tree, args: ['--tools', 'read,skill'] });
    assert.doesNotMatch((await few.handshake()).result.instructions, /skills\.list|skills\.search/);
    assert.deepEqual((await few.request('tools/list')).result.tools.map(names), ['skill', 'skills.read']);
    assert.equal((await few.request('tools/call', { name: 'skills.list' })).error.code, -32602);
  });

  test('skills.list: every SKILL.md at any depth, its metadata, and paths relative to the project', async (t) => {
    const tree = makeTree(t, { ...BODIES, 'home/.claude/skills/git/SKILL.md': skillText('git', 'Commit') });
    const elsewhere = makeTree(t, { 'own/x/SKILL.md': skillText('x') });
    const program = await start(t, tree, ['--skill-dir', elsewhere.at('own'), '--root', 'skills']);
    const { properties } = (await toolNamed(program, 'skills.list')).inputSchema;
    assert.deepEqual([properties.query.type, properties.includeBody.type], ['string', 'boolean']);
    const { structuredContent, content } = await callChecked(program, 'skills.list', {});
    const entry = (name: string, description: string, skillPath: string, provider = 'custom', location = 'custom') => {
      const installName = skillPath.replace(/.*\//, '');
      const place = { provider, location, skillPath, skillFile: `${skillPath}/SKILL.md` };
      return { name, installName, meta: { name, description }, ...place };
    };
    assert.deepEqual(structuredContent.skills, [
      entry('x', 'About x', elsewhere.at('own/x')),
      entry('one', 'First', 'skills/Alpha-Dir'),
      entry('third', 'About GAMMA rays', 'skills/c'),
      entry('beta', 'Second', 'skills/deep/er/b'),
      // The home of these tests lies in the working directory.
      entry('git', 'Commit', 'home/.claude/skills/git', 'claude', 'global'),
    ]);
    assert.match(content[0].text, /^5 skills\n- x: About x\n- one: First\n/);
  });

  test('skills.list: query and includeBody', async (t) => {
    const program = await start(t, makeTree(t, BODIES));
    const found = {
      'alpha-d': ['Body of one mentions gamma\n'],
      BET: ['# beta\n'],
      gamma: ['line\r\n---\r\nrest'],
      none: [],
    };
    for (const [query, bodies] of Object.entries(found)) {
      const { structuredContent } = await callChecked(program, 'skills.list', { query, includeBody: true });
      const given = structuredContent.skills.map(({ body }: Answer) => body);
      assert.deepEqual(given, bodies, query);
    }
  });

  test('skills.search: all words, scores, ranks, limits', async (t) => {
    const tree = makeTree(t, {
      'skills/z/SKILL.md': skillText('z', 'Other', 'deploy to KUBERNETES now\n'),
      'skills/m/SKILL.md': skillText('m', 'Deploy kubernetes', 'nothing\n'),
      'skills/deploy-kubernetes/SKILL.md': skillText('x', 'Third', 'nothing\n'),
      'skills/half/SKILL.md': skillText('half', 'deploy only', 'nothing\n'),
      'skills/a/SKILL.md': skillText('a', 'Other', 'kubernetes … deploy\n'),
    });
    const program = await start(t, tree);
    const search = (args: object) => callChecked(program, 'skills.search', args);
    const { structuredContent, content } = await search({ query: ' Deploy\tkubernetes ' });
    const { results, ...rest } = structuredContent;
    assert.deepEqual(rest, { query: ' Deploy\tkubernetes ', limit: 10, total: 4 });
    const hits = results.map(({ name, installName, score }: Answer) => `${name} ${installName} ${score}`);
    assert.deepEqual(hits, ['x deploy-kubernetes 2', 'm m 2', 'a a 2', 'z z 2']);
    assert.match(content[0].text, /^4 skills for /);
    const cut = (await search({ query: 'deploy', limit: 2 })).structuredContent;
    assert.deepEqual([cut.results.length, cut.total], [2, 5]);
  });

  test('Data & Implementation Notes: skills.list and skills.search rescan per call', async (t) => {
    const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a', 'Old words') });
    const program = await start(t, tree, ['--no-refresh']);
    const count = async () => (await program.call('skills.list', {})).structuredContent.skills.length;
    assert.equal(await count(), 1);
    tree.write('skills/b/SKILL.md', skillText('b', 'New', 'hippopotamus\n'));
    tree.write('skills/a/SKILL.md', skillText('a', 'Newer words'));
    const { results } = (await program.call('skills.search', { query: 'hippopotamus' })).structuredContent;
    assert.deepEqual([results.length, results[0].name], [1, 'b']);
    const found = await program.call('skills.list', { query: 'newer' });
    assert.equal(found.structuredContent.skills[0].meta.description, 'Newer words');
    tree.remove('skills/b');
    assert.equal(await count(), 1);
  });

  test('Testing Strategy: a synthetic stdin stream is answered frame by frame', (t) => {
    const frames: readonly object[] = [
      { id: 1, method: 'initialize', params: { protocolVersion: '2025-03-26', capabilities: {} } },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
      { id: 3, method: 'tools/call', params: { name: 'skills.search', arguments: { query: 'rays' } } },
    ];
    const input = frames.map((frame) => `${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`).join('');
    const { stdout, status } = runCommand(makeTree(t, BODIES), ['mcp-server'], {}, input);
    const [first, second, third, ...rest] = stdout.split('\n');
    assert.match(`${first}${second}`, /^\{"jsonrpc":"2\.0","id":1,"result".*\}\{"jsonrpc":"2\.0","id":2,"result"/);
    assert.equal(JSON.parse(third ?? '').result.structuredContent.results[0].name, 'third');
    assert.deepEqual([status, rest], [0, ['']]);
  });

  test('Incremental Refresh: list_changed with a short reason, only after the handshake', async (t) => {
    const tree = makeTree(t, BODIES);
    // The timer is far away: what is noticed here was noticed by the watcher.
    const program = startProgram(t, { tree, args: ['mcp-server', '--refresh-interval', '600000'] });
    await program.waitForStderr(/ready: 3 skills/);
    const add = (name: string) => tree.write(`skills/${name}/SKILL.md`, skillText(name));
    add('early');
    await program.waitForStderr(/changed; 4 skills/);
    await program.request('initialize', { protocolVersion: '2025-03-26', capabilities: {} });
    add('between');
    await program.waitForStderr(/changed; 5 skills/);
    program.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    assert.deepEqual(await program.names(), ['one', 'between', 'third', 'early', 'beta']);
    assert.ok(!program.received.some(({ method }) => method !== undefined));
    add('late');
    await program.waitFor(() => program.notices().length > 0, 'the notice');
    assert.deepEqual(program.notices()[0].params, { _meta: { 'skillwire/reason': 'list changed (watch)' } });
  });
});
