/** The state of a server in errors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHub } from '../../../src/hub/index.ts';

test('a call to a server that is not tried again soon fails at once, with its state (10.11)', async (t) => {
  // Every wait is ten times as long as it would be: the second attempt comes after ten seconds.
  t.mock.method(Math, 'random', () => 20);
  const hub = createHub({ mcpServers: { gone: { command: 'no-such-command-anywhere' } }, env: {} });
  t.after(() => hub.close());
  await hub.connect();
  const began = performance.now();
  await assert.rejects(
    hub.call('gone:x'),
    /not connected \(failed: cannot be started: .* was not found .*; next attempt in 11 s/,
  );
  assert.ok(performance.now() - began < 2000);
});
