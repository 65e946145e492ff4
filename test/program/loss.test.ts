/** Files and skills that go away, or may no longer be read, while a client has them in its list. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createSkillwire } from '../../src/index.ts';
import { createPeer } from '../harness/peer.ts';
import { type Answer, modern, startProgram } from '../harness/program.ts';
import { withoutPrivilege } from '../harness/rights.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const isUpdate = (uri: string) => (message: Answer) =>
  message.method === 'notifications/resources/updated' && message.params.uri === uri;

/** A skill with a directory that can be closed; it is open again before the tree is removed. */
function closableTree(t: TestContext): Tree & { close(): void; open(): void } {
  let open = () => {};
  t.after(() => open());
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/a/ref/x.md': 'x', 'skills/a/y.md': 'y' });
  open = () => chmodSync(tree.at('skills/a/ref'), 0o755);
  return { ...tree, open, close: () => chmodSync(tree.at('skills/a/ref'), 0) };
}

test('a subscribed file that may no longer be read ends neither the server nor other subscriptions', async (t) => {
  const tree = closableTree(t);
  const program = startProgram(t, { tree, through: withoutPrivilege });
  await program.handshake();
  const [closed, other] = ['skill://custom/a/ref/x.md', 'skill://custom/a/y.md'];
  for (const uri of [closed, other]) await program.request('resources/subscribe', { uri });
  program.send({
    jsonrpc: '2.0',
    id: 'sub',
    method: 'subscriptions/listen',
    params: modern({ notifications: { resourceSubscriptions: [closed, other] } }),
  });
  await program.waitFor((message) => message.method?.endsWith('/acknowledged'), 'the acknowledgement');
  tree.close();
  await program.call('skills.list', {});
  tree.write('skills/a/y.md', 'new');
  await program.call('skills.list', {});
  await program.waitFor(isUpdate(other), 'the change of the other file');
  assert.equal((await program.request('resources/subscribe', { uri: closed })).error, undefined);
  tree.open();
  tree.write('skills/a/ref/x.md', 'new');
  await program.call('skills.list', {});
  await program.waitFor(isUpdate(closed), 'the change of the file that is open again');
  assert.equal(program.child.exitCode, null);
});

test('a directory that may not be read is -32602, or a tool error, without a path of the machine', async (t) => {
  const tree = closableTree(t);
  const program = startProgram(t, { tree, args: ['--no-refresh'], through: withoutPrivilege });
  await program.request('tools/list');
  tree.close();
  const refused: readonly (readonly [method: string, uri: string, message: RegExp])[] = [
    ['resources/read', 'skill://custom/a/ref/x.md', /cannot be read/],
    ['resources/directory/read', 'skill://custom/a/ref', /there is no directory that can be read/],
    ['skills/get', 'skill://custom/a/SKILL.md', /because it cannot be read \(EACCES\)/],
  ];
  for (const [method, uri, message] of refused) {
    const { error } = await program.request(method, { uri });
    assert.equal(error?.code, -32602, method);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /\/tmp|skillwire-/);
  }
  for (const path of ['ref', 'ref/x.md', 'ref/none.md']) {
    const result = await program.call('skills.read', { name: 'a', path });
    assert.equal(result.isError, true, path);
    assert.doesNotMatch(result.content[0].text, /\/tmp|skillwire-/);
  }
  assert.doesNotMatch(program.stderr(), /failed/);
});

test('a directory read leaves out a name that is not UTF-8 and shows the rest', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/a/y.md': 'y' });
  writeFileSync(Buffer.concat([Buffer.from(`${tree.at('skills/a')}/`), Buffer.from([0xff, 0xfe])]), 'x');
  const program = startProgram(t, { tree });
  const { result } = await program.request('resources/directory/read', { uri: 'skill://custom/a' });
  assert.deepEqual(
    result.resources.map((one: Answer) => one.uri),
    ['skill://custom/a/SKILL.md', 'skill://custom/a/y.md'],
  );
  const miss = await program.call('skills.read', { name: 'a', path: 'none' });
  assert.match(miss.content[0].text, /The skill contains: SKILL\.md, y\.md\./);
});

test('skills that were deleted are left out of skills/list at no cost for each, and are -32602', async (t) => {
  const tree = makeTree(t);
  const names = Array.from({ length: 40 }, (_, n) => `s${n}`);
  for (const name of names) tree.write(`skills/${name}/SKILL.md`, skillText(name));
  const program = startProgram(t, { tree, args: ['--no-refresh'] });
  assert.equal((await program.request('skills/list')).result.skills.length, names.length);
  for (const name of names.slice(1)) tree.remove(`skills/${name}`);
  const start = performance.now();
  const { skills } = (await program.request('skills/list')).result;
  // Waiting for each would take at least 39 times 60 ms.
  assert.ok(performance.now() - start < 2000);
  assert.deepEqual(
    skills.map((skill: Answer) => skill.uri),
    ['skill://custom/s0/SKILL.md'],
  );
  const { error } = await program.request('skills/get', { uri: 'skill://custom/s1/SKILL.md' });
  assert.equal(error.code, -32602);
  assert.match(error.message, /no skill is served there any more/);
});

test('subscriptions that are over, or never began, leave nothing on their session', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a') });
  const skillwire = createSkillwire({ skillDirs: [tree.at('skills')], scanDefaultDirs: false, autoRefresh: false });
  t.after(() => skillwire.close());
  const peer = createPeer(skillwire.handle);
  const listeners = new Set<() => void>();
  t.mock.method(peer.session.ended, 'addEventListener', (_type: string, one: () => void) => listeners.add(one));
  t.mock.method(peer.session.ended, 'removeEventListener', (_type: string, one: () => void) => listeners.delete(one));
  for (let round = 0; round < 5; round++) {
    for (const name of ['a', 'none']) {
      const params = { uri: `skill://custom/${name}/SKILL.md` };
      const { error } = await peer.request('resources/subscribe', params);
      assert.equal(error?.code, name === 'a' ? undefined : -32602);
      assert.equal(listeners.size, name === 'a' ? 1 : 0);
      await peer.request('resources/unsubscribe', params);
    }
  }
  assert.equal(listeners.size, 0);
});
