/** Which upstream servers run after an edit of their configuration. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createHops, HOPS_REMEMBERED_MS, MAX_HOPS } from '../../src/hops.ts';
import { configOf, tryReadEntry } from '../../src/hub/config/entries.ts';
import { createUpstreams } from '../../src/hub/upstreams.ts';
import { createLog } from '../../src/log.ts';
import { eventually, upstream } from '../harness/hub.ts';
import { makeTree } from '../harness/tree.ts';

function start(t: TestContext, hops = createHops(undefined)) {
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line), 'info');
  const upstreams = createUpstreams({ env: process.env, log, hops, healthInterval: 30_000, changed: () => {} });
  t.after(() => upstreams.close());
  const apply = (entry: object) => {
    const variables = { env: process.env, workspaceFolder: '/', userHome: '/' };
    upstreams.apply([
      configOf(
        'up',
        tryReadEntry('up', () => entry),
        'test',
        variables,
      ),
    ]);
  };
  return { apply, lines, state: () => upstreams.all()[0]?.state.facts().state };
}

test('a process that is not started because of a loop is started when the loop is forgotten', async (t) => {
  let now = 0;
  const hops = createHops(undefined, () => now);
  hops.accept(String(MAX_HOPS));
  const { apply, lines, state } = start(t, hops);
  for (let refresh = 0; refresh < 3; refresh++) apply(upstream());
  assert.equal(state(), 'failed');
  assert.equal(lines.filter((line) => /over 2 hubs/.test(line)).length, 1);
  now += HOPS_REMEMBERED_MS;
  apply(upstream());
  await eventually(() => state() === 'ready', 'the server');
});

test('an edited process starts when the one before it has ended', async (t) => {
  const journal = makeTree(t).write('journal', '');
  const script = (version: number) => `const { appendFileSync } = require('node:fs');
    const note = (text) => appendFileSync(${JSON.stringify(journal)}, text + ' ${version}\\n');
    note('start');
    process.stdin.on('end', () => setTimeout(() => { note('end'); process.exit(); }, 500)).resume();`;
  const { apply } = start(t);
  const read = () => readFileSync(journal, 'utf8');
  apply({ command: process.execPath, args: ['-e', script(1)] });
  await eventually(() => read() === 'start 1\n', 'the first');
  apply({ command: process.execPath, args: ['-e', script(2)] });
  await eventually(() => read().includes('start 2'), 'the second');
  assert.equal(read(), 'start 1\nend 1\nstart 2\n');
});
