import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpClient } from '../../../src/hub/connection/mcp-client.ts';
import { requestList } from '../../../src/hub/upstream/lists.ts';

const rows: readonly (readonly [what: string, item: unknown, perPage: number])[] = [
  ['values that are not objects', 1, 1000],
  ['items that are too large', { name: 'x'.repeat(2_000_000) }, 1],
];

for (const [what, item, perPage] of rows) {
  test(`a list of ${what} ends, though none of them is kept`, async () => {
    let pages = 0;
    const request = async () => ({ tools: Array(perPage).fill(item), nextCursor: String(++pages) });
    const mcp = { request } as unknown as McpClient;
    const check = () => assert.fail();
    const kind = { method: 'tools/list', key: 'tools', what: 'tool', name: 'name', need: 'must', check } as const;
    const { items, faults } = await requestList(kind, mcp, (text) => text, 60_000);
    assert.deepEqual(items, []);
    assert.ok(pages < 30, `${pages} pages`);
    assert.match(faults[0] ?? '', /with those that are left out; 0 tools are served/);
  });
}
