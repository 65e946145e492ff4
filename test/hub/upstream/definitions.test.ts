/** What is listed of upstream servers is valid for every client, whatever they send. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as v2 from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ODD_PROMPTS, ODD_RESOURCES, ODD_SKILLS, ODD_TEMPLATES, ODD_TOOLS } from '../../fixtures/odd.ts';
import { scripted, startHub } from '../../harness/hub.ts';
import { type Answer, type Json, modern, PROGRAM } from '../../harness/program.ts';
import { makeTree, skillText, type Tree } from '../../harness/tree.ts';

const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const MODERN = '2026-07-28';
const SCHEMA = { type: 'object', properties: {} };
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true },
  prompts: { listChanged: true },
  extensions: { 'io.modelcontextprotocol/skills': {} },
};
const LISTS = [
  ['tools/list', 'tools', 'ListToolsResult'],
  ['resources/list', 'resources', 'ListResourcesResult'],
  ['resources/templates/list', 'resourceTemplates', 'ListResourceTemplatesResult'],
  ['prompts/list', 'prompts', 'ListPromptsResult'],
] as const;

/** A hub in front of a server that sends every odd value, and of one that does not. */
function oddServers(t: TestContext): { readonly tree: Tree; readonly servers: Record<string, unknown> } {
  const tree = makeTree(t, { 'skills/ours/SKILL.md': skillText('ours') });
  const odd = scripted(tree, 'odd', {
    modern: true,
    capabilities: CAPABILITIES,
    answers: {
      'tools/list': { tools: ODD_TOOLS },
      'resources/list': { resources: ODD_RESOURCES },
      'resources/templates/list': { resourceTemplates: ODD_TEMPLATES },
      'prompts/list': { prompts: ODD_PROMPTS },
      'skills/list': { skills: ODD_SKILLS },
      'tools/call': { content: [], structuredContent: ['a', 'b'] },
    },
  });
  const good = scripted(tree, 'good', {
    answers: { 'tools/list': { tools: [{ name: 'fine', inputSchema: SCHEMA }] } },
  });
  return { tree, servers: { odd: odd.entry, good: good.entry } };
}

for (const version of [...LEGACY, MODERN]) {
  test(`every list is valid by the official schema of ${version}, whatever an upstream sends (11.15)`, async (t) => {
    const { tree, servers } = oddServers(t);
    const hub = await startHub(t, servers, { tree, version: version === MODERN ? '2025-11-25' : version });
    await hub.waitForTools((names) => names.includes('good:fine') && names.includes('odd:array-output'), 'both');
    const validator = validatorOf(version);
    for (const [method, key, result] of LISTS) {
      const pages = await pagesOf((cursor) => hub.request(method, version === MODERN ? modern(cursor) : cursor));
      for (const page of pages) assert.deepEqual(validator(result, page), []);
      const items: Answer[] = pages.flatMap((page) => page[key]);
      assert.ok(items.length > 40, `${items.length} ${key}`);
      assertVisible(items);
    }
  });
}

test('SDK clients of both generations read every list, whatever an upstream sends (11.15)', async (t) => {
  const { tree, servers } = oddServers(t);
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: servers }));
  const pipes = {
    command: process.execPath,
    args: [PROGRAM, '--hub', '--no-default-dirs', '--no-plugins', '--quiet'],
    cwd: tree.path,
    env: { PATH: process.env.PATH ?? '', HOME: tree.at('home') },
  };
  const v1 = new ClientV1({ name: 'v1', version: '1' });
  await v1.connect(new StdioV1(pipes));
  t.after(() => v1.close());
  const clients: (readonly [string, v2.Client])[] = [];
  for (const mode of ['legacy', { pin: MODERN }] as const) {
    const client = new v2.Client({ name: 'v2', version: '2' }, { versionNegotiation: { mode } });
    await client.connect(new StdioV2(pipes));
    t.after(() => client.close());
    clients.push([JSON.stringify(mode), client]);
  }
  for (const [name, client] of [['v1', v1], ...clients] as const) {
    const namesOf = async () => (await client.listTools()).tools.map((tool) => tool.name);
    let names = await namesOf();
    // On a busy machine the server comes later than the first list.
    for (const end = Date.now() + 30_000; !names.includes('odd:array-output') && Date.now() < end; )
      names = await namesOf();
    for (const wanted of ['skill', 'good:fine', 'odd:array-output', 'odd:title-0', 'odd:inputSchema-215'])
      assert.ok(names.includes(wanted), `${name} is listed ${wanted}`);
    assert.ok(!names.includes('odd:task-only'), `${name} is not listed what it could not call`);
    assert.ok((await client.listResources()).resources.length > 40, name);
    assert.ok((await client.listResourceTemplates()).resourceTemplates.length > 40, name);
    assert.ok(
      (await client.listPrompts()).prompts.some((prompt) => prompt.name === 'odd:last'),
      name,
    );
  }
  const [, pinned] = clients[1] ?? assert.fail();
  const { skills } = await new SkillsClient(pinned).list();
  assert.ok(skills.length > 1);
});

test("structure that a client's protocol version does not define becomes text, in lists and results (11.15)", async (t) => {
  const { tree, servers } = oddServers(t);
  const hub = await startHub(t, servers, { tree });
  await hub.waitForTools((names) => names.includes('odd:array-output'), 'the server');
  const output = (tools: Answer[], name: string) => tools.find((tool) => tool.name === name).outputSchema;
  const old = (await hub.request('tools/list')).result.tools;
  assert.equal(output(old, 'odd:array-output'), undefined);
  assert.deepEqual(output(old, 'odd:object-output'), { type: 'object', properties: { a: { type: 'string' } } });
  const current = (await hub.request('tools/list', modern())).result.tools;
  assert.deepEqual(output(current, 'odd:array-output'), { type: 'array', items: { type: 'string' } });

  assert.deepEqual(await hub.call('odd:array-output', {}), { content: [{ type: 'text', text: '["a","b"]' }] });
  const params = modern({ name: 'odd:array-output', arguments: {} });
  const { result } = await hub.request('tools/call', params);
  assert.deepEqual(result.structuredContent, ['a', 'b']);
  assert.deepEqual(result.content, []);
});

test('a field or item that is left out is reported, short and printable, and not ten thousand times (11.15)', async (t) => {
  const { tree, servers } = oddServers(t);
  const hub = await startHub(t, servers, { tree });
  await hub.waitForTools((names) => names.includes('odd:array-output'), 'the server');
  await hub.waitForStderr(/server odd: and \d+ more like these/);
  const lines = hub
    .stderr()
    .split('\n')
    .filter((line) => line.includes('server odd:'));
  assert.ok(lines.length < 100, `${lines.length} lines`);
  assert.ok(lines.some((line) => /tool "n+…" is left out: its name is over 128 characters/.test(line)));
  for (const line of lines) {
    assert.ok(line.length < 600, line);
    assert.doesNotMatch(line, /[\p{Cc}\p{Cs}\u200b\u202e\ufeff]/u);
  }
});

test('a URI with a lone surrogate is left out alone, and no other server is affected (10.5)', async (t) => {
  const tree = makeTree(t);
  const half = 'half\ud800';
  const file = (base: string) => ({ uri: `${base}/SKILL.md`, digest: `sha256:${'0'.repeat(64)}`, size: 1 });
  const entry = (name: string, base: string) => ({
    uri: `${base}/SKILL.md`,
    frontmatter: { name, description: 'x' },
    resources: [file(base)],
  });
  const bad = scripted(tree, 'bad', {
    capabilities: CAPABILITIES,
    answers: {
      'tools/list': { tools: [{ name: 'kept', inputSchema: SCHEMA, title: null, icons: 5 }] },
      'resources/list': { resources: [`skill:${half}`, half, 'x:fine'].map((uri) => ({ uri, name: 'n' })) },
      'skills/list': {
        skills: [entry(half, `skill://${half}`), entry('pdf', `skill://${half}/pdf`), entry('good', 'skill://good')],
      },
    },
  });
  const good = scripted(tree, 'good', {
    answers: { 'tools/list': { tools: [{ name: 'fine', inputSchema: SCHEMA }] } },
  });
  const hub = await startHub(t, { bad: bad.entry, good: good.entry }, { tree });
  await hub.waitForTools((names) => names.includes('good:fine') && names.includes('bad:kept'), 'both servers');
  const { result } = await hub.request('resources/list');
  assert.deepEqual(
    result.resources.map(({ uri }: { uri: string }) => uri),
    ['skill://bad/good/SKILL.md', 'x:fine'],
  );
  await hub.waitForStderr(/server bad: resource "half.*" is left out: its URI is not Unicode/);
  await hub.waitForStderr(/server bad: tool "kept" is listed without its invalid fields: title, icons/);
  await hub.waitForStderr(/server bad: skill "skill:.*" is left out/);
});

// --- internal ---

type Validate = (definition: string, value: unknown) => readonly string[];

/** The official schema of a revision; gives what is wrong. */
function validatorOf(revision: string): Validate {
  // Seen from .test-build/test/hub.
  const file = fileURLToPath(new URL(`../../../../test/fixtures/schemas/${revision}.json`, import.meta.url));
  const schema = JSON.parse(readFileSync(file, 'utf8'));
  const place = schema.$defs ? '$defs' : 'definitions';
  const ajv = new (schema.$defs ? Ajv2020 : Ajv)({ allErrors: true, strict: false });
  // Letters beyond ASCII stay, as servers write their file names so; RFC 3987 says how they are read.
  ajv.addFormat('uri', (text: string) => URL.canParse(text) && !/[\s\p{C}]/u.test(text));
  ajv.addFormat('uri-template', (text: string) => !/[\s\p{C}]/u.test(text));
  ajv.addFormat('byte', true);
  ajv.addSchema(schema, 'official');
  return (definition, value) => {
    const validate = ajv.getSchema(`official#/${place}/${definition}`) ?? assert.fail(definition);
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

async function pagesOf(ask: (cursor: Json) => Promise<Answer>): Promise<readonly Answer[]> {
  const pages: Answer[] = [];
  for (let cursor: Json = {}; ; ) {
    const { result } = await ask(cursor);
    pages.push(result);
    if (result.nextCursor === undefined) return pages;
    cursor = { cursor: result.nextCursor };
  }
}

/** Names, titles and descriptions, those inside schemas too. */
function assertVisible(items: readonly Answer[]): void {
  for (const { name, title, description, inputSchema, arguments: args = [] } of items)
    for (const text of [name, title, description, inputSchema?.description, ...args.flatMap(Object.values)])
      if (typeof text === 'string') {
        assert.doesNotMatch(text, /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060\ufeff\ud800]|\u{e0041}/u);
        assert.ok(text.length < 40_000);
      }
}
