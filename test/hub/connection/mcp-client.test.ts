/** Servers that need a second attempt with another handshake. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventually, startHub, upstream } from '../../harness/hub.ts';
import { PROGRAM } from '../../harness/program.ts';
import { makeTree } from '../../harness/tree.ts';

test('a server that exits at once is started once per attempt (10.11)', async (t) => {
  const tree = makeTree(t);
  const journal = tree.write('journal', '');
  const hub = await startHub(
    t,
    { one: upstream('exit=7', `journal=${journal}`) },
    { tree, args: ['--log-level', 'debug'] },
  );
  const starts = () => (readFileSync(journal, 'utf8').match(/started/g) ?? []).length;
  await eventually(() => starts() >= 3, 'the third start');
  const attempts = hub.stderr().match(/server one: connecting(?!.*next attempt)/g) ?? [];
  assert.equal(attempts.length, starts());
  await hub.waitForStderr(/server one: failed: exited with code 7/);
});

test('a server that exits on a request before the handshake becomes ready, also for the doctor (10.11)', (t) => {
  const tree = makeTree(t);
  const journal = tree.at('journal');
  const servers = { old: upstream('dies-on-unknown', `journal=${journal}`) };
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: servers }));
  const { stdout } = spawnSync(process.execPath, [PROGRAM, 'doctor', '--hub'], {
    cwd: tree.path,
    env: { PATH: process.env.PATH, HOME: tree.at('home') },
    encoding: 'utf8',
  });
  assert.match(stdout, /old: ready: 11 tools/);
  assert.equal((readFileSync(journal, 'utf8').match(/started/g) ?? []).length, 2);
});
