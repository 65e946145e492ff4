import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import { test } from 'node:test';
import { SETTLE_MS } from '../../src/skills/limits.ts';
import type { Root } from '../../src/skills/roots.ts';
import { createScanner } from '../../src/skills/scan.ts';
import { createTestClock, settle } from '../harness/clock.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const rootAt = (directory: string): Root => ({
  directory,
  provider: 'custom',
  location: 'custom',
  plugin: undefined,
  depth: 8,
  within: undefined,
});

/** Lets time pass until the scan is done. */
async function finish<T>(scan: Promise<T>, clock: ReturnType<typeof createTestClock>): Promise<T> {
  let isDone = false;
  const done = scan.finally(() => {
    isDone = true;
  });
  while (!isDone) await clock.advance(SETTLE_MS);
  return done;
}

test('a changed file is read after two looks that agree; the first scan does not wait', async (t) => {
  const tree = makeTree(t, { 'pdf/SKILL.md': skillText('pdf', 'old') });
  const clock = createTestClock();
  const scan = createScanner(clock);
  const first = await scan([rootAt(tree.path)]);
  assert.equal(first.skills[0]?.description, 'old');
  tree.write('pdf/SKILL.md', skillText('pdf', 'new'));
  const second = scan([rootAt(tree.path)]);
  let isDone = false;
  void second.then(() => {
    isDone = true;
  });
  await settle();
  await clock.advance(SETTLE_MS - 1);
  assert.ok(!isDone);
  const { skills, unsettled } = await finish(second, clock);
  assert.equal(skills[0]?.description, 'new');
  assert.ok(!unsettled);
});

test('a file that changes between the two looks keeps its last good state, and is read again soon', async (t) => {
  const tree = makeTree(t, { 'pdf/SKILL.md': skillText('pdf', 'old') });
  const clock = createTestClock();
  const scan = createScanner(clock);
  await scan([rootAt(tree.path)]);
  tree.write('pdf/SKILL.md', skillText('pdf', 'half'));
  // The next root is asked for after the first look.
  const roots = function* () {
    yield rootAt(tree.path);
    tree.write('pdf/SKILL.md', skillText('pdf', 'whole text'));
    utimesSync(tree.at('pdf/SKILL.md'), 1, 1);
  };
  const moving = await finish(scan(roots()), clock);
  assert.deepEqual([moving.skills[0]?.description, moving.unsettled], ['old', true]);
  const after = await finish(scan([rootAt(tree.path)]), clock);
  assert.deepEqual([after.skills[0]?.description, after.unsettled], ['whole text', false]);
});

test('a skill that has not changed is the same object in the next scan', async (t) => {
  const tree = makeTree(t, { 'a/SKILL.md': skillText('a'), 'b/SKILL.md': skillText('b') });
  const clock = createTestClock();
  const scan = createScanner(clock);
  const first = await scan([rootAt(tree.path)]);
  tree.write('b/SKILL.md', skillText('b', 'new'));
  const second = await finish(scan([rootAt(tree.path)]), clock);
  assert.equal(second.skills[0], first.skills[0]);
  assert.notEqual(second.skills[1], first.skills[1]);
});

test('a file that was written again with the same bytes is the same skill', async (t) => {
  const tree = makeTree(t, { 'a/SKILL.md': skillText('a'), 'b/SKILL.md': skillText('B') });
  const clock = createTestClock();
  const scan = createScanner(clock);
  const first = await scan([rootAt(tree.path)]);
  for (const name of ['a', 'b']) tree.write(`${name}/SKILL.md`, skillText(name === 'a' ? 'a' : 'B'));
  utimesSync(tree.at('a/SKILL.md'), 1, 1);
  const second = await finish(scan([rootAt(tree.path)]), clock);
  assert.deepEqual(
    second.skills.map((skill, at) => skill === first.skills[at]),
    [true, true],
  );
  assert.deepEqual(second.problems, first.problems);
});

test('a skill keeps its bytes, and of its text only the name and the description are decoded', async (t) => {
  const text = skillText('a', 'Über → alles', `${'x'.repeat(100)}\xff`);
  const tree = makeTree(t, { 'a/SKILL.md': text });
  const { skills } = await createScanner()([rootAt(tree.path)]);
  assert.equal(skills[0]?.description, 'Über → alles');
  assert.ok(skills[0]?.bytes?.equals(Buffer.from(text)));
  assert.equal(await skills[0]?.read(), skills[0]?.bytes);
});
