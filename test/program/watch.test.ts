import assert from 'node:assert/strict';
import { cpSync, renameSync, rmSync } from 'node:fs';
import { describe, it, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { names } from '../harness/listing.ts';
import { type Answer, modern, type Program, startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

// The timer is far away: what is noticed here was noticed by the watcher.
const WATCHING = ['--refresh-interval', '600000'];
const PDF = '.claude/skills/pdf/SKILL.md';

const isListChange = (message: Answer) => message.method === 'notifications/tools/list_changed';
const notices = (program: Program) => program.received.filter(isListChange);

/** Waits for one notice more than there were. */
async function nextNotice(program: Program): Promise<Answer> {
  const before = notices(program).length;
  await program.waitFor(() => notices(program).length > before, `notice ${before + 1}`);
  return notices(program)[before];
}

async function start(
  t: Parameters<typeof startProgram>[0],
  tree: Tree,
  args: readonly string[] = [],
): Promise<Program> {
  const program = startProgram(t, { tree, args: [...WATCHING, ...args] });
  await program.handshake();
  await program.description();
  return program;
}

test('a burst of 200 edits gives one notification, and a final list equal to the disk', async (t) => {
  const at = (nth: number) => `.claude/skills/s${String(nth).padStart(3, '0')}/SKILL.md`;
  const tree = makeTree(t);
  for (let nth = 0; nth < 100; nth++) tree.write(at(nth), skillText(`s${nth}`, 'before'));
  const program = await start(t, tree);
  for (let nth = 0; nth < 200; nth++) {
    if (nth % 10 === 9) tree.remove(at(nth).replace('/SKILL.md', ''));
    else tree.write(at(nth), skillText(`s${nth}`, `after ${nth}`));
    if (nth % 20 === 0) await pause(30);
  }
  const notice = await nextNotice(program);
  assert.deepEqual(notice.params, { _meta: { 'skillwire/reason': '90 added, 90 changed, 10 removed (watch)' } });
  const about = [...(await program.description()).matchAll(/<description>(.*)<\/description>/g)].map(
    ([, text]) => text,
  );
  const expected = Array.from({ length: 200 }, (_, nth) => nth).filter((nth) => nth % 10 !== 9);
  assert.deepEqual(
    about,
    expected.map((nth) => `after ${nth}`),
  );
  // Whatever else the burst might still cause comes before the notice of a later change.
  tree.write('.claude/skills/last/SKILL.md', skillText('last'));
  await nextNotice(program);
  assert.equal(notices(program).length, 2);
});

test('atomic saves and edits in place are seen again and again', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf', 'round 0') });
  const program = await start(t, tree);
  for (let round = 1; round <= 4; round++) {
    const notice = nextNotice(program);
    const text = skillText('pdf', `round ${round}`);
    if (round % 2 === 0) tree.write(PDF, text);
    else renameSync(tree.write(`${PDF}.tmp`, text), tree.at(PDF));
    await notice;
    assert.match(await program.description(), new RegExp(`<description>round ${round}<`));
  }
});

test('a change right after the start, while watches are being set, is seen', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf', 'old') });
  const program = startProgram(t, { tree, args: WATCHING });
  await program.handshake();
  await program.waitForStderr(/ready: 1 skill\b/);
  tree.write(PDF, skillText('pdf', 'new'));
  await nextNotice(program);
  assert.match(await program.description(), /<description>new</);
});

for (const path of [
  '.claude/skills/a',
  '.agents/skills/a',
  'skills/a',
  'home/.codex/skills/a',
  'dir/sub/a',
  '.claude/skills/pdf/deep/a',
]) {
  test(`the first skill in a new directory is seen: ${path}`, async (t) => {
    const tree = makeTree(t, { 'home/x': '', ...(path.includes('pdf') ? { [PDF]: skillText('pdf') } : {}) });
    const program = await start(t, tree, ['--skill-dir', 'dir/sub']);
    const notice = nextNotice(program);
    tree.write(`${path}/SKILL.md`, skillText('a'));
    await notice;
    assert.ok((await names(program)).includes('a'));
  });
}

test('a skill behind a link is watched where it really lies', async (t) => {
  const tree = makeTree(t, { 'home/shared/pdf/SKILL.md': skillText('pdf', 'old') });
  tree.link('home/.claude/skills/pdf', '../../shared/pdf');
  const program = await start(t, tree);
  const notice = nextNotice(program);
  tree.write('home/shared/pdf/SKILL.md', skillText('pdf', 'new'));
  await notice;
  assert.match(await program.description(), /<description>new</);
});

test('--no-watch leaves it to the timer', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf') });
  const [watching, resting] = await Promise.all([start(t, tree), start(t, tree, ['--no-watch'])]);
  tree.write('.claude/skills/a/SKILL.md', skillText('a'));
  await nextNotice(watching);
  assert.deepEqual(await names(resting), ['pdf']);
  assert.doesNotMatch(resting.stderr(), /refresh/);
});

test('a modern subscription hears of the same changes, tagged as its own, with a short reason', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf') });
  const program = startProgram(t, { tree, args: WATCHING });
  await program.request('tools/list', modern());
  program.send({
    jsonrpc: '2.0',
    id: 'sub',
    method: 'subscriptions/listen',
    params: modern({ notifications: { toolsListChanged: true } }),
  });
  await program.waitFor(({ method }) => method === 'notifications/subscriptions/acknowledged', 'acknowledgement');
  tree.write('.claude/skills/a/SKILL.md', skillText('a'));
  const notice = await program.waitFor(isListChange, 'the notice');
  assert.deepEqual(notice.params, {
    _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub', 'skillwire/reason': '1 added (watch)' },
  });
});

/** Ways to put another directory in the place of one, with equal files in it. */
const REPLACEMENTS: readonly (readonly [how: string, replace: (path: string) => void])[] = [
  [
    'removed and made anew',
    (path) => {
      cpSync(path, `${path}.copy`, { recursive: true });
      rmSync(path, { recursive: true });
      // Not renamed back: what is made now may even get the number of what was removed.
      cpSync(`${path}.copy`, path, { recursive: true });
      rmSync(`${path}.copy`, { recursive: true });
    },
  ],
  [
    'swapped by renaming',
    (path) => {
      cpSync(path, `${path}.new`, { recursive: true });
      renameSync(path, `${path}.old`);
      renameSync(`${path}.new`, path);
      rmSync(`${path}.old`, { recursive: true });
    },
  ],
];

// Each waits more than it works.
describe('a directory that was replaced', { concurrency: 6 }, () => {
  for (const [how, replace] of REPLACEMENTS) {
    for (const [what, directory] of [
      ['a skill directory', '.claude/skills/group/pdf'],
      ['a directory of skills', '.claude/skills/group'],
      ['a root', '.claude/skills'],
      ['the directory around a root', '.claude'],
      ['a directory without skills', '.claude/skills/empty'],
    ] as const) {
      it(`${what} that was ${how} is watched where it is now (10.8)`, async (t) => {
        const tree = makeTree(t, {
          '.claude/skills/group/pdf/SKILL.md': skillText('pdf', 'old'),
          '.claude/skills/empty/x': '',
        });
        const program = await start(t, tree);
        await pause(700); // The refresh that follows new watches.
        replace(tree.at(directory));
        await pause(1500); // The refresh that sees it, and new watches.
        for (const round of [1, 2]) {
          const notice = nextNotice(program);
          if (directory.endsWith('empty'))
            tree.write(`${directory}/s${round}/SKILL.md`, skillText(`s${round}`, `round ${round}`));
          else tree.write('.claude/skills/group/pdf/SKILL.md', skillText('pdf', `round ${round}`));
          await notice;
          assert.match(await program.description(), new RegExp(`<description>round ${round}<`));
        }
      });
    }

    it(`the directory of the plugins file that was ${how} is watched where it is now (10.8)`, async (t) => {
      const file = 'home/.claude/plugins/installed_plugins.json';
      const plugins = (...names: readonly string[]) =>
        JSON.stringify({
          plugins: Object.fromEntries(names.map((name) => [`${name}@m`, { installPath: `cache/${name}` }])),
        });
      const tree = makeTree(t, { [file]: plugins('a') });
      for (const name of ['a', 'b'])
        tree.write(`home/.claude/plugins/cache/${name}/skills/${name}/SKILL.md`, skillText(name));
      const program = await start(t, tree);
      await pause(700);
      replace(tree.at('home/.claude/plugins'));
      await pause(1500);
      const notice = nextNotice(program);
      tree.write(file, plugins('a', 'b'));
      await notice;
      assert.deepEqual(await names(program), ['a:a', 'b:b']);
    });
  }
});
