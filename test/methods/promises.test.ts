import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createSkillwire } from '../../src/index.ts';
import { createPromises, MOST_PROMISES } from '../../src/methods/promises.ts';
import { createSession } from '../../src/protocol/index.ts';
import { createPeer, type Peer } from '../harness/peer.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const uri = 'skill://custom/a/x.md';

/** Three clients of one server. */
function start(t: TestContext) {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/a/x.md': 'old' });
  const skillwire = createSkillwire({ skillDirs: [tree.at('skills')], scanDefaultDirs: false, autoRefresh: false });
  t.after(() => skillwire.close());
  const [a, b, c] = [createPeer(skillwire.handle), createPeer(skillwire.handle), createPeer(skillwire.handle)];
  return { tree, registry: skillwire.registry, a, b, c };
}

/** The text, or the code of the refusal. */
async function read(peer: Peer): Promise<unknown> {
  const { result, error } = await peer.request('resources/read', { uri });
  return error?.code ?? result.contents[0].text;
}

test('what one client is told or lists does not change what another was promised', async (t) => {
  const { tree, registry, a, b, c } = start(t);
  await a.request('skills/list');
  await b.request('resources/subscribe', { uri });
  tree.write('skills/a/x.md', 'new');
  await registry.refresh('test');
  while (!b.received.some(({ method }) => method === 'notifications/resources/updated')) {
    await new Promise((done) => setTimeout(done, 5));
  }
  assert.deepEqual([await read(a), await read(b), await read(c)], [-32602, 'new', 'new']);
  await b.request('skills/list');
  assert.deepEqual([await read(a), await read(b), await read(c)], [-32602, 'new', 'new']);
  await a.request('skills/get', { uri: 'skill://custom/a/SKILL.md' });
  assert.equal(await read(a), 'new');
});

test('a client that is told of a change may read it, though it had listed the file', async (t) => {
  const { tree, registry, a } = start(t);
  await a.request('skills/list');
  await a.request('resources/subscribe', { uri });
  tree.write('skills/a/x.md', 'new');
  assert.equal(await read(a), -32602);
  await registry.refresh('test');
  while (a.received.every(({ method }) => method !== 'notifications/resources/updated')) {
    await new Promise((done) => setTimeout(done, 5));
  }
  assert.equal(await read(a), 'new');
});

test('a promise ends with its session, or when too many others were made since', async () => {
  const promises = createPromises();
  const [one, two] = [createSession(() => {}), createSession(() => {})];
  const bytes = Buffer.from('other');
  promises.make(one, 'u', 'sha256:x');
  promises.make(two, 'u', 'sha256:x');
  assert.deepEqual([await promises.allow(one, 'u', bytes), await promises.allow(two, 'u', bytes)], [false, false]);
  one.end();
  assert.equal(await promises.allow(one, 'u', bytes), true);
  promises.make(one, 'u', 'sha256:x');
  assert.equal(await promises.allow(one, 'u', bytes), true);
  for (let n = 0; n < MOST_PROMISES - 1; n++) promises.make(two, `u${n}`, 'sha256:x');
  assert.equal(await promises.allow(two, 'u', bytes), false);
  promises.make(two, 'one more', 'sha256:x');
  assert.equal(await promises.allow(two, 'u', bytes), true);
  assert.equal(await promises.allow(two, 'u0', bytes), false);
});
