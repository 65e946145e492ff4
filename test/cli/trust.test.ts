import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { environmentOf, PROGRAM, runCommand } from '../harness/program.ts';
import { makeTree } from '../harness/tree.ts';

const RECORD = 'home/.config/skillwire/trust.json';
const skip = !existsSync('/dev/full');

test('everything that will be started is shown as the file has it, then recorded', (t) => {
  const servers = { one: { command: 'run\u001b[2J', env: { KEY: '${SECRET}' } }, two: { url: 'http://x' } };
  const tree = makeTree(t, { '.kode.json': JSON.stringify({ mcpServers: servers }) });
  const file = tree.at('.kode.json');
  const shown = JSON.stringify(servers, undefined, 2);
  const stdout = `With --hub, ${file} starts:\n${shown}\nTrusted as it is now: ${file}\n`;
  assert.deepEqual(runCommand(tree, ['trust']), { status: 0, stdout, stderr: '' });
  assert.ok(existsSync(tree.at(RECORD)));
});

test('what cannot be shown or does not exist is not trusted: one line, exit 1', { skip }, (t) => {
  const tree = makeTree(t);
  const missing = runCommand(tree, ['trust']);
  assert.deepEqual([missing.status, missing.stdout], [1, '']);
  assert.match(missing.stderr, /^skillwire: not trusted: \S+\.kode\.json does not exist\n$/);
  tree.write('.kode.json', '{"mcpServers":{"one":{"command":"x"}}}');
  const command = `'${process.execPath}' '${PROGRAM}' trust > /dev/full`;
  const options = { cwd: tree.path, env: environmentOf(tree), encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync('sh', ['-c', command], options);
  assert.equal(status, 1);
  assert.match(stderr, /^skillwire: .*no space left on device/i);
  assert.equal(existsSync(tree.at(RECORD)), false);
});
