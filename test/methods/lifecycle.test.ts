import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEGACY_VERSIONS, MODERN_VERSIONS } from '../../src/protocol/index.ts';
import { modernParams, startServer } from '../harness/server.ts';

test('both eras are told the same about the server; each client is a line of the log', async (t) => {
  const { shakeHands, ask, lines } = startServer(t);
  const greeting = (await shakeHands('codex-mcp-client', '2025-06-18')).result;
  const discovered = (await ask('server/discover', modernParams({}, 'in\u001b[31m\nspector'))).result;
  assert.deepEqual(discovered.capabilities, greeting.capabilities);
  assert.equal(discovered.instructions, greeting.instructions.replaceAll('skills_', 'skills.'));
  await ask('initialize', { protocolVersion: 'v999' });
  const clients = lines.flatMap((line) => /^skillwire: client: (.*)\n/.exec(line)?.[1] ?? []);
  const modern = `in\\u001b[31m\\nspector 1, protocol ${MODERN_VERSIONS[0]}`;
  const unknown = `without a name, protocol ${LEGACY_VERSIONS[0]}`;
  assert.deepEqual(clients, ['codex-mcp-client 1, protocol 2025-06-18', modern, unknown]);
});
