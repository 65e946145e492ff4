import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHub } from '../../src/hub/index.ts';
import { createLog } from '../../src/log.ts';
import { upstream } from '../harness/hub.ts';

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
