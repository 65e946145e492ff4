/** The end of server processes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { test } from 'node:test';
import { inSystem32 } from '../../../src/hub/connection/command.ts';
import { processAt, withDescendants } from '../../../src/hub/connection/process.ts';
import { eventually, isAlive, startHub, upstream } from '../../harness/hub.ts';
import { makeTree } from '../../harness/tree.ts';

const isLinux = platform() === 'linux';

const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

for (const [how, end] of [
  ['its client goes', (hub: { end(): Promise<number | null> }) => hub.end()],
  [
    'it gets SIGTERM',
    async (hub: { child: { kill(signal: NodeJS.Signals): boolean }; exit(): Promise<number | null> }) => {
      hub.child.kill('SIGTERM');
      await hub.exit();
    },
  ],
] as const) {
  test(`helpers in groups of their own are ended too when ${how} (10.22)`, { skip: !isLinux }, async (t) => {
    const tree = makeTree(t);
    const journal = tree.write('journal', '');
    const hub = await startHub(t, { one: upstream('detached', `journal=${journal}`) }, { tree });
    await hub.waitForTools(has('one:echo'), 'its tools');
    const pids = () =>
      [...readFileSync(journal, 'utf8').matchAll(/(?:started|helper) (\d+)/g)].map(([, pid]) => Number(pid));
    await eventually(() => pids().length === 3, 'both helpers');
    const all = pids();
    t.after(() => all.filter(isAlive).map((pid) => process.kill(pid, 'SIGKILL')));
    assert.ok(all.every(isAlive));
    await end(hub);
    await eventually(() => !all.some(isAlive), 'the end of all of them');
  });
}

for (const how of ['SIGTERM', 'SIGKILL'] as const) {
  test(`a server that ignores SIGTERM gets SIGINT before it is killed, when the hub gets ${how}`, async (t) => {
    const tree = makeTree(t);
    const journal = tree.write('journal', '');
    const write = (word: string) => `require('fs').appendFileSync(${JSON.stringify(journal)}, '${word} ');`;
    // As npm does while it installs.
    const code = `process.on('SIGTERM', () => {${write('terminated')}});
      process.on('SIGINT', () => {${write('interrupted')} process.exit()});
      setInterval(() => {}, 1000);
      ${write('started')}`;
    const hub = await startHub(t, { one: { command: process.execPath, args: ['-e', code] } }, { tree });
    const journalIs = (text: string) => eventually(() => readFileSync(journal, 'utf8') === text, text);
    await journalIs('started ');
    hub.child.kill(how);
    await journalIs('started terminated interrupted ');
  });
}

test('a process is told from a later one with the same id (10.22)', { skip: !isLinux }, () => {
  const own = processAt(process.pid);
  assert.ok(own && withDescendants([own]).some(({ pid }) => pid === own.pid));
  assert.equal(own.parent, process.ppid);
  const other = { ...own, start: own.start - 1 };
  assert.deepEqual(withDescendants([other]), []);
  const child = spawn('sleep', ['60']);
  assert.deepEqual(
    withDescendants([own])
      .map(({ pid }) => pid)
      .filter((pid) => [process.pid, child.pid].includes(pid)),
    [process.pid, child.pid],
  );
  child.kill('SIGKILL');
});

const taskkillPath = (env: Record<string, string>) => inSystem32(env, 'taskkill.exe');

test('on Windows, programs of the system are started by their full path (10.21)', () => {
  assert.equal(taskkillPath({ SystemRoot: 'D:\\Win' }), 'D:\\Win\\System32\\taskkill.exe');
  assert.equal(taskkillPath({ SYSTEMROOT: 'C:\\WINDOWS' }), 'C:\\WINDOWS\\System32\\taskkill.exe');
  for (const env of [{}, { SystemRoot: '' }, { SystemRoot: 'here' }, { SystemRoot: '\\\\host\\share' }])
    assert.equal(taskkillPath(env), 'C:\\Windows\\System32\\taskkill.exe');
});
