import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { names } from '../harness/listing.ts';
import { type Answer, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const FAST = ['--no-watch', '--refresh-interval', '40'];
const PDF = '.claude/skills/pdf/SKILL.md';

const isListChange = (message: Answer) => message.method === 'notifications/tools/list_changed';

test('added, changed and removed skills are noticed by the timer, and each refresh is a line', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf', 'old') });
  const program = startProgram(t, { tree, args: FAST });
  const notices = () => program.received.filter(isListChange).length;
  // Two changes that follow each other closely are told in one.
  const told = (count: number) => program.waitFor(() => notices() === count, `notice ${count}`);
  await program.handshake();
  assert.match(await program.description(), /<description>old</);
  tree.write(PDF, skillText('pdf', 'new', 'a new body\n'));
  await program.waitForStderr(/refresh \(timer\): 0 added, 1 changed, 0 removed; 1 skill in \d+ ms\n/);
  assert.match(await program.description(), /<description>new</);
  assert.match(await program.skill('pdf'), /a new body\n$/);
  await told(1);
  tree.write('.claude/skills/docx/SKILL.md', skillText('docx'));
  await program.waitForStderr(/refresh \(timer\): 1 added, 0 changed, 0 removed; 2 skills/);
  assert.deepEqual(await names(program), ['docx', 'pdf']);
  await told(2);
  tree.remove('.claude/skills/pdf');
  await program.waitForStderr(/refresh \(timer\): 0 added, 0 changed, 1 removed; 1 skill/);
  assert.match(await program.skill('pdf'), /^Skill 'pdf' not found\./);
  await told(3);
});

test('an edit that keeps size and modification time is seen', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf', 'aaaa') });
  const file = tree.at(PDF);
  utimesSync(file, 1_700_000_000, 1_700_000_000);
  const program = startProgram(t, { tree, args: FAST });
  await program.handshake();
  assert.match(await program.description(), /<description>aaaa</);
  const before = statSync(file, { bigint: true });
  writeFileSync(file, skillText('pdf', 'bbbb'));
  utimesSync(file, 1_700_000_000, 1_700_000_000);
  const after = statSync(file, { bigint: true });
  assert.deepEqual([after.size, after.mtimeNs, after.ino], [before.size, before.mtimeNs, before.ino]);
  await program.waitFor(isListChange, 'the notice');
  assert.match(await program.description(), /<description>bbbb</);
});

test('an unchanged tree is looked at, but nothing in it is opened, listed or parsed', async (t) => {
  const tree = makeTree(t, {
    [PDF]: skillText('pdf'),
    '.claude/skills/quoted/SKILL.md': '---\nname: "quoted"\ndescription: "needs: YAML"\n---\n',
    'home/.claude/plugins/installed_plugins.json': '{"plugins":{"p@m":{"installPath":"p"}}}',
    'home/.claude/plugins/p/skills/x/SKILL.md': skillText('x'),
    'home/.claude/settings.json': '{}',
    'preload.mjs': `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      for (const name of ['openSync', 'open', 'readFileSync', 'readFile', 'readdirSync']) {
        const original = fs[name];
        fs[name] = (path, ...rest) => {
          if (String(path).startsWith(${JSON.stringify('%TREE%')})) fs.writeSync(2, 'touched ' + name + ' ' + path + '\\n');
          return original(path, ...rest);
        };
      }
      syncBuiltinESMExports();`,
  });
  tree.write('preload.mjs', readFileSync(tree.at('preload.mjs'), 'utf8').replace('%TREE%', tree.path));
  await pause(50); // Until it has settled: what changed within the last clock tick is rightly read twice.
  const env = { NODE_OPTIONS: `--import ${pathToFileURL(tree.at('preload.mjs')).href}` };
  const program = startProgram(t, { tree, args: FAST, env });
  await program.handshake();
  assert.deepEqual(await names(program), ['pdf', 'quoted', 'p:x']);
  await program.waitForStderr(/(?:refresh \(timer\): no change[\s\S]*){3}/);
  const [first = '', ...later] = program.stderr().split('refresh (timer): no change');
  for (const file of [PDF, 'quoted/SKILL.md', 'x/SKILL.md', 'installed_plugins.json'])
    assert.ok(first.includes(file), file);
  const touched = later
    .slice(1)
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('touched'));
  // Which directories there are is found out by listing the project and the home; that is all.
  const looked = [tree.path, tree.at('home'), tree.at('home/.config')].map((path) => `touched readdirSync ${path}`);
  assert.deepEqual([...new Set(touched)].sort(), looked.sort());
});

/** Writes piece by piece in place; gives the longest time that passed without a write. */
async function writeSlowly(file: string, pieces: Iterable<string>, wait: number): Promise<number> {
  const handle = openSync(file, 'w');
  let [longest, last] = [0, performance.now()];
  for (const piece of pieces) {
    writeSync(handle, piece);
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    await pause(wait);
  }
  closeSync(handle);
  return longest;
}

/**
 * Runs a scenario with a slow writer until one counts. On a machine so busy that the writer itself stood still for
 * longer than the program waits between its two looks, what it wrote so far is rightly taken for whole.
 */
async function unhurried(
  scenario: () => Promise<{ readonly longest: number; readonly check: () => void }>,
): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const { longest, check } = await scenario();
    if (longest < 240) return check();
  }
}

for (const [what, before] of [
  ['a skill that is being rewritten in place keeps its last good state', skillText('pdf', 'old and whole')],
  ['a new skill that is being written in place does not show before it is whole', undefined],
] as const) {
  test(what, async (t) => {
    await unhurried(async () => {
      const tree = makeTree(t, { '.claude/skills/other/SKILL.md': skillText('other'), '.claude/skills/pdf/x': '' });
      if (before !== undefined) tree.write(PDF, before);
      const program = startProgram(t, { tree, args: ['--no-watch', '--refresh-interval', '20'] });
      await program.handshake();
      const seen = new Set<string>();
      const look = async () => {
        const about = /<name>pdf<\/name>\n<description>([^<]*)/.exec(await program.description())?.[1];
        seen.add(about ?? 'absent');
        if (about !== undefined) seen.add(`body ${/body: (.*)\n$/.exec(await program.skill('pdf'))?.[1] ?? 'none'}`);
        return about;
      };
      await look();
      // Every piece ends where a reader could take the file for whole.
      const pieces = ['', '---\nname: pdf\ndescription: new', ' and', ' whole\n---\n', 'body: ', 'half', ' more\n'];
      const writing = writeSlowly(tree.at(PDF), pieces, 100);
      while ((await look()) !== 'new and whole') await pause(10);
      const longest = await writing;
      await program.end();
      const old = before === undefined ? ['absent'] : ['old and whole', 'body none'];
      const check = () => assert.deepEqual([...seen].sort(), [...old, 'new and whole', 'body half more'].sort());
      return { longest, check };
    });
  });
}

test('a file that is written without end keeps its last good state, and the timer goes on', async (t) => {
  await unhurried(async () => {
    const tree = makeTree(t, { [PDF]: skillText('pdf', 'good') });
    const program = startProgram(t, { tree, args: FAST });
    await program.handshake();
    await program.description();
    let done = false;
    const blanks = function* () {
      yield skillText('pdf', 'bad');
      while (!done) yield ' ';
    };
    const writing = writeSlowly(tree.at(PDF), blanks(), 30);
    await program.waitForStderr(/(?:refresh \((?:timer|settling)\): [\s\S]*){4}/);
    const meanwhile = await program.description();
    done = true;
    const longest = await writing;
    tree.write(PDF, skillText('pdf', 'at rest'));
    while (!(await program.description()).includes('<description>at rest<')) await pause(20);
    await program.end();
    return { longest, check: () => assert.match(meanwhile, /<description>good</) };
  });
});

test('nothing is announced before the handshake, and nothing that happened before it afterwards', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf') });
  const program = startProgram(t, { tree, args: FAST });
  await program.waitForStderr(/ready: 1 skill\b/);
  tree.write('.claude/skills/a/SKILL.md', skillText('a'));
  await program.waitForStderr(/1 added/);
  const answer = await program.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  assert.equal(answer.result.capabilities.tools.listChanged, true);
  tree.write('.claude/skills/b/SKILL.md', skillText('b'));
  await program.waitForStderr(/1 added[\s\S]*1 added/);
  program.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  assert.deepEqual(await names(program), ['a', 'b', 'pdf']);
  assert.deepEqual(
    program.received.filter(({ method }) => method !== undefined),
    [],
  );
  tree.write('.claude/skills/c/SKILL.md', skillText('c'));
  const notice = await program.waitFor(isListChange, 'the notice');
  assert.deepEqual(notice.params, { _meta: { 'skillwire/reason': '1 added (timer)' } });
});

test('a change that no client was shown is not announced', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf', 'same', 'old body') });
  const program = startProgram(t, { tree, args: [...FAST, '--log-level', 'debug'] });
  await program.handshake();
  await program.description();
  tree.write(PDF, skillText('pdf', 'same', 'new body'));
  await program.waitForStderr(/1 changed/);
  assert.match(await program.skill('pdf'), /new body$/);
  // The file is read again, after two looks, but the same bytes are no change at all.
  utimesSync(tree.at(PDF), new Date(), new Date());
  await program.waitForStderr(/1 changed[\s\S]*no change; 1 skill in [2-9]\d\d ms/);
  assert.equal(program.stderr().match(/1 changed/g)?.length, 1);
  tree.write('.claude/skills/bad/SKILL.md', 'nothing to list');
  await program.waitForStderr(/there is no front matter/);
  assert.deepEqual(program.received.filter(isListChange), []);
});

test('--no-refresh looks once', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf') });
  const still = startProgram(t, { tree, args: ['--no-refresh', '--refresh-interval', '20'] });
  const other = startProgram(t, { tree });
  await Promise.all([still.handshake(), other.handshake()]);
  await Promise.all([still.description(), other.description()]);
  tree.write('.claude/skills/a/SKILL.md', skillText('a'));
  await other.waitFor(isListChange, 'the notice of the one that watches');
  assert.deepEqual(await names(still), ['pdf']);
  assert.doesNotMatch(still.stderr(), /refresh/);
});

test('a skill that is replaced by another directory of the same name is the new one', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf', 'first'), 'next/SKILL.md': skillText('pdf', 'second') });
  const program = startProgram(t, { tree, args: FAST });
  await program.handshake();
  await program.description();
  renameSync(tree.at('.claude/skills/pdf'), tree.at('last'));
  renameSync(tree.at('next'), tree.at('.claude/skills/pdf'));
  await program.waitFor(isListChange, 'the notice');
  assert.match(await program.description(), /<description>second</);
});

test('filters are applied again at every refresh', async (t) => {
  const tree = makeTree(t, { [PDF]: skillText('pdf'), '.codex/skills/a/SKILL.md': skillText('a') });
  const program = startProgram(t, { tree, args: [...FAST, '--include', 'codex', '--exclude', 'secret*'] });
  await program.handshake();
  assert.deepEqual(await names(program), ['a']);
  await program.waitForStderr(/warn: filter "secret\*": matches nothing/);
  tree.write('.claude/skills/b/SKILL.md', skillText('b'));
  tree.write('.codex/skills/c/SKILL.md', skillText('c'));
  tree.write('.codex/skills/secret-d/SKILL.md', skillText('secret-d'));
  await program.waitForStderr(/1 added/);
  assert.deepEqual(await names(program), ['a', 'c']);
  assert.match(await program.skill('secret-d'), /^Skill 'secret-d' not found\./);
});

test('a file that is saved by removing and writing it anew is not an error in between', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const program = startProgram(t, { tree, args: ['--no-refresh'] });
  await program.description();
  tree.remove('skills/pdf/SKILL.md');
  const asked = program.skill('pdf');
  setTimeout(() => tree.write('skills/pdf/SKILL.md', skillText('pdf', 'new')), 5);
  assert.match(await asked, /^Loading: pdf/);
});
