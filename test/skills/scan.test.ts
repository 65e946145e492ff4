import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, { mkdirSync, renameSync, truncateSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { mock, type TestContext, test } from 'node:test';
import { MAX_DEPTH, MAX_SKILL_BYTES, MAX_TEXT_HELD, SETTLE_MS } from '../../src/limits.ts';
import type { Root } from '../../src/skills/roots.ts';
import { createScanner, type Scan } from '../../src/skills/scan.ts';
import { makeTree, skillText } from '../harness/tree.ts';

/** A tree, and a function that scans directories of it again and again; the whole of it unless told. */
function start(t: TestContext, files: Readonly<Record<string, string>> = {}, more: Partial<Root> = {}) {
  const tree = makeTree(t, files);
  const scanRoots = createScanner();
  const base = { provider: 'custom', location: 'custom', depth: MAX_DEPTH } as const;
  const scan = async (...paths: readonly string[]) => {
    const roots = (paths.length > 0 ? paths : ['']).map((path) => ({ ...base, directory: tree.at(path), ...more }));
    const result = await scanRoots(roots);
    const said = result.problems.map(({ where, what }) => `${where.slice(tree.path.length + 1)}: ${what}`);
    return { ...result, said, descriptions: result.skills.map(({ description }) => description).join() };
  };
  return { tree, scan };
}

/** The time that files are judged by, `later` than it is. */
function moveClock(t: TestContext, later: number): void {
  mock.timers.reset();
  mock.timers.enable({ apis: ['Date'], now: Date.now() + later });
  t.after(() => mock.timers.reset());
}

/** A scan that waits for a writer: runs `meanwhile` during the wait. */
async function settle<T extends Scan>(scan: () => Promise<T>, meanwhile = () => {}): Promise<T> {
  // Time stands still until then: a slow machine must not make the change an old one.
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() });
  try {
    let isDone = false;
    const result = scan().finally(() => {
      isDone = true;
    });
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    mock.timers.tick(SETTLE_MS - 1);
    await new Promise(setImmediate);
    assert.ok(!isDone, 'it waits');
    meanwhile();
    mock.timers.tick(1);
    return await result;
  } finally {
    mock.timers.reset();
  }
}

test('a skill has everything of its root, its directory and its file, byte for byte', async (t) => {
  const text = skillText('a', 'Über → alles', `${'x'.repeat(100)}\xff`);
  const of = { provider: 'claude', plugin: { name: 'p', marketplace: 'm' } };
  const { tree, scan } = start(t, { 'a/SKILL.md': text, 'a/scripts/run.sh': '', 'b/x': '' }, of);
  const { skills, problems, directories } = await scan();
  const { files, place, ...rest } = skills[0] ?? assert.fail();
  const directory = tree.at('a');
  assert.deepEqual(rest, {
    ...{ name: 'a', description: 'Über → alles', location: 'custom', ...of },
    ...{ root: tree.path, directory, file: `${directory}/SKILL.md`, bytes: Buffer.from(text) },
  });
  assert.equal((await files.read('scripts/run.sh', 10)).length, 0);
  const paths = directories.map(({ path }) => path.slice(tree.path.length));
  assert.deepEqual([problems, paths], [[], ['', '/a', '/b', '/a/scripts']]);
  assert.equal(directories[1]?.identity, place);
});

const FAULTS = [
  /^broken\/SKILL.md: there is no front matter$/,
  /^directory\/SKILL.md: cannot be read: it is a directory$/,
  /^huge\/SKILL.md: cannot be read: it has over 1048576 bytes$/,
  /^nowhere\/SKILL.md: cannot be read: ENOENT/,
  /^odd\/SKILL.md: front matter is not valid YAML: .* leniently$/,
  /^outside\/SKILL.md: cannot be read: it leads out of its directory$/,
  /^pipe\/SKILL.md: cannot be read: it is not a regular file$/,
];

test('only regular files of a sane size inside their skill are read, and nothing blocks', async (t) => {
  const { tree, scan } = start(t, {
    'good/SKILL.md': skillText('good'),
    'inside/real.md': skillText('inside'),
    'directory/SKILL.md/SKILL.md': skillText('inner'),
    'huge/SKILL.md': skillText('huge', 'x', 'x'.repeat(MAX_SKILL_BYTES)),
    'broken/SKILL.md': 'no front matter',
    'odd/SKILL.md': skillText('odd', 'Use when: odd'),
    far: skillText('x'),
  });
  mkdirSync(tree.at('pipe'));
  execFileSync('mkfifo', [tree.at('pipe/SKILL.md')]);
  const links = { inside: 'real.md', outside: '../far', nowhere: 'gone.md' };
  for (const [name, target] of Object.entries(links)) tree.link(`${name}/SKILL.md`, target);
  const { skills, problems, said } = await scan();
  assert.equal(skills.map(({ name }) => name).join(), 'good,inside,odd');
  assert.equal(said.length, FAULTS.length, said.join('\n'));
  for (const [nth, words] of FAULTS.entries()) assert.match(said[nth] ?? '', words);
  const mild = problems.filter((problem) => problem.mild).map(({ where }) => where);
  assert.deepEqual(mild, [tree.at('odd/SKILL.md')]);
});

test('unchanged files are not opened, unless they had changed within two seconds before', async (t) => {
  const { scan } = start(t, { 'a/SKILL.md': skillText('a'), 'b/SKILL.md': 'broken' });
  const open = mock.method(fs, 'openSync');
  syncBuiltinESMExports();
  t.after(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });
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
});

test('equal bytes stay the same skill, changed ones become another in the same place of the order', async (t) => {
  const { tree, scan } = start(t, Object.fromEntries([...'abc'].map((name) => [`${name}/SKILL.md`, skillText(name)])));
  const first = await scan();
  for (const name of ['a', 'b']) tree.write(`${name}/SKILL.md`, skillText(name, name === 'a' ? undefined : 'new'));
  const second = await settle(scan);
  assert.equal(second.descriptions, 'About a,new,About c');
  const isKept = second.skills.map((skill, nth) => skill === first.skills[nth]);
  assert.deepEqual(isKept, [true, false, true]);
  tree.remove('b');
  tree.write('d/SKILL.md', skillText('d'));
  assert.equal((await scan()).descriptions, 'About a,About c,About d');
});

test('what changes during the wait keeps its last good state, and is read at the next scan', async (t) => {
  const { tree, scan } = start(t, { 'pdf/SKILL.md': skillText('pdf', 'old'), 'out/x': '' });
  await scan('pdf');
  tree.write('pdf/SKILL.md', skillText('pdf', 'half'));
  const change = () => void tree.write('pdf/SKILL.md', skillText('pdf', 'whole text'));
  assert.equal((await settle(() => scan('pdf'), change)).descriptions, 'old');
  moveClock(t, 1000);
  assert.equal((await scan('pdf')).descriptions, 'whole text');
  mock.timers.reset();
  tree.write('pdf/SKILL.md', skillText('pdf', 'new'));
  const becomeLink = () => {
    renameSync(tree.at('pdf'), tree.at('moved'));
    // The same file, so that only its directory tells the difference.
    renameSync(tree.at('moved/SKILL.md'), tree.at('out/SKILL.md'));
    tree.link('pdf', 'out');
  };
  assert.equal((await settle(() => scan('pdf'), becomeLink)).descriptions, 'whole text');
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

test('a link that leads to the same directory in another place gives its files there; a root counts once', async (t) => {
  const { tree, scan } = start(t, { 'kept/one/SKILL.md': skillText('pdf') });
  moveClock(t, 3000);
  for (const [name, before] of [
    ['one', undefined],
    ['two', 'one'],
  ] as const) {
    if (before) renameSync(tree.at(`kept/${before}`), tree.at(`kept/${name}`));
    tree.remove('root');
    tree.link('root', `kept/${name}`);
    const [skill, ...others] = (await scan('root', 'root')).skills;
    assert.deepEqual([(await skill?.files.list(''))?.length, others], [1, []]);
  }
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
