/** Resources and skills of upstream servers, through the hub. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import type { Listing } from '../../../src/hub/upstream/listing.ts';
import { resourcesOf, templatesOf } from '../../../src/hub/upstream/resources.ts';
import type { Upstream } from '../../../src/hub/upstream/upstream.ts';
import { EMPTY_LISTING } from '../../../src/hub/upstream/upstream.ts';
import { fixture, startHub, upstream } from '../../harness/hub.ts';
import { modern } from '../../harness/program.ts';
import { startV2Web } from '../../harness/sdk-servers.ts';
import { makeTree, skillText } from '../../harness/tree.ts';

const resource = (uri: string, text = `text of ${uri}`) => ({ uri, name: uri, mimeType: 'text/plain', text });
const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** A server with these resources and skills; `lie` changes what is then read. */
function library(resources: readonly object[], skills: readonly object[] = []) {
  return upstream(
    `resources=${JSON.stringify(resources)}`,
    ...(skills.length > 0 ? [`skills=${JSON.stringify(skills)}`] : []),
  );
}

function entry(name: string, files: Readonly<Record<string, string>>, base = `skill://${name}`) {
  const listed = Object.entries(files).map(([path, text]) => ({
    uri: `${base}/${path}`,
    digest: digest(text),
    size: Buffer.byteLength(text),
  }));
  return { uri: `${base}/SKILL.md`, frontmatter: { name, description: `About ${name}` }, resources: listed };
}

test("resources of upstream servers are listed and read under their own URIs, or the server's when two share one", async (t) => {
  const hub = await startHub(t, {
    a: library([resource('file:///only-a'), resource('file:///both', 'from a')]),
    b: library([resource('file:///both', 'from b'), resource('skill://fake/SKILL.md', 'not a skill')]),
  });
  await hub.waitForTools((names) => names.includes('a:echo') && names.includes('b:echo'), 'both servers');
  const { result } = await hub.request('resources/list');
  const uris = result.resources.map(({ uri }: { uri: string }) => uri);
  assert.deepEqual(uris, [
    'file:///only-a',
    'mcp://a/file%3A%2F%2F%2Fboth',
    'mcp://b/file%3A%2F%2F%2Fboth',
    'mcp://b/skill%3A%2F%2Ffake%2FSKILL.md',
  ]);
  const read = async (uri: string) => (await hub.request('resources/read', { uri })).result;
  assert.deepEqual(await read('file:///only-a'), {
    contents: [{ uri: 'file:///only-a', mimeType: 'text/plain', text: 'text of file:///only-a' }],
  });
  assert.deepEqual(await read('mcp://b/file%3A%2F%2F%2Fboth'), {
    contents: [{ uri: 'mcp://b/file%3A%2F%2F%2Fboth', mimeType: 'text/plain', text: 'from b' }],
  });
  assert.equal((await hub.request('resources/read', { uri: 'file:///both' })).error.code, -32602);
});

test("no server can take the URI of another server's resource, or list one resource twice", async (t) => {
  const both = 'file:///both';
  const taken = `mcp://b/${encodeURIComponent(both)}`;
  const hub = await startHub(t, {
    a: library([resource(both, 'from a'), resource(taken, 'a lie'), resource(both, 'again')]),
    b: library([resource(both, 'from b')]),
  });
  await hub.waitForTools((names) => names.includes('a:echo') && names.includes('b:echo'), 'both servers');
  const { result } = await hub.request('resources/list');
  assert.deepEqual(
    result.resources.map(({ uri }: { uri: string }) => uri),
    [`mcp://a/${encodeURIComponent(both)}`, `mcp://a/${encodeURIComponent(taken)}`, taken],
  );
  const read = await hub.request('resources/read', { uri: taken });
  assert.equal(read.result.contents[0].text, 'from b');
  await hub.waitForStderr(/server a: resource "file:\/\/\/both" is listed twice; the first is served/);
});

test('filters apply to resources and skills of servers as to tools', async (t) => {
  const text = skillText('pdf');
  const hub = await startHub(
    t,
    { a: library([resource('file:///a')], [entry('pdf', { 'SKILL.md': text })]), b: library([resource('file:///b')]) },
    { args: ['--exclude', 'a'] },
  );
  await hub.waitForTools((names) => names.includes('b:echo'), 'the other server');
  const { result } = await hub.request('resources/list');
  assert.deepEqual(
    result.resources.map(({ uri }: { uri: string }) => uri),
    ['file:///b'],
  );
  assert.match(await hub.skill('pdf'), /not found/);
  assert.ok((await hub.request('resources/read', { uri: 'file:///a' })).error);
});

for (const [name, entryOf] of [
  ['stdio', async () => fixture('sdk-v2')],
  ['http', async (t: Parameters<typeof startV2Web>[0]) => ({ url: (await startV2Web(t)).url })],
] as const) {
  test(`an old client gets the skills of a server with the Skills extension (SDK v2, ${name})`, async (t) => {
    const hub = await startHub(t, { up: await entryOf(t) });
    await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
    assert.match(
      await hub.description(),
      /<name>up:greet<\/name>\n<description>Says hello<\/description>\n<location>mcp</,
    );
    const text = '---\nname: greet\ndescription: Says hello\n---\n# Greet\nSee references/a.md\n';
    const header =
      'Loading: up:greet\nBase directory: skill://up/greet\nPath: skill://up/greet/SKILL.md\nLocation: mcp\nProvider: up (MCP)\n\n';
    for (const spelling of ['up:greet', 'greet', 'UP:Greet']) assert.equal(await hub.skill(spelling), header + text);
    const file = await hub.call('skills.read', { name: 'greet', path: 'references/a.md' });
    assert.equal(file.content[0].text, 'hello\n');

    const { result } = await hub.request('skills/list', modern());
    assert.deepEqual(result.skills, [
      {
        uri: 'skill://up/greet/SKILL.md',
        frontmatter: { name: 'greet', description: 'Says hello' },
        resources: [
          { uri: 'skill://up/greet/SKILL.md', digest: digest(text), size: text.length },
          { uri: 'skill://up/greet/references/a.md', digest: digest('hello\n'), size: 6 },
        ],
      },
    ]);
    const read = await hub.request('resources/read', { uri: 'skill://up/greet/references/a.md' });
    assert.equal(read.result.contents[0].text, 'hello\n');
    const listed = await hub.request('resources/directory/read', { uri: 'skill://up/greet' });
    assert.deepEqual(
      listed.result.resources.map(({ uri }: { uri: string }) => uri),
      ['skill://up/greet/SKILL.md', 'skill://up/greet/references'],
    );
    const found = await hub.call('skills.search', { query: 'references hello' });
    assert.equal(found.structuredContent.results[0].meta.name, 'greet');
  });
}

test('bytes of another size or digest than their server lists are never served', async (t) => {
  const good = skillText('good');
  const skills = [
    entry('good', { 'SKILL.md': good, 'other.md': 'as promised' }),
    { ...entry('size', { 'SKILL.md': 'x' }) },
    { ...entry('digest', { 'SKILL.md': skillText('digest') }) },
  ];
  const hub = await startHub(t, {
    up: library(
      [
        resource('skill://good/SKILL.md', good),
        resource('skill://good/other.md', 'AS PROMISED'),
        resource('skill://size/SKILL.md', 'longer'),
        resource('skill://digest/SKILL.md', skillText('digest').toUpperCase()),
      ],
      skills,
    ),
  });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  assert.match(await hub.skill('good'), /# good/);
  assert.match(await hub.skill('size'), /cannot be read: it has 6 bytes where its server lists 1/);
  assert.match(await hub.skill('digest'), /cannot be read: its digest is not the one that its server lists/);
  const other = await hub.call('skills.read', { name: 'good', path: 'other.md' });
  assert.equal(other.isError, true);
  assert.doesNotMatch(JSON.stringify(other), /AS PROMISED/);
  assert.ok((await hub.request('resources/read', { uri: 'skill://up/good/other.md' })).error);
});

test('entries with a wrong URI or path are left out alone, each with its reason', async (t) => {
  const text = skillText('fine');
  const skills = [
    entry('fine', { 'SKILL.md': text }),
    { ...entry('name', { 'SKILL.md': 'x' }), frontmatter: { name: 'another', description: 'd' } },
    {
      uri: 'skill://outside/SKILL.md',
      frontmatter: { name: 'outside', description: 'd' },
      resources: [{ uri: 'skill://fine/SKILL.md', digest: digest(''), size: 0 }],
    },
    entry('up', { 'SKILL.md': 'x', '../../etc/passwd': 'x' }),
    entry('dots', { 'SKILL.md': 'x', '%2e%2e/x': 'x' }),
    { uri: 'skill://nothing/SKILL.md', frontmatter: { name: 'nothing', description: 'd' }, resources: [] },
    { uri: 'skill://plain', frontmatter: {}, resources: 'dynamic' },
  ];
  const hub = await startHub(t, { up: library([resource('skill://fine/SKILL.md', text)], skills) });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  assert.deepEqual(
    [...(await hub.description()).matchAll(/<name>(.*?)<\/name>/g)].map(([, name]) => name),
    ['up:fine'],
  );
  await hub.waitForStderr(/skill "skill:\/\/name\/SKILL\.md" is left out: its uri does not end with its name/);
  await hub.waitForStderr(/skill "skill:\/\/outside\/SKILL\.md" is left out: it lists a file outside its directory/);
  await hub.waitForStderr(/skill "skill:\/\/up\/SKILL\.md" is left out: it has an invalid path/);
  await hub.waitForStderr(/skill "skill:\/\/dots\/SKILL\.md" is left out: it has an invalid path/);
  await hub.waitForStderr(/skill "skill:\/\/nothing\/SKILL\.md" is left out: its SKILL\.md is not among its files/);
});

test("a local skill keeps its bare name; a server's skill of that name is loaded by its full name", async (t) => {
  const tree = makeTree(t, { 'mine/pdf/SKILL.md': skillText('pdf', 'My own') });
  const text = skillText('pdf', 'Theirs');
  const skills = [entry('pdf', { 'SKILL.md': text })];
  const hub = await startHub(
    t,
    { up: library([resource('skill://pdf/SKILL.md', text)], skills) },
    { tree, args: ['--skill-dir', 'mine'] },
  );
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  assert.match(await hub.skill('pdf'), /description: My own/);
  assert.match(await hub.skill('up:pdf'), /description: Theirs/);
});

test('a server that cannot list its resources still serves its tools', async (t) => {
  const hub = await startHub(t, { up: upstream('resources=broken') });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  await hub.waitForStderr(/server up: resources\/list failed: /);
});

for (const [what, uri] of [
  ['a resource', 'file:///a'],
  ['what a template stands for', 'note://7'],
] as const) {
  test(`${what} whose server asks for input passes the request on, or gives a clear error (11.22)`, async (t) => {
    const templates = `templates=${JSON.stringify([{ uriTemplate: 'note://{id}', name: 'n' }])}`;
    const resources = `resources=${JSON.stringify([resource('file:///a')])}`;
    const hub = await startHub(t, { one: upstream('modern', 'asks-on-read', templates, resources) });
    await hub.waitForTools((names) => names.includes('one:echo'), 'its tools');
    const refused = await hub.request('resources/read', { uri });
    assert.match(refused.error?.message ?? JSON.stringify(refused), /input_required.*later protocol version/);
    const asked = await hub.request('resources/read', modern({ uri }));
    assert.equal(asked.result.resultType, 'input_required');
    assert.deepEqual(Object.keys(asked.result.inputRequests), ['who']);
    const { requestState } = asked.result;
    const inputResponses = { who: { action: 'accept' } };
    const { result } = await hub.request('resources/read', modern({ uri, requestState, inputResponses }));
    assert.equal(result.contents[0].text, 'opaque {"who":{"action":"accept"}}');
  });
}

for (const server of ['claude', 'Codex', 'agents', 'custom']) {
  const provider = server.toLowerCase();

  test(`a skill of a server called ${server} never has the name or URI of a skill of that provider`, async (t) => {
    const directory = provider === 'custom' ? 'skills' : `home/.${provider}/skills`;
    const tree = makeTree(t, { [`${directory}/pdf/SKILL.md`]: skillText('pdf', 'Local') });
    const text = skillText('pdf', 'Upstream');
    const up = library([resource('skill://pdf/SKILL.md', text)], [entry('pdf', { 'SKILL.md': text })]);
    const hub = await startHub(t, { [server]: up }, { tree, defaults: true });
    await hub.waitForTools((names) => names.includes(`${server}:echo`), 'its tools');
    const ofServer = async () => {
      assert.match(await hub.skill(`${server}@mcp:pdf`), /^description: Upstream$/m);
      const { result } = await hub.request('resources/read', { uri: `skill://${server}%40mcp/pdf/SKILL.md` });
      assert.equal(result.contents[0].text, text);
    };
    const uri = `skill://${provider}/pdf/SKILL.md`;
    assert.match(await hub.skill(`${provider}:pdf`), /^description: Local$/m);
    assert.match((await hub.request('resources/read', { uri })).result.contents[0].text, /Local/);
    await ofServer();
    rmSync(tree.at(`${directory}/pdf`), { recursive: true });
    await hub.call('skills.list', {});
    assert.match(await hub.skill(`${provider}:pdf`), /not found/);
    assert.equal((await hub.request('resources/read', { uri })).error.code, -32602);
    await ofServer();
  });
}

test('a filter with the name of a server that is also a provider applies to the skills of both', async (t) => {
  const tree = makeTree(t, { 'home/.claude/skills/local/SKILL.md': skillText('local') });
  const claude = library([], [entry('pdf', { 'SKILL.md': skillText('pdf') })]);
  const args = ['--exclude', 'claude'];
  const hub = await startHub(t, { claude, other: upstream() }, { tree, defaults: true, args });
  await hub.waitForTools((names) => names.includes('other:echo'), 'the other server');
  for (const name of ['pdf', 'claude@mcp:pdf', 'local']) assert.match(await hub.skill(name), /not found/);
});

test('a URI or template of a server that is away is not read from another server', () => {
  const template = (uriTemplate: string) => ({ uriTemplate, name: uriTemplate });
  const listing = {
    ...EMPTY_LISTING,
    resources: [{ uri: 'file:///shared', name: 'shared' }],
    templates: [template('db://main/{t}')],
  };
  const general = { ...listing, templates: [template('db://main/{t}'), template('db://{+any}')] };
  const stub = (name: string, now: Listing, reserved = now) =>
    ({ config: { name }, listing: () => now, reservedListing: () => reserved }) as unknown as Upstream;
  for (const prod of [stub('prod', listing), stub('prod', EMPTY_LISTING, listing)]) {
    const upstreams = [prod, stub('staging', general)];
    const uris = resourcesOf(upstreams).map(({ definition }) => definition.uri);
    assert.ok(uris.includes('mcp://staging/file%3A%2F%2F%2Fshared'));
    assert.ok(!uris.includes('file:///shared'));
    const reader = (uri: string) => templatesOf(upstreams).find((one) => one.matches(uri))?.server;
    assert.notEqual(reader('db://main/users'), 'staging');
    assert.equal(reader('db://other/users'), 'staging');
  }
});
