/** What the log says of refreshes (13.17). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startHub, upstream } from '../harness/hub.ts';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const linesOf = (stderr: string) =>
  stderr.split('\n').flatMap((line) => /^skillwire: ((?:ready|refresh).*?)(?: in \d+ ms)?$/.exec(line)?.[1] ?? []);

test('tools and resources that a server brings or takes away are counted', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a') });
  const resources = JSON.stringify([{ uri: 'file:///x', name: 'x', text: 'x' }]);
  const hub = await startHub(t, { up: upstream(`resources=${resources}`) }, { tree, defaults: true });
  const names = await hub.waitForTools((all) => all.includes('up:echo'), 'the server');
  const count = names.filter((name) => name.startsWith('up:')).length;
  const came = new RegExp(`refresh \\(.*\\): ${count} tools added; 1 resource added; 1 skill in`);
  await hub.waitForStderr(came);
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: {} }));
  tree.write('skills/b/SKILL.md', skillText('b'));
  await hub.waitForStderr(/1 added, 0 changed, 0 removed; .*2 skills in/);
  await hub.waitForStderr(
    new RegExp(`refresh \\(.*\\): .*${count} tools removed; 1 resource removed; [12] skills? in`),
  );
  await hub.end();
  // Nothing else was worth a line.
  assert.deepEqual(
    linesOf(hub.stderr()).filter((line) => /no change|: 0 added, 0 changed, 0 removed/.test(line)),
    [],
  );
});

test('a start is one line, with nothing about checks that find no change', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a') });
  const usual = startProgram(t, { tree });
  const debug = startProgram(t, { tree, args: ['--log-level', 'debug'] });
  // The check for changes between the scan and the watches.
  await debug.waitForStderr(/debug: refresh \(watch\): no change; 1 skill in/);
  await usual.call('skills.list', {});
  await usual.end();
  assert.deepEqual(linesOf(usual.stderr()), ['ready: 1 skill']);
});
