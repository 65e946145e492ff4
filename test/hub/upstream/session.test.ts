/** Health checks and subscriptions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, legacy } from '../../harness/http-handlers.ts';
import { eventually, startHub, upstream } from '../../harness/hub.ts';
import { connectTo, startLegacyWeb, TOOL } from '../../harness/legacy-web.ts';
import { startUpstreamWeb } from '../../harness/sdk-servers.ts';

const DONE = { content: [{ type: 'text', text: 'done' }] };

const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

test('a health check that is refused has failed', async (t) => {
  const web = await startUpstreamWeb(
    t,
    legacy((method, _request, response) => {
      if (method !== 'ping') return false;
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"who are you?"}}');
      return true;
    }),
  );
  const hub = await connect(t, { url: web.url }, { healthInterval: 50 });
  await eventually(() => /health check failed: HTTP 400/.test(hub.status()[0]?.reason ?? ''), 'the failure');
});

test('a subscription that ends at once is not renewed every second (11.24)', async (t) => {
  let listens = 0;
  let lists = 0;
  const web = await startUpstreamWeb(t, async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method } = JSON.parse(text);
    if (method === 'subscriptions/listen') listens += 1;
    if (method === 'tools/list') lists += 1;
    const results: Record<string, object> = {
      'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } } },
      'tools/list': { tools: [TOOL] },
      'subscriptions/listen': {},
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...results[method] } }));
  });
  await connectTo(t, { url: web.url });
  await wait(4500);
  assert.ok(listens >= 2 && listens <= 3, `${listens} subscriptions`);
  assert.ok(lists <= 3, `${lists} lists`);
});

test('a server that is busy with a call is not closed for a missed ping (11.17)', async (t) => {
  let isBusy = false;
  const web = await startLegacyWeb(t, async ({ method, id, json }) => {
    if (method === 'ping') return isBusy;
    if (method !== 'tools/call') return false;
    isBusy = true;
    await wait(800);
    isBusy = false;
    json(200, { id, result: DONE });
    return true;
  });
  const hub = await connectTo(t, { url: web.url }, { healthInterval: 100 });
  assert.deepEqual(await hub.call('up:one'), DONE);
  assert.ok(web.count('ping') >= 2);
  assert.equal(web.count('initialize'), 1);
  assert.equal(hub.status()[0]?.state, 'ready');
});

test('a child that is busy with a call is not closed for a missed ping (11.17)', async (t) => {
  const hub = await startHub(t, { one: upstream('busy') }, { args: ['--health-interval', '200'] });
  await hub.waitForTools((names) => names.includes('one:busy'), 'its tools');
  assert.equal((await hub.call('one:busy', { ms: 1500 })).content[0].text, 'was busy');
  assert.doesNotMatch(hub.stderr(), /disconnected/);
});

test('a call to a silent server ends with its own timeout, and the server is closed then (11.17)', async (t) => {
  const deaf = { ...upstream('deaf-after-start'), timeout: 700 };
  const hub = await startHub(t, { one: deaf }, { args: ['--health-interval', '100'] });
  await hub.waitForTools((names) => names.includes('one:echo'), 'its tools');
  const { content } = await hub.call('one:echo', {});
  assert.match(content[0].text, /no answer to tools\/call within 700 ms/);
  await hub.waitForStderr(/server one: disconnected: health check failed/);
});

test('a server that responds to a ping with 429 is alive (11.17)', async (t) => {
  const web = await startLegacyWeb(t, ({ method, response }) => {
    if (method === 'ping') response.writeHead(429).end();
    return method === 'ping';
  });
  const hub = await connectTo(t, { url: web.url }, { healthInterval: 400 });
  await eventually(() => web.count('ping') >= 4, 'some pings');
  assert.equal(hub.status()[0]?.state, 'ready');
  assert.equal(web.count('initialize'), 1);
});

test('a list that is refused with 429 is kept, and requested again later (11.17)', async (t) => {
  let isLimited = false;
  const web = await startLegacyWeb(t, ({ method, verb, stream, event, response }) => {
    if (verb === 'GET') {
      stream();
      setTimeout(() => {
        isLimited = true;
        event({ method: 'notifications/tools/list_changed' });
      }, 50);
      return true;
    }
    if (method !== 'tools/list' || !isLimited) return false;
    response.writeHead(429).end();
    return true;
  });
  const hub = await connectTo(t, { url: web.url });
  await eventually(() => web.count('tools/list') === 2, 'the second list');
  await wait(100);
  assert.equal(hub.tools().length, 1);
  assert.equal(hub.status()[0]?.state, 'ready');
});

test('a change before the stream of notifications is open is seen', async (t) => {
  const tools = [TOOL];
  const web = await startLegacyWeb(t, async ({ verb, method, id, json, stream }) => {
    if (verb === 'GET') {
      await wait(1000);
      stream();
      return true;
    }
    if (method !== 'tools/list') return false;
    json(200, { id, result: { tools: [...tools] } });
    tools.push({ ...TOOL, name: `more-${tools.length}` });
    return true;
  });
  const hub = await connectTo(t, { url: web.url });
  await eventually(() => hub.tools().length >= 2, 'the second list');
});
