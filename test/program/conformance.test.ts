/** The official conformance suite, against the built program and the embedded server. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

// Seen from .test-build/test/program.
const TOP = fileURLToPath(new URL('../../..', import.meta.url));

test('the official conformance suite finds nothing wrong, in either revision', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(TOP, 'scripts', 'conformance', 'run.js'), '--built'],
    { encoding: 'utf8', timeout: 600_000 },
  );
  assert.equal(status, 0, `${stdout}\n${stderr}`);
});
