/** The hub in front of servers made with the official SDKs, over every transport they have. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ERAS } from '../harness/host.ts';
import { fixture, startHub, waitForPrompts } from '../harness/hub.ts';
import { type Answer, modern } from '../harness/program.ts';
import { startV1Web, startV2Web } from '../harness/sdk-servers.ts';

interface Kind {
  readonly name: string;
  readonly protocol: string;
  /** What `echo` puts before its text. */
  readonly lead: string;
  entry(t: TestContext): Promise<object>;
}

const KINDS: readonly Kind[] = [
  { name: 'v1 stdio', protocol: '2025-11-25', lead: '', entry: async () => fixture('sdk-v1') },
  {
    name: 'v1 http',
    protocol: '2025-11-25',
    lead: '',

    entry: async (t) => ({ type: 'http', url: (await startV1Web(t)).url }),
  },
  {
    name: 'v1 sse',
    protocol: '2025-11-25',
    lead: '',

    entry: async (t) => ({ type: 'sse', url: (await startV1Web(t)).at('/sse') }),
  },
  {
    name: 'v1 sse, not said to be',
    protocol: '2025-11-25',
    lead: '',

    entry: async (t) => ({ url: (await startV1Web(t)).at('/sse') }),
  },
  { name: 'v2 stdio', protocol: '2026-07-28', lead: 'modern ', entry: async () => fixture('sdk-v2') },
  {
    name: 'v2 http',
    protocol: '2026-07-28',
    lead: 'modern ',

    entry: async (t) => ({ type: 'http', url: (await startV2Web(t)).url }),
  },
];

for (const { name, protocol, lead, entry } of KINDS) {
  test(`a server of ${name} is recognized, listed, called, and its notifications are received`, async (t) => {
    const hub = await startHub(t, { up: await entry(t) }, { args: ['--log-level', 'debug'] });
    await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
    await hub.waitForStderr(new RegExp(`\\[up\\] protocol ${protocol}`));
    assert.equal((await hub.call('up:echo', { text: 'hi' })).content[0].text, `${lead}hi`);
    await hub.call('up:grow', {});
    await hub.waitForTools((names) => names.includes('up:grown'), 'the new tool');
    assert.equal(await hub.end(), 0);
  });
}

for (const { name, entry } of KINDS)
  for (const [era, speak] of ERAS)
    test(`a ${era} client uses prompts, completion, log messages and subscriptions of a server of ${name}`, async (t) => {
      const hub = await startHub(t, { up: await entry(t) });
      await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
      const ask = speak(hub);
      const call = (tool: string, text: string, level?: string) => {
        const params = { name: `up:${tool}`, arguments: { text } };
        if (era === 'legacy') return ask('tools/call', params);
        const { _meta } = modern() as { _meta: object };
        const asked = level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level };
        return hub.request('tools/call', { ...params, _meta: { ..._meta, ...asked } });
      };
      await waitForPrompts(hub, (names) => names.includes('up:welcome'));
      const got = await ask('prompts/get', { name: 'up:welcome', arguments: { who: 'bob' } });
      assert.equal(got.result.messages[0].content.text, 'Greet bob');
      const ref = { type: 'ref/prompt', name: 'up:welcome' };
      const completed = await ask('completion/complete', { ref, argument: { name: 'who', value: 'a' } });
      assert.deepEqual(completed.result.completion.values, ['anna']);

      await call('log', 'unasked');
      if (era === 'legacy') await ask('logging/setLevel', { level: 'info' });
      await call('log', 'asked', 'info');
      const messages = hub.received.filter(({ method }) => method === 'notifications/message');
      assert.deepEqual(
        messages.map(({ params }) => [params.level, params.logger.slice(0, 4), params.data]),
        [['info', 'up:v', { said: 'asked' }]],
      );

      const isUpdate = ({ method, params }: Answer) =>
        method === 'notifications/resources/updated' && params.uri === 'memo://one';
      if (era === 'legacy') assert.deepEqual((await ask('resources/subscribe', { uri: 'memo://one' })).result, {});
      else {
        const params = modern({ notifications: { resourceSubscriptions: ['memo://one'], promptsListChanged: true } });
        hub.send({ jsonrpc: '2.0', id: 'sub', method: 'subscriptions/listen', params });
        await hub.waitFor(({ method }) => /acknowledged/.test(method), 'the acknowledgement');
      }
      await call('touch', '');
      await hub.waitFor(isUpdate, 'the update');
      await call('grow', 'prompt');
      await waitForPrompts(hub, (names) => names.includes('up:grown'));
      assert.equal(await hub.end(), 0);
    });

for (const kind of KINDS.filter(({ name }) => name.startsWith('v1')))
  test(`a message that a server of ${kind.name} logs outside of calls reaches a client that set a level`, async (t) => {
    const hub = await startHub(t, { up: await kind.entry(t) });
    await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
    await hub.request('logging/setLevel', { level: 'info' });
    await hub.call('up:log-later', { text: 'late' });
    await hub.waitFor(({ method, params }) => /message/.test(method) && params.data.said === 'late', 'the message');
  });

test('values of a template of a server come from the server', async (t) => {
  const hub = await startHub(t, { up: fixture('sdk-v2') });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  const ref = { type: 'ref/resource', uri: 'note://{year}/{title}' };
  const { result } = await hub.request('completion/complete', { ref, argument: { name: 'year', value: '2026' } });
  assert.deepEqual(result.completion.values, ['2026']);
});

test('an HTTP session that the server has forgotten is replaced, and the call is answered', async (t) => {
  const web = await startV1Web(t);
  const hub = await startHub(t, { up: { type: 'http', url: web.url } });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  web.sessions.clear();
  assert.equal((await hub.call('up:echo', { text: 'again' })).content[0].text, 'again');
});

test('progress and sessions work over HTTP and SSE as over stdio', async (t) => {
  const web = await startV1Web(t);
  const hub = await startHub(t, { http: { url: web.url }, sse: { type: 'sse', url: web.at('/sse') } });
  await hub.waitForTools((names) => names.includes('http:slow') && names.includes('sse:slow'), 'its tools');
  for (const name of ['http', 'sse']) {
    const params = { name: `${name}:slow`, arguments: {}, _meta: { progressToken: name } };
    assert.equal((await hub.request('tools/call', params)).result.content[0].text, 'done');
    await hub.waitFor(({ params: report }) => report?.progressToken === name && report.progress === 1, 'progress');
  }
});
