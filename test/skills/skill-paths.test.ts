import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { test } from 'node:test';
import { ChangingError } from '../../src/files/read.ts';
import { childrenOf, find, findFiles } from '../../src/skills/skill-paths.ts';
import { delay } from '../../src/wait.ts';
import { makeTree, type Tree } from '../harness/tree.ts';

const FILES = { 'out/ref/f': 'SECRET', 'x/SKILL.md': '', 'x/ref/e': '', 'x/ref/f': '', 'x/ref/g': '' };

/** Gives a function that replaces a directory by a link that leads outside and, when called again, puts it back. */
function swapping(tree: Tree, path: string, target: string) {
  tree.link('link', tree.at(target));
  const move = (from: string, to: string) => renameSync(tree.at(from), tree.at(to));
  let isSwapped = false;
  return () => {
    move(path, 'aside');
    move(isSwapped ? 'directory' : 'link', path);
    move('aside', isSwapped ? 'link' : 'directory');
    isSwapped = !isSwapped;
  };
}

for (const [path, target] of [
  ['x', 'out'],
  ['x/ref', 'out/ref'],
] as const) {
  test(`nothing is listed while ${path} is a link to outside for a moment, even if it is put back at once`, async (t) => {
    const tree = makeTree(t, FILES);
    const swap = swapping(tree, path, target);
    await delay(50); // Until then the directories have changed recently, and are not listed for that reason.
    let steps = 0;
    // Called before each of e, f and g is looked at.
    const pace = () => {
      steps += 1;
      if (steps > 1) swap();
      return undefined;
    };
    await assert.rejects(childrenOf(find(tree.at('x'), 'ref'), pace, false), ChangingError);
    assert.equal(steps, 3);
  });
}

test('no file is found in a skill whose directory is a link to outside for a moment', async (t) => {
  const tree = makeTree(t, FILES);
  const swap = swapping(tree, 'x', 'out');
  await delay(50);
  let steps = 0;
  // Called before each directory, and before each of its entries: the sixth time before f.
  const pace = () => {
    steps += 1;
    if (steps === 6 || steps === 7) swap();
    return undefined;
  };
  await assert.rejects(findFiles(tree.at('x'), pace), ChangingError);
});
