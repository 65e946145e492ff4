import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createToolTable } from '../../src/methods/tools.ts';
import type { Snapshot, Tool } from '../../src/model.ts';

const OPTIONS = { names: 'auto', describe: 'auto', descriptionBudget: undefined, omitForExtension: false } as const;
const PEER = { client: undefined, capabilities: new Set<string>(), extensions: new Set<string>() };

const tool = (name: string, says: string): Tool => ({
  name,
  inputSchema: { type: 'object' },
  run: () => ({ content: [{ type: 'text', text: says }] }),
});

test("a tool of an embedder's takes the name of none of ours, and is in no list twice (11.23)", () => {
  const own = tool('skill', 'ours');
  const tools = [tool('skill', 'theirs'), tool('more', 'first'), tool('more', 'second')];
  const part: Partial<Snapshot> = { tools, servers: [] };
  const snapshot = part as Snapshot;
  const table = createToolTable([own], OPTIONS);
  const { tools: listed } = JSON.parse(`${table.list(snapshot, PEER).page(undefined).body}}`);
  assert.deepEqual(listed, [
    { inputSchema: { type: 'object' }, name: 'skill' },
    { inputSchema: { type: 'object' }, name: 'more' },
  ]);
  assert.deepEqual(table.find(snapshot, 'skill', PEER), { kind: 'found', item: own });
  assert.deepEqual(table.find(snapshot, 'more', PEER), { kind: 'found', item: snapshot.tools[1] });
});
