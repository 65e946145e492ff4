/** Names of upstream tools and skills as clients are shown them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { hashOf } from '../../src/text.ts';
import { assertClean, DIRT } from '../harness/clean.ts';
import { startHub, upstream } from '../harness/hub.ts';
import { warnings } from '../harness/listing.ts';
import type { Answer } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const withTools = (...tools: object[]) => upstream(`raw-tools=${JSON.stringify(tools)}`);

test('a clash of safe names sends no call to another server (11.23)', async (t) => {
  const both = { 'my.db': withTools(tool('drop')), my_db: withTools(tool('drop')) };
  const hub = await startHub(t, { my_db: both.my_db }, { args: ['--names', 'safe'] });
  await hub.waitForTools((names) => names.includes('my_db__drop'), 'the first server');
  hub.tree.write('home/.kode.json', JSON.stringify({ mcpServers: both }));
  const hashed = (name: string) => `my_db__drop_${hashOf(name)}`;
  await hub.waitForTools((names) => names.includes(hashed('my.db:drop')), 'the second server');
  assert.ok((await hub.toolNames()).includes(hashed('my_db:drop')));
  const { error } = await hub.request('tools/call', { name: 'my_db__drop', arguments: {} });
  assert.equal(error.code, -32602);
  assert.match(
    error.message,
    /"my_db__drop" is ambiguous; use one of these names: my_db__drop_\w{8}, my_db__drop_\w{8}$/,
  );
  for (const name of ['my.db:drop', 'my_db:drop', hashed('my.db:drop'), hashed('my_db:drop')])
    assert.equal((await hub.call(name, {})).content[0].text, 'ran drop');
});

test('a call to a server that is not connected never goes to another server of a similar name (11.23)', async (t) => {
  const hub = await startHub(
    t,
    { 'my.db': withTools(tool('drop')), my_db: upstream('hang') },
    { args: ['--names', 'safe'] },
  );
  await hub.waitForTools((names) => names.some((name) => name.startsWith('my_db__drop')), 'the first server');
  const { error } = await hub.request('tools/call', { name: 'my_db__drop', arguments: {} });
  assert.match(error.message, /"my_db__drop" is ambiguous/);
});

test('a filter that matches only upstream tools causes no warning before the servers are connected (11.26)', async (t) => {
  const tree = makeTree(t, { 'skills/own/SKILL.md': skillText('own') });
  const hub = await startHub(
    t,
    { up: upstream('slow-start=300') },
    { tree, defaults: true, args: ['--include', 'up:echo', '--include', 'own', '--exclude', 'nowhere*'] },
  );
  await hub.waitForTools((names) => names.includes('up:echo'), 'the server');
  assert.deepEqual(
    warnings(hub, tree.path).filter((line) => line.startsWith('filter')),
    ['filter "nowhere*": matches nothing'],
  );
});

test('a name in includeTools that no tool has is reported as it is written (13.14)', async (t) => {
  const tree = makeTree(t);
  const hub = await startHub(t, { up: { ...upstream(), includeTools: ['echo', 'nope'] } }, { tree });
  await hub.waitForTools((names) => names.includes('up:echo'), 'the server');
  await hub.waitForStderr(/matches nothing/);
  assert.deepEqual(
    warnings(hub, tree.path).filter((line) => line.includes('filter')),
    ['server up: filter "nope": matches nothing'],
  );
});

test('a pattern that names a configured server means that server also while it is not connected, not a skill of that name (11.26)', async (t) => {
  const tree = makeTree(t, { 'skills/up/SKILL.md': skillText('up') });
  const hub = await startHub(t, { up: upstream('hang') }, { tree, defaults: true, args: ['--exclude', 'up'] });
  assert.match(await hub.skill('up'), /^Loading: up\n/);
});

const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** A server that lists skills, and answers nothing else. */
function silentLibrary(count: number) {
  const skills = Array.from({ length: count }, (_, at) => {
    const text = skillText(`s${at}`);
    const uri = `skill://s${at}/SKILL.md`;
    return {
      uri,
      frontmatter: { name: `s${at}`, description: `About s${at}` },
      resources: [{ uri, digest: digest(text), size: text.length }],
    };
  });
  return upstream('resources=[]', `skills=${JSON.stringify(skills)}`, 'silent-reads');
}

test('a silent server delays neither search nor list, which answer with the skills that are known (10.10)', async (t) => {
  const tree = makeTree(t, { 'skills/own/SKILL.md': skillText('own', 'About own', 'The needle\n') });
  const hub = await startHub(t, { up: silentLibrary(3) }, { tree, defaults: true });
  await hub.waitForTools((names) => names.includes('up:echo'), 'the server');
  const start = performance.now();
  const found = await hub.call('skills.search', { query: 'needle' });
  assert.equal(found.structuredContent.total, 1);
  const { structuredContent, content } = await hub.call('skills.list', { includeBody: true });
  assert.ok(performance.now() - start < 8000, 'one after the other they take 30 seconds each time');
  assert.deepEqual(
    structuredContent.skills.map(({ meta, body }: Answer) => [meta.name, body]),
    [
      ['own', 'The needle\n'],
      ['s0', undefined],
      ['s1', undefined],
      ['s2', undefined],
    ],
  );
  // Some hosts show their models only the structured part (13.2).
  const missing = /^3 skills without a body: it could not be read, or not in time$/;
  assert.match(structuredContent.note, missing);
  assert.match(content[0].text.split('\n').at(-1), missing);
  const unsearched = /^3 skills searched by name and description only: the text could not be read, or not in time$/;
  assert.match(found.structuredContent.note, unsearched);
  assert.match(found.content[0].text.split('\n').at(-1), unsearched);
  assert.equal((await hub.call('skills.search', { query: 'about s1' })).structuredContent.total, 1);
});

test('no text that is listed of an upstream server has invisible characters (10.20)', async (t) => {
  const texts = { title: `t${DIRT}`, description: `d${DIRT}\ntwo` };
  const skills = [
    { uri: 'skill://s/SKILL.md', frontmatter: { name: 's', description: `d${DIRT}\ntwo` }, resources: 'dynamic' },
  ];
  const up = upstream(
    `raw-tools=${JSON.stringify([tool(`to${DIRT}ol`, { ...texts, annotations: { title: `a${DIRT}` } })])}`,
    `resources=${JSON.stringify([{ uri: 'file:///x', name: `n${DIRT}`, ...texts, text: 'x' }])}`,
    `templates=${JSON.stringify([{ uriTemplate: 'docs://{x}', name: `n${DIRT}`, ...texts }])}`,
    `skills=${JSON.stringify(skills)}`,
  );
  const hub = await startHub(t, { up });
  const names = await hub.waitForTools((all) => all.includes('up:echo'), 'the server');
  const listed = names.find((name) => /^up:to.*ol$/.test(name)) ?? '';
  for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
    const { result } = await hub.request(method);
    assertClean(method, result);
    const [items = []] = Object.values(result).filter(Array.isArray);
    assert.ok(
      items.some(({ description }: Answer) => /^d.*\ntwo$/.test(description)),
      method,
    );
  }
  assert.match(await hub.description(), /<description>d\[31m two<\/description>/);
  assertClean('skills.list', await hub.call('skills.list', {}));
  assertClean('skills.search', await hub.call('skills.search', { query: 'two' }));
  assertClean('not found', await hub.call('skill', { name: 'nothing' }));
  assertClean('stderr', hub.stderr().split('\n'));
  const safe = `up__to_31mol_${hashOf(listed)}`;
  for (const name of [listed, safe])
    assert.equal((await hub.call(name, {})).content[0].text, `ran to${DIRT}ol`, 'callable under its listed name');
});

test('a name with invisible characters does not get past a filter (10.20)', async (t) => {
  const up = { ...withTools(tool('dr\u200bop'), tool('keep')), exclude: ['keep'] };
  const hub = await startHub(t, { up }, { args: ['--exclude', 'up:drop'] });
  const names = await hub.waitForTools((all) => all.includes('up:echo'), 'the server');
  assert.deepEqual(
    names.filter((name) => /drop|keep/.test(name)),
    [],
  );
  for (const name of ['up:drop', 'up:dr\u200bop']) assert.ok((await hub.request('tools/call', { name })).error, name);
});

test('a server whose name has a slash or a space is served under a changed name (13.14)', async (t) => {
  const servers = { 'io.github.upstash/context7': withTools(tool('docs')), 'GitHub MCP': withTools(tool('drop')) };
  const tree = makeTree(t, { 'mcp.json': JSON.stringify({ servers }) });
  const hub = await startHub(t, {}, { tree, args: ['--config', 'mcp.json', '--exclude', 'GitHub-MCP:dr*'] });
  await hub.waitForTools((names) => names.includes('io.github.upstash-context7:docs'), 'the first server');
  await hub.waitForStderr(/server GitHub-MCP: "GitHub MCP" in its configuration; served under this name, because/);
  await hub.waitForStderr(/server GitHub-MCP: ready/);
  assert.ok(!(await hub.toolNames()).includes('GitHub-MCP:drop'));
  assert.deepEqual(warnings(hub, tree.path), []);
});
