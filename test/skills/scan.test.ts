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
const ignore = () => {};

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
  const first = await scan([rootAt(tree.path)], ignore);
  assert.equal(first.skills[0]?.description, 'old');
  tree.write('pdf/SKILL.md', skillText('pdf', 'new'));
  const second = scan([rootAt(tree.path)], ignore);
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
  await scan([rootAt(tree.path)], ignore);
  tree.write('pdf/SKILL.md', skillText('pdf', 'half'));
  // `progress` is called after the first look.
  const during = scan([rootAt(tree.path)], () => {
    tree.write('pdf/SKILL.md', skillText('pdf', 'whole text'));
    utimesSync(tree.at('pdf/SKILL.md'), 1, 1);
  });
  const moving = await finish(during, clock);
  assert.deepEqual([moving.skills[0]?.description, moving.unsettled], ['old', true]);
  const after = await finish(scan([rootAt(tree.path)], ignore), clock);
  assert.deepEqual([after.skills[0]?.description, after.unsettled], ['whole text', false]);
});

test('a skill that has not changed is the same object in the next scan', async (t) => {
  const tree = makeTree(t, { 'a/SKILL.md': skillText('a'), 'b/SKILL.md': skillText('b') });
  const clock = createTestClock();
  const scan = createScanner(clock);
  const first = await scan([rootAt(tree.path)], ignore);
  tree.write('b/SKILL.md', skillText('b', 'new'));
  const second = await finish(scan([rootAt(tree.path)], ignore), clock);
  assert.equal(second.skills[0], first.skills[0]);
  assert.notEqual(second.skills[1], first.skills[1]);
});
