/** What the log says of clients (13.13). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/log.ts';
import { createClientReport } from '../../src/methods/lifecycle.ts';
import { MOST_CLIENT_NAMES } from '../../src/methods/limits.ts';
import { afterAnswers } from '../../src/wait.ts';
import { modern, startProgram } from '../harness/program.ts';
import { makeTree } from '../harness/tree.ts';
import { ask, modernHeaders, openSession, startWeb } from '../harness/web.ts';

const linesOf = (stderr: string) =>
  stderr.split('\n').flatMap((line) => /^skillwire: (client: .*)$/.exec(line)?.[1] ?? []);

test('each handshake, and the first request of each client without one, is a line with name, version and protocol', async (t) => {
  const program = startProgram(t, { tree: makeTree(t) });
  await program.handshake('2025-06-18', 'codex-mcp-client');
  await program.request('tools/list');
  await program.request('server/discover', modern({}, 'copilot-cli'));
  await program.request('tools/list', modern({}, 'copilot-cli'));
  await program.request('tools/list', modern({}));
  await program.request('prompts/list', modern({}));
  await program.request('tools/list', modern({}, 'inspector\u001b[31m\ncli'));
  await program.handshake('1999-01-01', 'x'.repeat(256));
  await program.end();
  assert.deepEqual(linesOf(program.stderr()), [
    'client: codex-mcp-client 1, protocol 2025-06-18',
    'client: copilot-cli 1, protocol 2026-07-28',
    'client: without a name, protocol 2026-07-28',
    'client: inspector\\u001b[31m cli 1, protocol 2026-07-28',
    `client: ${'x'.repeat(199)}…, protocol 2025-11-25`,
  ]);
});

test('over HTTP each session is a line', async (t) => {
  const { program, url } = await startWeb(t, { tree: makeTree(t) });
  await openSession(url, {}, 'one');
  await openSession(url, {}, 'one');
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: modern({}, 'two') };
  for (let nth = 0; nth < 3; nth++) await ask(url, { headers: modernHeaders('tools/list'), body });
  await program.waitForStderr(/client: two/);
  assert.deepEqual(
    linesOf(program.stderr()).map((line) => line.slice(0, 11)),
    ['client: one', 'client: one', 'client: two'],
  );
});

test('a client that calls itself by ever new names fills neither the log nor the memory', async () => {
  let lines = 0;
  const { onRequest } = createClientReport(createLog(() => void lines++, 'info'));
  for (let nth = 0; nth < 10 * MOST_CLIENT_NAMES; nth++)
    onRequest({
      client: { name: `client ${nth}`, version: '1' },
      version: '2026-07-28',
      capabilities: new Set(),
      extensions: new Set(),
    });
  await afterAnswers();
  assert.equal(lines, MOST_CLIENT_NAMES);
});
