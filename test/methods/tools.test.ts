import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createToolTable } from '../../src/methods/tools.ts';
import type { Snapshot, Tool, UpstreamTool } from '../../src/model.ts';

const OPTIONS = { names: 'auto', describe: 'auto', descriptionBudget: undefined, sparing: false } as const;
const PEER = { client: undefined, capabilities: new Set<string>(), extensions: new Set<string>() };

const tool = (name: string, says: string): Tool => ({
  name,
  fresh: false,
  define: (_snapshot, view) => ({ name: view.spell(name), inputSchema: { type: 'object' } }),
  run: () => ({ content: [{ type: 'text', text: says }] }),
});

test("a tool of an embedder's takes the name of none of ours, and stands in no list twice (11.23)", () => {
  const foreign = (name: string, says: string): UpstreamTool => ({ ...tool(name, says), server: 'x', short: name });
  const own = tool('skill', 'ours');
  const tools = [foreign('skill', 'theirs'), foreign('more', 'first'), foreign('more', 'second')];
  const part: Partial<Snapshot> = { tools, servers: [] };
  const snapshot = part as Snapshot;
  const shelf = createToolTable([own], OPTIONS);
  assert.deepEqual(
    shelf.list(snapshot, PEER).map(({ name }) => name),
    ['skill', 'more'],
  );
  assert.deepEqual(shelf.find(snapshot, 'skill', PEER), { kind: 'found', item: own });
  assert.deepEqual(shelf.find(snapshot, 'more', PEER), { kind: 'found', item: snapshot.tools[1] });
});
