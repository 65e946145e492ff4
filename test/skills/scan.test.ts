import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, { mkdirSync, renameSync, truncateSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MAX_DEPTH, MAX_SKILL_BYTES, MAX_TEXT_HELD, SETTLE_MS } from '../../src/limits.ts';
import type { Problem } from '../../src/model.ts';
import { createScanner } from '../../src/skills/scan.ts';
import { makeTree, skillText } from '../harness/tree.ts';

/** A tree, and functions that scan it again and again. */
function start(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const tree = makeTree(t, files);
  const scanRoots = createScanner();
  const root = { directory: tree.path, provider: 'custom', location: 'custom', depth: MAX_DEPTH } as const;
  const scan = async () => {
    // A root that is named twice counts once.
    const result = await scanRoots([root, root]);
    const lineOf = ({ where, what, mild }: Problem) => `${relative(tree.path, where)}: ${what}${mild ? ' (mild)' : ''}`;
    const said = result.problems.map(lineOf);
    return { ...result, said, descriptions: result.skills.map(({ description }) => description).join() };
  };
  /** The descriptions after a scan that waits for a writer. Instead of the wait, `meanwhile` happens. */
  const scanAndSettle = async (meanwhile = () => {}) => {
    // The clock stands still: a slow machine must not make the change an old one.
    moveClock(t, 0);
    const waits: number[] = [];
    const { mock: wait } = t.mock.method(globalThis, 'setTimeout', (done: () => void, ms: number) => {
      waits.push(ms);
      meanwhile();
      done();
    });
    const { descriptions } = await scan();
    wait.restore();
    assert.deepEqual(waits, [SETTLE_MS]);
    return descriptions;
  };
  return { tree, scan, scanAndSettle };
}

/** The time that files are judged by, `later` than it is. */
function moveClock(t: TestContext, later: number): void {
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + later });
}

const FAULTS = `
huge/SKILL.md: cannot be read: it has over 1048576 bytes
odd/SKILL.md: front matter is not valid YAML; name and description were read leniently (mild)
outside/SKILL.md: cannot be read: it leads out of its directory
pipe/SKILL.md: cannot be read: it is not a regular file`;

test('only regular files of a sane size inside their skill are read, and nothing blocks', async (t) => {
  const { tree, scan } = start(t, {
    'good/SKILL.md': skillText('good'),
    'inside/real.md': skillText('inside'),
    'huge/SKILL.md': skillText('huge', 'x', 'x'.repeat(MAX_SKILL_BYTES)),
    'odd/SKILL.md': skillText('odd', 'Use when: odd'),
    far: skillText('x'),
  });
  mkdirSync(tree.at('pipe'));
  execFileSync('mkfifo', [tree.at('pipe/SKILL.md')]);
  const links = { inside: 'real.md', outside: '../far' };
  for (const [name, target] of Object.entries(links)) tree.link(`${name}/SKILL.md`, target);
  const { skills, said } = await scan();
  assert.equal(skills.map(({ name }) => name).join(), 'good,inside,odd');
  assert.equal(`\n${said.join('\n')}`.replace(/(?<=YAML):.*(?=; name)/, ''), FAULTS);
});

test('unchanged files are not opened, unless they had changed within two seconds before or a link leads elsewhere', async (t) => {
  const { tree, scan } = start(t, { 'a/SKILL.md': skillText('a'), 'b/SKILL.md': 'broken' });
  const open = t.mock.method(fs, 'openSync');
  syncBuiltinESMExports();
  const first = await scan();
  const opened: number[] = [];
  for (const later of [1000, 3000, 3000, 3000]) {
    moveClock(t, later);
    opened.push(open.mock.callCount());
    const next = await scan();
    assert.equal(next.skills[0], first.skills[0]);
    assert.deepEqual(next.problems, first.problems);
  }
  assert.deepEqual(opened, [2, 4, 6, 6]);
  renameSync(tree.at('a'), tree.at('moved'));
  tree.link('a', 'moved');
  const [moved] = (await scan()).skills;
  assert.equal((await moved?.files.list(''))?.length, 1, 'its files are those of the new place');
});

test('equal bytes stay the same skill, changed ones become another in the same place of the order', async (t) => {
  const files = Object.fromEntries([...'abc'].map((name) => [`${name}/SKILL.md`, skillText(name)]));
  const { tree, scan, scanAndSettle } = start(t, files);
  const first = await scan();
  for (const name of ['a', 'b']) tree.write(`${name}/SKILL.md`, skillText(name, name === 'a' ? undefined : 'new'));
  assert.equal(await scanAndSettle(), 'About a,new,About c');
  tree.remove('b');
  tree.write('d/SKILL.md', skillText('d'));
  const { skills, descriptions } = await scan();
  assert.equal(descriptions, 'About a,About c,About d');
  assert.ok(skills[0] === first.skills[0] && skills[1] === first.skills[2]);
});

test('what changes during the wait keeps its last good state, and is read at the next scan', async (t) => {
  const { tree, scan, scanAndSettle } = start(t, { 'pdf/SKILL.md': skillText('pdf', 'old') });
  const write = (about: string) => void tree.write('pdf/SKILL.md', skillText('pdf', about));
  await scan();
  write('half');
  assert.equal(await scanAndSettle(() => write('whole text')), 'old');
  moveClock(t, 1000);
  assert.equal((await scan()).descriptions, 'whole text');
  write('new');
  // The file is the same, so that only its directory tells the difference.
  const becomeLink = () => {
    renameSync(tree.at('pdf'), tree.at('moved'));
    tree.link('pdf', 'moved');
  };
  assert.equal(await scanAndSettle(becomeLink), 'whole text');
});

test('a recent file that does not parse keeps its last good state; later it is a Problem', async (t) => {
  const { tree, scan } = start(t, { 'pdf/SKILL.md': skillText('pdf', 'old') });
  const first = await scan();
  tree.write('pdf/SKILL.md', '---\nname: pdf\n');
  moveClock(t, 1000);
  const recent = await scan();
  assert.deepEqual([recent.skills, recent.problems], [first.skills, []]);
  moveClock(t, 3000);
  const later = await scan();
  assert.deepEqual([later.skills, later.said], [[], ['pdf/SKILL.md: front matter is not closed']]);
});

test('texts are held up to a limit, other work has its turn meanwhile, and a Problem says what is left out', async (t) => {
  const { tree, scan } = start(t);
  const fitting = MAX_TEXT_HELD / MAX_SKILL_BYTES;
  for (let nth = 0; nth < fitting + 3; nth++)
    truncateSync(tree.write(`s${nth}/SKILL.md`, skillText(`s${nth}`)), MAX_SKILL_BYTES);
  let turns = 0;
  const turn = setInterval(() => turns++);
  t.after(() => clearInterval(turn));
  for (const round of [1, 2]) {
    const { skills, problems } = await scan();
    assert.deepEqual([skills.length, problems[0]?.what.split(':')[0]], [fitting, '3 skills left out']);
    assert.ok(turns > round * 5, `${turns}`);
  }
});
