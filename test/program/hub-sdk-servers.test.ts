/** The hub in front of servers made with the official SDKs, over every transport they have. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fixture, startHub } from '../harness/hub.ts';
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
