import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpClient } from '../../../src/hub/connection/dialects.ts';
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
    const { items, faults } = await requestList(mcp, 'tools/list', 'tools', { timeout: 60_000 });
    assert.deepEqual(items, []);
    assert.ok(pages < 30, `${pages} pages`);
    assert.match(faults.at(-1) ?? '', /with those that are left out; 0 tools are served/);
  });
}
