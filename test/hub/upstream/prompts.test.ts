/** Prompts of upstream servers, as clients of both eras see them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERAS } from '../../harness/host.ts';
import { promptNames, scripted, startHub, upstream, waitForPrompts } from '../../harness/hub.ts';
import { type Answer, modern } from '../../harness/program.ts';
import { makeTree, skillText } from '../../harness/tree.ts';

const withPrompts = (prompts: readonly object[], ...traits: string[]) =>
  upstream(`prompts=${JSON.stringify(prompts)}`, ...traits);

const REVIEW = {
  name: 'review',
  title: 'Review',
  description: 'Reviews code',
  arguments: [{ name: 'file', description: 'Which', required: true }, { name: 'depth' }],
  _meta: { 'test/kept': 1 },
};

for (const server of ['legacy', 'modern'])
  for (const [era, speak] of ERAS) {
    test(`the prompts of a ${server} server are listed whole and got by a ${era} client`, async (t) => {
      const hub = await startHub(t, { up: withPrompts([REVIEW], server) });
      const ask = speak(hub);
      assert.deepEqual((await ask('prompts/list')).result.prompts, [{ ...REVIEW, name: 'up:review' }]);
      const params = { name: 'up:review', arguments: { file: 'a.ts' }, _meta: { kept: 'yes' } };
      const sent = era === 'modern' ? { ...modern(params), _meta: { ...params._meta, ...meta() } } : params;
      const { result } = await hub.request('prompts/get', sent);
      assert.equal(result.description, 'D');
      assert.deepEqual(JSON.parse(result.messages[0].content.text), { name: 'review', args: { file: 'a.ts' } });
      assert.equal(result._meta.kept, 'yes');
      assert.equal((await ask('prompts/get', { name: 'up:nothing' })).error.code, -32602);
      assert.equal((await ask('prompts/get', { name: 'up:review', arguments: 'a' })).error.code, -32602);
    });
  }

const meta = () => modern()._meta as object;

for (const server of ['legacy', 'modern'])
  test(`a prompt that a ${server} server adds is announced`, async (t) => {
    const hub = await startHub(t, { up: withPrompts([REVIEW], server) });
    await waitForPrompts(hub, (names) => names.includes('up:review'));
    await hub.call('up:grow', { prompt: { name: 'more' } });
    await waitForPrompts(hub, (names) => names.includes('up:more'));
    assert.ok(
      !hub.received.some(({ method }) => method === 'notifications/tools/list_changed'),
      'only prompts changed',
    );
  });

test('a host that takes only plain characters is shown such names of prompts, and every spelling is got', async (t) => {
  const hub = await startHub(t, { 'my.up': withPrompts([{ name: 're view' }, { name: 'a' }]) });
  const { result } = await hub.request('prompts/list', modern({}, 'claude-code'));
  const names = result.prompts.map(({ name }: Answer) => name);
  assert.equal(names[0], 'my_up__a');
  assert.match(names[1], /^my_up__re_view_[0-9a-f]{8}$/);
  for (const name of [...names, 'my.up:a', 'my.up:re view'])
    assert.ok((await hub.request('prompts/get', modern({ name }, 'claude-code'))).result, name);
});

test('filters, shared and of the server, apply to prompts in list and get', async (t) => {
  const prompts = ['keep', 'drop', 'hide'].map((name) => ({ name }));
  const up = { ...withPrompts(prompts), exclude: ['hide'] };
  const hub = await startHub(t, { up, other: withPrompts([{ name: 'x' }]) }, { args: ['--exclude', 'up:drop,other'] });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  assert.deepEqual(await promptNames(hub), ['up:keep']);
  for (const name of ['up:drop', 'up:hide', 'up__drop', 'other:x'])
    assert.equal((await hub.request('prompts/get', { name })).error.code, -32602, name);
  assert.doesNotMatch(hub.stderr(), /matches nothing/);
});

test('a prompt that clients cannot read is left out or mended, alone and with a reason', async (t) => {
  const prompts = [
    REVIEW,
    { name: 7 },
    { name: '\u200b' },
    { name: 'x'.repeat(129) },
    { name: 'args', arguments: [{ description: 'no name' }] },
    { name: 'odd', title: 5, description: null, arguments: [{ name: 'a', required: 'yes', title: 3 }] },
    { name: 're\u200bview' },
  ];
  const hub = await startHub(t, { up: withPrompts(prompts) });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  assert.deepEqual((await hub.request('prompts/list')).result.prompts, [
    { name: 'up:args' },
    { name: 'up:odd', arguments: [{ name: 'a' }] },
    { ...REVIEW, name: 'up:review' },
  ]);
  for (const reason of [
    /prompt without a name is left out: it has no name/,
    /is left out: its name has no visible characters/,
    /is left out: its name is over 128 characters/,
    /prompt "args" is listed without its invalid fields: arguments/,
    /prompt "odd" is listed without its invalid fields: title, description/,
    /prompt "re.*view" is listed twice; the first is served/,
  ])
    await hub.waitForStderr(reason);
});

test('a skill keeps its name: a prompt of the same name is left out, with a reason', async (t) => {
  const skill = {
    uri: 'skill://pdf/SKILL.md',
    frontmatter: { name: 'pdf', description: 'Skill' },
    resources: 'dynamic',
  };
  const up = withPrompts([{ name: 'pdf' }, { name: 'other' }], `skills=${JSON.stringify([skill])}`);
  const hub = await startHub(t, { up });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  const { prompts } = (await hub.request('prompts/list')).result;
  assert.deepEqual(
    prompts.map(({ name, description }: Answer) => [name, description]),
    [
      ['up:other', undefined],
      ['up:pdf', 'Skill'],
    ],
  );
  await hub.waitForStderr(/server up: 1 prompt left out: a skill, .* has the same name \(the first: up:pdf\)/);
});

test('a prompt of a server called claude never has the name of a skill of that provider', async (t) => {
  const tree = makeTree(t, { 'home/.claude/skills/pdf/SKILL.md': skillText('pdf', 'Local') });
  const args = ['--exclude', 'claude:hidden'];
  const claude = withPrompts([{ name: 'pdf' }, { name: 'hidden' }]);
  const hub = await startHub(t, { claude }, { tree, defaults: true, args });
  assert.deepEqual(await waitForPrompts(hub, (names) => names.length > 1), ['claude@mcp:pdf', 'pdf']);
  const textOf = async (name: string) => (await hub.request('prompts/get', { name })).result.messages[0].content.text;
  assert.match(await textOf('claude:pdf'), /description: Local/);
  assert.match(await textOf('claude@mcp:pdf'), /"name":"pdf"/);
});

test('a prompt whose server asks for input passes the request on, or gives a clear error', async (t) => {
  const hub = await startHub(t, { up: withPrompts([REVIEW], 'modern', 'asks-on-read') });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  const name = 'up:review';
  assert.match((await hub.request('prompts/get', { name })).error.message, /input_required.*later protocol version/);
  const asked = await hub.request('prompts/get', modern({ name }));
  assert.equal(asked.result.resultType, 'input_required');
  const { requestState } = asked.result;
  const { result } = await hub.request('prompts/get', modern({ name, requestState, inputResponses: { who: 1 } }));
  const { inputResponses } = JSON.parse(result.messages[0].content.text);
  assert.deepEqual(inputResponses, { who: 1 });
});

test('a prompt whose server is gone, or answers nonsense, is an error that says so', async (t) => {
  const hub = await startHub(t, { up: withPrompts([{ name: 'hollow' }]), gone: upstream('exit=7') });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  const hollow = await hub.request('prompts/get', { name: 'up:hollow' });
  assert.match(hollow.error.message, /up:hollow could not be got: the messages of its result are not a list/);
  await hub.waitForStderr(/server gone: failed/);
  const { error } = await hub.request('prompts/get', { name: 'gone:any' });
  assert.match(error.message, /the server of "gone:any" is not connected \(.*exited with code 7/);
});

test('when prompts cannot be listed once, the last list is kept; other lists do not suffer', async (t) => {
  const tree = makeTree(t);
  const error = { error: { code: -32603, message: 'not now' } };
  const up = scripted(tree, 'up', {
    capabilities: { tools: { listChanged: true }, prompts: { listChanged: true } },
    answers: {
      'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
      'prompts/list': [{ prompts: [{ name: 'a' }] }, error, { prompts: [{ name: 'b' }] }],
    },
    after: { 'prompts/list': ['notifications/prompts/list_changed'] },
  });
  const hub = await startHub(t, { up: up.entry }, { tree });
  await waitForPrompts(hub, (names) => names.includes('up:a'));
  await hub.waitForStderr(/server up: prompts\/list failed, the last list is kept: not now/);
  assert.ok((await hub.toolNames()).includes('up:one'));
  await waitForPrompts(hub, (names) => names.includes('up:b'));
});

test('--no-prompts leaves the prompts of servers out too', async (t) => {
  const hub = await startHub(t, { up: withPrompts([REVIEW]) }, { args: ['--no-prompts'] });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  for (const method of ['prompts/list', 'prompts/get']) assert.equal((await hub.request(method)).error.code, -32601);
});
