import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('../../src/cli/rights.js', import.meta.url));

/** What a process says that Deno refuses a right, as far as Node can tell. */
function refuse(deno: string | undefined) {
  const script = `import { explainRefusedRights } from ${JSON.stringify(FILE)};
${deno === undefined ? '' : `Object.defineProperty(process.versions, 'deno', { value: '${deno}' });`}
explainRefusedRights();
const refused = new Error('Requires sys access to "homedir", run again with the --allow-sys flag\\nmore');
refused.name = 'NotCapable';
throw refused;`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  return { status, stderr };
}

test('a right that Deno refuses is one line that names the rights that are needed', () => {
  const { status, stderr } = refuse('2.9.6');
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^skillwire: Deno refuses: Requires sys access [^\n]* It needs: deno run --allow-read [^\n]*\n$/,
  );
});

test('elsewhere an error of that name is like any other', () => {
  assert.match(refuse(undefined).stderr, /NotCapable: Requires sys access[\s\S]*\n {4}at /);
});
