/** skillwire/hub as a library. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHub } from '../../src/hub/index.ts';
import { createLog } from '../../src/log.ts';
import { fixture, upstream } from '../harness/hub.ts';

test('skillwire/hub alone connects, lists, calls, reads, reports changes and closes', async (t) => {
  const resources = [{ uri: 'file:///a', name: 'a', text: 'of a' }];
  const hub = createHub({
    mcpServers: {
      one: upstream(`resources=${JSON.stringify(resources)}`),
      two: fixture('sdk-v1'),
      bad: { command: 7 },
    },
  });
  t.after(() => hub.close());
  await hub.connect();
  assert.deepEqual(
    hub.status().map(({ name, state }) => [name, state]),
    [
      ['bad', 'failed'],
      ['one', 'ready'],
      ['two', 'ready'],
    ],
  );
  assert.equal(hub.status()[0]?.reason, 'command must be text');
  const progress: unknown[] = [];
  const result = await hub.call(
    'one:slow',
    { ms: 20, steps: 2 },
    { onProgress: ({ progress: at }) => void progress.push(at) },
  );
  assert.deepEqual(result.content, [{ type: 'text', text: 'slow is done' }]);
  assert.deepEqual(progress, [1, 2]);
  assert.deepEqual(
    hub.resources().map(({ uri }) => uri),
    ['file:///a', 'memo://one'],
  );
  assert.deepEqual(await hub.read('file:///a'), { contents: [{ uri: 'file:///a', text: 'of a' }] });
  assert.deepEqual(hub.prompts(), [{ name: 'two:welcome', arguments: [{ name: 'who', required: true }] }]);
  assert.deepEqual(await hub.prompt('two:welcome', { who: 'us' }), {
    messages: [{ role: 'user', content: { type: 'text', text: 'Greet us' } }],
  });
  await assert.rejects(hub.prompt('two:none'), /no prompt is called "two:none"/);
  await assert.rejects(hub.call('one:refuse'), { code: -32099, message: 'refused by the server' });
  await assert.rejects(hub.call('no:tool'), /no tool is called "no:tool"/);
  // Without an environment of its own a hub has ours.
  const { content } = await hub.call('one:env', { name: 'PATH' });
  assert.deepEqual(content, [{ type: 'text', text: process.env.PATH }]);
  const changed = new Promise((done) => hub.on('change', done));
  await hub.call('one:grow', { name: 'more' });
  assert.equal(await changed, 'one');
  assert.ok(hub.tools().some(({ name }) => name === 'one:more'));
  await hub.close();
  assert.deepEqual(hub.tools(), []);
});

test("the SDK's server-everything works behind the hub", async (t) => {
  const { createRequire } = await import('node:module');
  const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const hub = createHub({ mcpServers: { every: { command: process.execPath, args: [entry] } }, env: process.env });
  t.after(() => hub.close());
  await hub.connect();
  assert.equal(hub.status()[0]?.state, 'ready', JSON.stringify(hub.status()));
  assert.ok(hub.tools().length > 5 && hub.resources().length > 0);
  const echoed = await hub.call('every:echo', { message: 'hi' });
  assert.match(JSON.stringify(echoed.content), /hi/);
  const image = await hub.call('every:get-tiny-image', {});
  assert.ok(JSON.stringify(image).includes('"image/png"'));
});

test('a listener that throws harms neither the hub nor the other listeners (11.28)', async (t) => {
  let said = '';
  const log = createLog((line) => (said += line), 'error');
  const hub = createHub({ mcpServers: { one: upstream() }, log });
  t.after(() => hub.close());
  const heard: string[] = [];
  hub.on('change', () => {
    throw new Error('a fault of the caller');
  });
  hub.on('change', (server) => heard.push(server));
  await hub.connect();
  assert.ok(hub.tools().some(({ name }) => name === 'one:echo'));
  assert.ok(heard.includes('one'));
  assert.match(said, /a listener of "change" failed: Error: a fault of the caller/);
});
