/** Calls over HTTP reach their server once, whatever else goes wrong around them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../harness/hub.ts';
import { connectTo, startLegacyWeb } from '../harness/legacy-web.ts';

const DONE = { content: [{ type: 'text', text: 'done' }] };
const outcome = (call: Promise<unknown>) => call.catch(String);

for (const status of [404, 400]) {
  test(`a call whose stream is refused with ${status} when it is taken up again is not sent again (11.16)`, async (t) => {
    const web = await startLegacyWeb(t, ({ method, verb, request, response, json }) => {
      if (method === 'tools/call') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\nretry: 0\ndata:\n\n');
        return true;
      }
      if (verb !== 'GET' || request.headers['last-event-id'] === undefined) return false;
      json(status, { id: null, error: { code: -32000, message: 'no such stream' } });
      return true;
    });
    const hub = await connectTo(t, { url: web.url });
    assert.match(String(await outcome(hub.call('up:one'))), /could not be resumed: HTTP 40/);
    assert.equal(web.count('tools/call'), 1);
    // The session was never in doubt.
    assert.equal(web.count('initialize'), 1);
  });
}

test('a call whose server is gone when its stream is taken up again is not sent again (11.16)', async (t) => {
  let calls = 0;
  const web = await startLegacyWeb(t, ({ method, response }, { stop }) => {
    if (method !== 'tools/call') return false;
    calls += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 1\nretry: 0\ndata:\n\n');
    setTimeout(stop, 20);
    return true;
  });
  const hub = await connectTo(t, { url: web.url });
  const call = outcome(hub.call('up:one'));
  await eventually(() => calls === 1, 'the call');
  const again = await eventuallyListening(t, web.url);
  assert.match(String(await call), /could not be resumed: .*ECONNREFUSED/);
  // Whoever is there by now has not been asked.
  assert.equal(again.count('tools/call'), 0);
});

/** The same address, once more: after the hub has met nobody there. */
async function eventuallyListening(t: Parameters<typeof startLegacyWeb>[0], url: string) {
  await new Promise((done) => setTimeout(done, 300));
  return startLegacyWeb(t, () => false, {}, Number(new URL(url).port));
}

for (const [what, disturb] of [
  ['a second call', (hub) => outcome(hub.call('up:two'))],
  ['a ping', () => undefined],
  [
    'a cancelling',
    (hub) => {
      const control = new AbortController();
      setTimeout(() => control.abort(), 50);
      return outcome(hub.call('up:two', {}, { signal: control.signal }));
    },
  ],
] as const satisfies readonly (readonly [
  string,
  (hub: Awaited<ReturnType<typeof connectTo>>) => Promise<unknown> | undefined,
])[]) {
  test(`a call goes on, and is not sent again, when ${what} of its session is refused with 404 (11.16)`, async (t) => {
    let finish = () => {};
    const tools = ['one', 'two'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    const web = await startLegacyWeb(
      t,
      ({ method, params, id, session, response, json }) => {
        if (method === 'tools/call' && params.name === 'one') {
          finish = () => json(200, { id, result: DONE });
          return true;
        }
        const isHanging = what === 'a cancelling' && method === 'tools/call';
        const isRefused = session === 'session-1' && !['initialize', 'tools/list'].includes(method) && !isHanging;
        if (isRefused && finishable()) response.writeHead(404).end();
        return (isRefused && finishable()) || isHanging;
      },
      { 'tools/list': { tools } },
    );
    const finishable = () => web.count('tools/call') > 0;
    const hub = await connectTo(t, { url: web.url }, { healthInterval: what === 'a ping' ? 50 : 30_000 });
    const call = outcome(hub.call('up:one'));
    await eventually(finishable, 'the call');
    await disturb(hub);
    if (what === 'a cancelling') {
      await eventually(() => web.count('notifications/cancelled') === 1, 'the cancelling');
      // What follows from its refusal, if anything does, comes a moment later.
      await new Promise((done) => setTimeout(done, 100));
    }
    if (what === 'a ping') await eventually(() => web.count('initialize') === 2, 'a new session');
    finish();
    assert.deepEqual(await call, DONE);
    assert.equal(web.exchanges.filter(({ params }) => params.name === 'one').length, 1);
  });
}

test('a call answered with 404 and an error for it is answered, and not sent again (11.16)', async (t) => {
  const web = await startLegacyWeb(t, ({ method, id, json }) => {
    if (method !== 'tools/call') return false;
    json(404, { id, error: { code: -32099, message: 'no such row', data: { row: 7 } } });
    return true;
  });
  const hub = await connectTo(t, { url: web.url });
  await assert.rejects(hub.call('up:one'), { code: -32099, message: 'no such row', data: { row: 7 } });
  assert.equal(web.count('tools/call'), 1);
  assert.equal(web.count('initialize'), 1);
});

test('a call refused as of an unknown session is sent once more, and only once (11.16)', async (t) => {
  const web = await startLegacyWeb(t, ({ method, session, response }) => {
    const isKnown = ['', 'initialize', 'tools/list'].includes(method) || method.startsWith('notifications/');
    if (isKnown || session === '') return false;
    response.writeHead(404).end();
    return true;
  });
  const hub = await connectTo(t, { url: web.url });
  assert.match(String(await outcome(hub.call('up:one'))), /HTTP 404/);
  assert.equal(web.count('tools/call'), 2);
});

test('a call is not sent again because another one found nobody (11.16)', async (t) => {
  let finish = () => {};
  const tools = ['one', 'two'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const web = await startLegacyWeb(
    t,
    ({ method, params, id, json }) => {
      if (method !== 'tools/call' || params.name !== 'one') return false;
      finish = () => json(200, { id, result: DONE });
      return true;
    },
    { 'tools/list': { tools } },
  );
  const hub = await connectTo(t, { url: web.url });
  const call = outcome(hub.call('up:one'));
  await eventually(() => web.count('tools/call') === 1, 'the call');
  // It takes no new connections, as servers do that are about to leave, and finishes what it has begun.
  web.server.close();
  web.server.closeIdleConnections();
  // The hub must have seen that its idle connections are closed, or it would send into one of them.
  await new Promise((done) => setTimeout(done, 100));
  const second = outcome(hub.call('up:two'));
  await eventually(() => hub.status()[0]?.state !== 'ready', 'the hub to notice');
  finish();
  assert.deepEqual(await call, DONE);
  assert.match(String(await second), /not connected/);
  assert.equal(web.count('tools/call'), 1);
});
