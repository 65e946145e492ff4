/** What a refresh sees and what it costs: files while they are written, the timer, the watcher. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Program, startProgram } from '../harness/program.ts';
import { makeTree, pluginFiles, skillText, type Tree } from '../harness/tree.ts';

const FAST = ['--no-watch', '--refresh-interval', '40'];
const PDF = '.claude/skills/pdf/SKILL.md';

/** The timer is far away: what is noticed here was noticed by the watcher. */
async function watching(t: TestContext, tree: Tree, args: readonly string[] = []): Promise<Program> {
  const program = startProgram(t, { tree, args: ['--refresh-interval', '600000', '--log-level', 'debug', ...args] });
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

describe('the timer', { concurrency: 4 }, () => {
  test('an edit that keeps size and modification time is seen', async (t) => {
    const tree = makeTree(t, { [PDF]: skillText('pdf', 'aaaa') });
    const file = tree.at(PDF);
    fs.utimesSync(file, 1_700_000_000, 1_700_000_000);
    const program = startProgram(t, { tree, args: FAST });
    assert.match(await program.description(), /<description>aaaa</);
    const before = fs.statSync(file);
    fs.writeFileSync(file, skillText('pdf', 'bbbb'));
    fs.utimesSync(file, 1_700_000_000, 1_700_000_000);
    const after = fs.statSync(file);
    assert.deepEqual([after.size, after.mtimeMs, after.ino], [before.size, before.mtimeMs, before.ino]);
    await program.waitForStderr(/1 changed/);
    assert.match(await program.description(), /<description>bbbb</);
  });

  test('a root that did not exist, and plugins, are found by the timer', async (t) => {
    const tree = makeTree(t, { [PDF]: skillText('pdf') });
    const program = startProgram(t, { tree, args: ['--refresh-interval', '100'] });
    await program.handshake();
    await program.description();
    tree.write('.agents/skills/a/SKILL.md', skillText('a'));
    await program.waitForStderr(/refresh \(timer\): 1 added/);
    for (const [name, text] of Object.entries(pluginFiles('p:x')).reverse()) tree.write(name, text);
    await program.waitForStderr(/refresh \(timer\): 1 added[\s\S]*refresh \(timer\): 1 added/);
    assert.deepEqual(await program.names(), ['a', 'pdf', 'p:x']);
  });
});

/** Writes piece by piece in place; gives the longest time that passed without a write. */
async function writeSlowly(file: string, pieces: Iterable<string>, wait: number): Promise<number> {
  const handle = fs.openSync(file, 'w');
  let [longest, last] = [0, performance.now()];
  for (const piece of pieces) {
    fs.writeSync(handle, piece);
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    await pause(wait); // The pace of the writer is what is tested.
  }
  fs.closeSync(handle);
  return longest;
}

/**
 * Runs a scenario with a slow writer until one counts. On a machine so busy that the writer itself stood still for longer
 * than the program waits between its two looks, what it wrote so far is rightly taken for whole.
 */
async function unhurried(scenario: () => Promise<{ readonly longest: number; check(): void }>): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const { longest, check } = await scenario();
    if (longest < 240) return check();
  }
}

describe('files that are being written', { concurrency: 2 }, () => {
  test('a skill that is being rewritten in place keeps its last good state', (t) =>
    unhurried(async () => {
      const tree = makeTree(t, { [PDF]: skillText('pdf', 'old and whole') });
      const program = startProgram(t, { tree, args: ['--no-watch', '--refresh-interval', '20'] });
      const seen = new Set<string>();
      const look = async () => {
        const about = /<name>pdf<\/name>\n<description>([^<]*)/.exec(await program.description())?.[1] ?? 'absent';
        seen.add(about).add(`body ${/body: (.*)\n$/.exec(await program.skill('pdf'))?.[1] ?? 'none'}`);
        return about;
      };
      await look();
      // Every piece ends where a reader could take the file for whole.
      const pieces = ['', '---\nname: pdf\ndescription: new', ' and', ' whole\n---\n', 'body: ', 'half', ' more\n'];
      const writing = writeSlowly(tree.at(PDF), pieces, 100);
      while ((await look()) !== 'new and whole') await program.request('ping');
      const longest = await writing;
      await program.end();
      const expected = ['old and whole', 'body none', 'new and whole', 'body half more'];
      return { longest, check: () => assert.deepEqual([...seen].sort(), expected.sort()) };
    }));

  test('a file that is written without end keeps its last good state, and the timer goes on', (t) =>
    unhurried(async () => {
      const tree = makeTree(t, { [PDF]: skillText('pdf', 'good') });
      const program = startProgram(t, { tree, args: FAST });
      await program.description();
      let isDone = false;
      const blanks = function* () {
        yield skillText('pdf', 'bad');
        while (!isDone) yield ' ';
      };
      const writing = writeSlowly(tree.at(PDF), blanks(), 30);
      await program.nextRefresh();
      await program.nextRefresh();
      const meanwhile = await program.description();
      isDone = true;
      const longest = await writing;
      tree.write(PDF, skillText('pdf', 'at rest'));
      while (!(await program.description()).includes('<description>at rest<')) await program.nextRefresh();
      await program.end();
      return { longest, check: () => assert.match(meanwhile, /<description>good</) };
    }));
});

describe('the watcher', { concurrency: 4 }, () => {
  test('a burst of 200 edits gives one notification, and a final list equal to the disk', async (t) => {
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
    assert.equal(reason, '90 added, 90 changed, 10 removed (watch)');
    const about = [...(await program.description()).matchAll(/<description>(.*)<\/description>/g)];
    const expected = Array.from({ length: 200 }, (_, nth) => nth).filter((nth) => nth % 10 !== 9);
    assert.deepEqual(
      about.map(([, text]) => text),
      expected.map((nth) => `after ${nth}`),
    );
    // Whatever else the burst might still cause comes before the notice of a later change.
    await nextNotice(program, () => tree.write('.claude/skills/last/SKILL.md', skillText('last')));
    assert.equal(program.notices().length, 2);
  });

  test('atomic saves and edits in place are seen again and again', async (t) => {
    const tree = makeTree(t, { [PDF]: skillText('pdf', 'round 0') });
    const program = await watching(t, tree);
    for (let round = 1; round <= 4; round++) {
      await nextNotice(program, () => {
        const text = skillText('pdf', `round ${round}`);
        if (round % 2 === 0) tree.write(PDF, text);
        else fs.renameSync(tree.write(`${PDF}.tmp`, text), tree.at(PDF));
      });
      assert.match(await program.description(), new RegExp(`<description>round ${round}<`));
    }
  });

  test('a change right after the start, while watches are being set, is seen', async (t) => {
    const tree = makeTree(t, { [PDF]: skillText('pdf', 'old') });
    const program = startProgram(t, { tree, args: ['--refresh-interval', '600000'] });
    await program.handshake();
    await program.waitForStderr(/ready: 1 skill\b/);
    await nextNotice(program, () => tree.write(PDF, skillText('pdf', 'new')));
    assert.match(await program.description(), /<description>new</);
  });

  test('a skill in a new directory, deep inside another skill, or behind a link is seen', async (t) => {
    const tree = makeTree(t, { [PDF]: skillText('pdf'), 'home/shared/linked/SKILL.md': skillText('linked', 'old') });
    tree.link('home/.claude/skills/linked', '../../shared/linked');
    const program = await watching(t, tree);
    for (const path of ['.claude/skills/a', '.claude/skills/pdf/deep/er/b', '.claude/skills/new/c'])
      await nextNotice(program, () => tree.write(`${path}/SKILL.md`, skillText(path.slice(-1))));
    await nextNotice(program, () => tree.write('home/shared/linked/SKILL.md', skillText('linked', 'new')));
    assert.deepEqual(await program.names(), ['a', 'pdf', 'c', 'b', 'linked']);
    assert.match(await program.description(), /<description>new</);
  });

  for (const how of ['removed and made anew', 'swapped by renaming']) {
    test(`a root and a directory in it, ${how}, are watched where they are now`, async (t) => {
      const file = '.claude/skills/group/pdf/SKILL.md';
      const tree = makeTree(t, { [file]: skillText('pdf', 'old') });
      const program = await watching(t, tree);
      // Setting the first watches causes a refresh.
      await program.waitForStderr(/refresh \(watch\)/);
      for (const directory of ['.claude/skills/group/pdf', '.claude/skills/group', '.claude/skills']) {
        const seen = program.stderr().length;
        const path = tree.at(directory);
        fs.cpSync(path, `${path}.copy`, { recursive: true });
        if (how.startsWith('swapped')) fs.renameSync(path, `${path}.old`);
        else fs.rmSync(path, { recursive: true });
        // A directory that is made now may even get the number of the one that was removed.
        if (how.startsWith('swapped')) fs.renameSync(`${path}.copy`, path);
        else fs.cpSync(`${path}.copy`, path, { recursive: true });
        for (const left of ['copy', 'old']) fs.rmSync(`${path}.${left}`, { recursive: true, force: true });
        await program.waitForStderr(/refresh \(watch\)/, seen);
        for (const round of [1, 2]) {
          await nextNotice(program, () => tree.write(file, skillText('pdf', `${directory} ${round}`)));
          assert.match(await program.description(), new RegExp(`<description>${directory} ${round}<`));
        }
      }
    });
  }
});
