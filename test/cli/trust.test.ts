import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { environmentOf, PROGRAM, runCommand } from '../harness/program.ts';
import { makeTree } from '../harness/tree.ts';

const RECORD = 'home/.config/skillwire/trust.json';

test('everything that will be started is shown as the file has it, then recorded', (t) => {
  const entry = { command: 'run\u001b[2J', args: ['a b'], env: { KEY: '${SECRET}' } };
  const tree = makeTree(t, { '.kode.json': JSON.stringify({ mcpServers: { one: entry, two: { url: 'http://x' } } }) });
  const { status, stdout, stderr } = runCommand(tree, ['trust']);
  const file = tree.at('.kode.json');
  assert.deepEqual([status, stderr], [0, '']);
  assert.ok(stdout.startsWith(`With --hub, ${file} starts:\n{\n  "one": {\n    "command": "run\\u001b[2J",\n`));
  for (const part of ['"a b"', '"KEY": "${SECRET}"', '  "two": {\n    "url": "http://x"\n  }\n'])
    assert.ok(stdout.includes(part), part);
  assert.ok(stdout.endsWith(`\nTrusted as it is now: ${file}\n`));
  assert.ok(existsSync(tree.at(RECORD)));
});

test('what cannot be shown or does not exist is not trusted: one line, exit 1', {
  skip: !existsSync('/dev/full'),
}, (t) => {
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
