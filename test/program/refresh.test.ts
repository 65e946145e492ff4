/** What a refresh sees, by the timer and by the watcher. */
import assert from 'node:assert/strict';
import { cpSync, renameSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { type Program, startProgram } from '../harness/program.ts';
import { makeTree, pluginFiles, skillText, type Tree } from '../harness/tree.ts';

const PDF = '.claude/skills/pdf/SKILL.md';

/** The timer is far away: what is noticed here was noticed by the watcher. */
async function watching(t: TestContext, tree: Tree): Promise<Program> {
  const program = startProgram(t, { tree, args: ['--refresh-interval', '600000'] });
  await program.handshake();
  await program.description();
  return program;
}

/** Waits for one notice more than there are. */
async function nextNotice(program: Program, change: () => void): Promise<string> {
  const before = program.notices().length;
  change();
  await program.waitFor(() => program.notices().length > before, `notice ${before + 1}`);
  return program.notices()[before].params._meta['skillwire/reason'];
}

describe('a refresh', { concurrency: 4 }, () => {
  test('by the timer finds a root that did not exist, and plugins', async (t) => {
    const tree = makeTree(t, { [PDF]: skillText('pdf') });
    const program = startProgram(t, { tree, args: ['--no-watch', '--refresh-interval', '100'] });
    await program.description();
    tree.write('.agents/skills/a/SKILL.md', skillText('a'));
    await program.waitForStderr(/refresh \(timer\): changed; 2 skills/);
    for (const [name, text] of Object.entries(pluginFiles('p:x')).reverse()) tree.write(name, text);
    await program.waitForStderr(/refresh \(timer\): changed; 3 skills/);
    assert.deepEqual(await program.names(), ['a', 'pdf', 'p:x']);
  });

  test('by the watcher after a burst of 200 edits gives one notification, and a list equal to the disk', async (t) => {
    const at = (nth: number) => `.claude/skills/s${String(nth).padStart(3, '0')}/SKILL.md`;
    const tree = makeTree(t);
    for (let nth = 0; nth < 100; nth++) tree.write(at(nth), skillText(`s${nth}`, 'before'));
    const program = await watching(t, tree);
    const reason = await nextNotice(program, () => {
      for (let nth = 0; nth < 200; nth++) {
        if (nth % 10 === 9) tree.remove(at(nth).replace('/SKILL.md', ''));
        else tree.write(at(nth), skillText(`s${nth}`, `after ${nth}`));
      }
    });
    assert.equal(reason, 'list changed (watch)');
    const found = [...(await program.description()).matchAll(/<description>after (.*)<\/description>/g)];
    const expected = Array.from({ length: 200 }, (_, nth) => nth).filter((nth) => nth % 10 !== 9);
    assert.equal(found.map(([, nth]) => nth).join(), expected.join());
    // Whatever else the burst might still cause comes before the notice of a later change.
    await nextNotice(program, () => tree.write('.claude/skills/last/SKILL.md', skillText('last')));
    assert.equal(program.notices().length, 2);
  });

  test('by the watcher sees every way to change a skill, again and again', async (t) => {
    const tree = makeTree(t, { [PDF]: skillText('pdf'), 'home/shared/linked/SKILL.md': skillText('linked') });
    tree.link('home/.claude/skills/linked', '../../shared/linked');
    const program = await watching(t, tree);
    const write = (file: string) => (text: string) => void tree.write(file, text);
    const saveAtomically = (text: string) => renameSync(tree.write(`${PDF}.tmp`, text), tree.at(PDF));
    const swap = (directory: string) => (text: string) => {
      const [now, next] = [tree.at(directory), tree.at(`${directory}.next`)];
      cpSync(now, next, { recursive: true });
      renameSync(now, `${now}.old`);
      renameSync(next, now);
      tree.remove(`${directory}.old`);
      tree.write(PDF, text);
    };
    const ways: readonly (readonly [what: string, change: (text: string) => void, name?: string])[] = [
      ['an edit in place', write(PDF)],
      ['an atomic save', saveAtomically],
      ['an edit after that', write(PDF)],
      ['a second atomic save', saveAtomically],
      ['a new directory', write('.claude/skills/new/a/SKILL.md'), 'new'],
      ['a skill deep inside another', write('.claude/skills/pdf/deep/er/SKILL.md'), 'deep'],
      ['an edit behind a link', write('home/shared/linked/SKILL.md'), 'linked'],
      ['another directory in its place', swap('.claude/skills/pdf')],
      ['an edit in that', write(PDF)],
      ['another root in its place', swap('.claude/skills')],
      ['an edit in that root', write(PDF)],
    ];
    for (const [what, change, name = 'pdf'] of ways) {
      change(skillText(name, what));
      for (let seen = false; !seen; ) {
        const before = program.notices().length;
        seen = (await program.description()).includes(`<description>${what}<`);
        if (!seen) await program.waitFor(() => program.notices().length > before, what);
      }
    }
  });
});
