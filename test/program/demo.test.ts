/** `npm run demo`, which a newcomer runs first. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeTree } from '../harness/tree.ts';

// Seen from .test-build/test/program.
const DEMO = fileURLToPath(new URL('../../../scripts/demo.js', import.meta.url));

test('the demo plays a conversation, ends by itself and leaves nothing behind', (t) => {
  const tree = makeTree(t);
  const { status, stdout, stderr } = spawnSync(process.execPath, [DEMO], {
    env: { PATH: process.env.PATH, HOME: tree.path, TMPDIR: tree.path },
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const said = [
    /^start: {2}skillwire --skill-dir skills /,
    /^client: initialize$/m,
    /^server: skillwire \d+\.\d+\.\d+, protocol [\d-]+$/m,
    /^server: tools: skills\.list, skill, skills\.search, skills\.read\b/m,
    /^server: skills: pdf-forms, release-notes$/m,
    /^server: Loading: pdf-forms\n {8}Base directory: /m,
    /^you: {4}edit skills\/pdf-forms\/SKILL\.md\nserver: notifications\/tools\/list_changed \(.+\)$/m,
    /^server: 1 skill for "sign form"\n {8}- pdf-forms: Fills and signs PDF forms\.$/m,
    /^server: 8 words$/m,
    /^end: {4}.*\n$/m,
  ];
  for (const line of said) assert.match(stdout, line);
  assert.deepEqual(readdirSync(tree.path), []);
});
