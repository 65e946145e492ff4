/** What many clients together can make the server hold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeTree, skillText } from '../harness/tree.ts';
import { ask, initialize, startWeb } from '../harness/web.ts';

test('what clients say of themselves at length is not kept (10.7)', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const { url, program } = await startWeb(t, { tree, env: { NODE_OPTIONS: '--max-old-space-size=96' } });
  const hello = initialize();
  const long = 'x'.repeat(1_700_000);
  const params = {
    ...hello.params,
    clientInfo: { name: 'test', version: long },
    capabilities: { roots: { long }, extensions: {} },
  };
  for (let at = 0; at < 40; at++) {
    const { status } = await ask(url, { body: { ...hello, params } });
    assert.equal(status, 200);
  }
  assert.equal(program.child.exitCode, null);
});
