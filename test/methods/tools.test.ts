import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Registry } from '../../src/catalog/registry.ts';
import { createLog } from '../../src/log.ts';
import { createTools } from '../../src/methods/tools.ts';
import { createViews } from '../../src/methods/views.ts';
import type { Snapshot, Tool } from '../../src/model.ts';
import { createDispatcher, legacyEra } from '../../src/protocol/index.ts';
import { ownToolNames } from '../../src/tools/instructions.ts';
import { createOwnTools } from '../../src/tools/table.ts';
import { createPeer } from '../harness/peer.ts';

const OPTIONS = {
  names: 'auto',
  describe: 'auto',
  descriptionBudget: undefined,
  skipOwn: false,
  tools: ['skill'],
} as const;

const tool = (name: string, says: string): Tool => ({
  name,
  inputSchema: { type: 'object' },
  run: () => ({ content: [{ type: 'text', text: says }] }),
});

test("a tool of an embedder's takes the name of none of ours, and is in no list twice (11.23)", async () => {
  const tools = [tool('skill', 'theirs'), tool('more', 'first'), tool('more', 'second')];
  const part: Partial<Snapshot> = { tools, servers: [] };
  const snapshot = part as Snapshot;
  const registry: Partial<Registry> = { current: () => snapshot, complete: async () => snapshot };
  const { methods, size } = createTools(
    registry as Registry,
    [tool('skill', 'ours')],
    (all) => all,
    createViews(OPTIONS),
  );
  const peer = createPeer(createDispatcher([legacyEra({ methods, notifications: [] })], () => {}));
  assert.deepEqual((await peer.request('tools/list')).result.tools, [
    { inputSchema: { type: 'object' }, name: 'skill' },
    { inputSchema: { type: 'object' }, name: 'more' },
  ]);
  assert.equal(size(snapshot), 2);
  assert.deepEqual([await peer.call('skill'), await peer.call('more')], ['ours', 'first']);
});

test('a tool that gives nothing is run once', async () => {
  let runs = 0;
  const silent = { name: 'silent', inputSchema: {}, run: () => void runs++ } as unknown as Tool;
  const part: Partial<Snapshot> = { tools: [silent], servers: [] };
  const registry: Partial<Registry> = { current: () => part as Snapshot };
  const { methods } = createTools(registry as Registry, [], (all) => all, createViews(OPTIONS));
  const peer = createPeer(createDispatcher([legacyEra({ methods, notifications: [] })], () => {}));
  assert.equal((await peer.request('tools/call', { name: 'silent' })).error.code, -32603);
  assert.equal(runs, 1);
});

test('the names in the instructions are those of the tools', () => {
  const served = createOwnTools(
    'auto',
    {} as Registry,
    '.',
    createLog(() => {}, 'error'),
  );
  assert.deepEqual(served.map(({ name }) => name).toSorted(), ownToolNames('auto').toSorted());
});
