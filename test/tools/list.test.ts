import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sketch } from '../harness/sketch.ts';
import { openTools } from '../harness/tools.ts';

test('texts that are too long for one result, and those of upstream servers, are left out', async (t) => {
  const big = { bytes: Buffer.alloc(9 * 1024 * 1024, 'x') };
  const upstream = sketch('up@mcp', 'z', { directory: 'skill://up/z' });
  const { call } = await openTools(t, {}, {}, { skills: [sketch('a', 'x', big), sketch('b', 'y', big), upstream] });
  const { isError, text } = await call('skills.list', { includeBody: true });
  assert.deepEqual([isError, text], [true, 'The texts of these skills are too long for one result. Give a query.']);
  const { structuredContent } = await call('skills.list', { includeBody: true, query: 'Z' });
  assert.match(JSON.stringify(structuredContent), /^{"skills":\[{"name":"up:z",(?!.*"body")/);
});
