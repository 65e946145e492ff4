import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awaitServers, createProgress } from '../../src/cli/view.ts';
import type { UpstreamStatus } from '../../src/model.ts';
import { createTestClock } from '../harness/clock.ts';
import { dataOf, runCommand } from '../harness/command.ts';
import { scripted } from '../harness/hub.ts';
import { makeTree, skillText } from '../harness/tree.ts';

/** What is on the line after all that was written. */
function lineOf(written: readonly string[]): string {
  return written.join('').split('\r\u001b[K').at(-1) ?? '';
}

function start(isTTY: boolean) {
  const clock = createTestClock();
  const written: string[] = [];
  const progress = createProgress({ isTTY, columns: 20, write: (text) => written.push(text) }, clock);
  return { clock, written, progress };
}

test('after half a second a terminal shows the last line of the log, and at the end nothing', async () => {
  const { clock, written, progress } = start(true);
  progress.log.info('scanning');
  await clock.advance(499);
  assert.deepEqual(written, []);
  await clock.advance(1);
  assert.equal(lineOf(written), 'scanning');
  progress.log.info('scanning: 12345678 skills so far');
  assert.equal(lineOf(written), 'scanning: 12345678…');
  progress.log.info('\u001b[2Jx');
  assert.equal(lineOf(written), '\\u001b[2Jx');
  progress.log.warn('not this');
  progress.end();
  assert.equal(lineOf(written), '');
  assert.ok(!written.join('').includes('\n'));
});

test('what ends sooner, or is not on a terminal, shows nothing', async () => {
  const fast = start(true);
  fast.progress.log.info('scanning');
  fast.progress.end();
  await fast.clock.advance(10_000);
  assert.deepEqual(fast.written, []);
  const pipe = start(false);
  pipe.progress.log.info('scanning');
  await pipe.clock.advance(10_000);
  pipe.progress.end();
  assert.deepEqual(pipe.written, []);
});

test('servers that connect are waited for by name, until each is ready or has failed, or the time is over', async () => {
  const none = { from: '', transport: 'stdio', tools: 0, resources: 0, templates: 0, prompts: 0, skills: 0 } as const;
  const said: string[] = [];
  const states: UpstreamStatus[][] = [
    [
      { ...none, name: 'a', state: 'connecting' },
      { ...none, name: 'b', state: 'connecting' },
      { ...none, name: 'c', state: 'connecting', reason: 'failed before' },
    ],
    [
      { ...none, name: 'a', state: 'ready' },
      { ...none, name: 'b', state: 'connecting' },
    ],
    [{ ...none, name: 'b', state: 'failed', reason: 'x' }],
  ];
  const next = () => (states.length > 1 ? states.shift() : states[0]) ?? [];
  assert.deepEqual(await awaitServers({ status: next }, Number.POSITIVE_INFINITY, (text) => said.push(text)), []);
  assert.deepEqual(said, ['waiting for a, b', 'waiting for b']);
  const slow = { status: () => [{ ...none, name: 'slow', state: 'connecting' } as const] };
  assert.deepEqual(await awaitServers(slow, 1, () => {}), ['slow']);
});

test('what a server has that takes over a second to start is shown', (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a') });
  const tools = [{ name: 'late', inputSchema: { type: 'object' } }];
  const { entry } = scripted(tree, 'slow', { delay: { initialize: 2000 }, answers: { 'tools/list': { tools } } });
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: { slow: entry } }));
  const ran = runCommand(tree, ['try', '--hub', '--as', 'any', '--json']);
  assert.equal(ran.stderr, '');
  assert.ok(dataOf(ran).tools.some(({ name }: { name: string }) => name === 'slow:late'));
});

test('a path on the command line that gives nothing is said on stderr, whatever else is shown', (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'a-file': '', 'empty/x': '' });
  const args = ['--skill-dir', 'nowhere', '--skill-dir', 'empty', '--root', 'a-file', '--skill-dir', 'skills'];
  const files = ['--plugins-file', 'no-plugins.json', '--hub', '--config', 'no-config.json', '--port', '1'];
  const faults = [
    '--port: has no effect without --transport http (or sse); add that',
    `${tree.at('nowhere')}: does not exist; correct --skill-dir, or create the directory`,
    `${tree.at('empty')}: has no skills; a skill is a directory in it with a SKILL.md`,
    `${tree.at('a-file')}: is a file; --root takes the directory that has the skills`,
    `${tree.at('no-plugins.json')}: the plugins file is missing`,
    `${tree.at('no-config.json')}: does not exist; correct --config`,
  ];
  for (const words of [['list'], ['list', '--json'], ['show', 'a'], ['search', 'about'], ['try', 'a']]) {
    const { status, stderr } = runCommand(tree, [...words, ...args, ...files]);
    assert.equal(status, 0);
    assert.deepEqual(
      stderr.split('\n').toSorted(),
      ['', ...faults.map((fault) => `skillwire: ${fault}`)].toSorted(),
      words.join(' '),
    );
    assert.equal(runCommand(tree, [...words, ...args, ...files, '--quiet']).stderr, '');
  }
});
