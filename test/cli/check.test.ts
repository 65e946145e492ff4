/** `skillwire check` as a program: which files it checks, what it prints, and how it exits. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RULES } from '../../src/cli/check/rules.ts';
import { MAX_SKILL_BYTES, MAX_SKILL_FILES } from '../../src/skills/limits.ts';
import { CACHE_HOME, PROGRAM } from '../harness/program.ts';
import { withoutPrivilege } from '../harness/rights.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

// Seen from .test-build/test/cli.
const README = readFileSync(fileURLToPath(new URL('../../../README.md', import.meta.url)), 'utf8');

interface Place {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly through?: readonly string[];
}

function check(tree: Tree, args: readonly string[] = [], { cwd = tree.path, env = {}, through = [] }: Place = {}) {
  const [command = process.execPath, ...rest] = [...through, process.execPath, PROGRAM, 'check', ...args];
  const { status, stdout, stderr } = spawnSync(command, rest, {
    cwd,
    env: { PATH: process.env.PATH, HOME: tree.at('home'), XDG_CACHE_HOME: CACHE_HOME, ...env },
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { status, stdout, stderr, lines: stdout.split('\n').slice(0, -1) };
}

const summary = ({ lines }: { readonly lines: readonly string[] }) => lines.at(-1);

test('the example of the README is what it prints', (t) => {
  const skill = '---\nname: PDF Tools\ndescription: Use when: a PDF is mentioned\n---\nSee [forms](forms.md).\n';
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skill });
  const [, example] = /```\n\$ skillwire check\n([\s\S]*?)```/.exec(README) ?? [];
  const { status, stdout, stderr } = check(tree);
  assert.deepEqual({ status, stdout, stderr }, { status: 1, stdout: example, stderr: '' });
  const shown = JSON.parse(/prints one object[\s\S]*?```json\n([\s\S]*?)```/.exec(README)?.[1] ?? '');
  const printed = JSON.parse(check(tree, ['--json']).stdout);
  assert.deepEqual(printed.findings[1], shown.findings[0]);
  assert.deepEqual({ ...printed, findings: [] }, { ...shown, findings: [] });
  assert.deepEqual(JSON.parse(check(tree, ['--format', 'json']).stdout), printed);
});

test('good skills exit 0, errors exit 1, warnings only with --strict, advice never', (t) => {
  const tree = makeTree(t, {
    'good/SKILL.md': skillText('good'),
    'warn/SKILL.md': skillText('warn', 'd\nversion: 1'),
    'long/SKILL.md': skillText('long', 'd', 'x\n'.repeat(600)),
    'bad/SKILL.md': skillText('other'),
  });
  const exits = (...args: string[]) => check(tree, args).status;
  assert.deepEqual([exits('good'), exits('warn'), exits('long'), exits('bad'), exits()], [0, 0, 0, 1, 1]);
  assert.deepEqual([exits('--strict', 'good'), exits('--strict', 'warn'), exits('--strict', 'long')], [0, 1, 0]);
  assert.equal(summary(check(tree)), '4 files checked: 1 error, 1 warning, 1 info; --fix-names would mend 1');
});

test('a path that does not exist, is empty or no skill is one line on stderr and exit 2', (t) => {
  const tree = makeTree(t, { 'notes.md': '', 'a/SKILL.md': skillText('a') });
  tree.link('gone/SKILL.md', 'nowhere');
  for (const [path, line] of [
    ['nope', /^skillwire: nope does not exist; see/],
    ['a/SKILL.md/x', /does not exist/],
    ['gone/SKILL.md', /does not exist/],
    ['notes.md', /^skillwire: notes\.md is neither a directory nor a SKILL\.md; see/],
    ['', /^skillwire: a path is empty; see/],
  ] as const) {
    const { status, stdout, stderr } = check(tree, ['a', path]);
    assert.deepEqual({ status, stdout }, { status: 2, stdout: '' }, path);
    assert.match(stderr, line);
    assert.equal(stderr.split('\n').length, 2);
  }
});

test('a path that is named and has no SKILL.md is an error, the working directory is not', (t) => {
  const tree = makeTree(t, { 'good/SKILL.md': skillText('good'), 'empty/notes.md': '' });
  const { status, lines } = check(tree, ['good', 'empty']);
  assert.deepEqual(lines, [
    'empty:1:1 error has no SKILL.md in or below it [no-skill]',
    '1 file checked: 1 error, 0 warnings, 0 info',
  ]);
  assert.equal(status, 1);
  const here = check(tree, ['.'], { cwd: tree.at('empty') });
  assert.equal(here.lines[0], '.:1:1 error has no SKILL.md in or below it [no-skill]');
  assert.equal(here.status, 1);
  const none = check(tree, [], { cwd: tree.at('empty') });
  assert.deepEqual([none.status, none.stdout], [0, 'No SKILL.md was found.\n']);
});

test('files and directories are searched as roots are, and each file is checked once', (t) => {
  const tree = makeTree(t, {
    'a/SKILL.md': skillText('x'),
    'a/deep/er/SKILL.md': skillText('x'),
    '.claude/skills/b/SKILL.md': skillText('x'),
    'node_modules/c/SKILL.md': skillText('x'),
    '.git/d/SKILL.md': skillText('x'),
  });
  tree.link('link', 'a/deep');
  const expected = ['.claude/skills/b', 'a', 'a/deep/er'].map((path) => `${path}/SKILL.md:2:7 error`);
  const checked = (...args: string[]) =>
    check(tree, args)
      .lines.slice(0, -1)
      .map((line) => line.split(' name')[0]);
  assert.deepEqual(checked(), expected);
  assert.deepEqual(checked('.', 'a', 'a/SKILL.md', 'link'), expected);
  assert.deepEqual(checked('a/SKILL.md'), expected.slice(1, 2));
  assert.deepEqual(checked(tree.at('a/deep')), expected.slice(2));
  assert.deepEqual(check(tree, ['.'], { cwd: tree.at('a/deep') }).lines[0]?.split(' ')[0], 'er/SKILL.md:2:7');
  assert.equal(check(makeTree(t)).stdout, 'No SKILL.md was found.\n');
});

test('links out of the project and in circles are not followed, and reported', (t) => {
  const outside = makeTree(t, { 'x/SKILL.md': skillText('x'), 'b/SKILL.md': '\ufeff' });
  const tree = makeTree(t, { 'a/SKILL.md': skillText('a') });
  tree.link('out', outside.path);
  tree.link('a/up', '..');
  tree.link('b/SKILL.md', outside.at('b/SKILL.md'));
  tree.link('c/SKILL.md', 'nowhere');
  const { status, lines } = check(tree, ['--fix']);
  assert.equal(status, 1);
  const expected = [
    /^out:1:1 warning is a link that leaves .*; --follow-symlinks would follow it \[not-followed\]$/,
    /^a\/up:1:1 warning is a link to its root or to a directory above it/,
    /^b\/SKILL\.md:1:1 warning is a link that leaves its skill, and is not served \[not-followed\]$/,
    /^c\/SKILL\.md:1:1 error is a link that leads nowhere \[access\]$/,
    /^3 files checked: 1 error, 3 warnings, 0 info$/,
  ];
  for (const [at, line] of expected.entries()) assert.match(lines[at] ?? '', line);
  assert.equal(lines.length, expected.length);
  assert.equal(readFileSync(outside.at('b/SKILL.md'), 'utf8'), '\ufeff');
  assert.match(check(tree, ['--follow-symlinks']).stdout, /out\/b\/SKILL\.md:1:1 error/);
});

test('a SKILL.md in other letters is checked, with a warning', (t) => {
  const tree = makeTree(t, { 'a/skill.md': skillText('b'), 'c/SKILL.md': skillText('c'), 'c/skill.md': 'notes' });
  for (const args of [[], ['a/skill.md']]) {
    const { lines } = check(tree, args);
    assert.match(lines[0] ?? '', /^a\/skill\.md:1:1 warning .*SKILL\.md, in capitals/);
    assert.match(lines[1] ?? '', /^a\/skill\.md:2:7 error name "b" differs/);
    assert.equal(lines.length, 3);
  }
});

test('what is no regular file, too large or closed is an error, and nothing hangs', (t) => {
  const tree = makeTree(t, { 'big/SKILL.md': skillText('big', 'd', 'x'.repeat(MAX_SKILL_BYTES)) });
  mkdirSync(tree.at('directory/SKILL.md'), { recursive: true });
  mkdirSync(tree.at('fifo'));
  spawnSync('mkfifo', [tree.at('fifo/SKILL.md')]);
  chmodSync(tree.write('locked/SKILL.md', skillText('locked')), 0);
  mkdirSync(tree.at('shut'));
  chmodSync(tree.at('shut'), 0);
  const { status, lines } = check(tree, ['--fix'], { through: withoutPrivilege });
  chmodSync(tree.at('shut'), 0o700);
  assert.equal(status, 1);
  const places = lines.slice(0, -1).map((line) => line.split(' ', 2).join(' '));
  const files = ['big', 'directory', 'fifo', 'locked'].map((name) => `${name}/SKILL.md:1:1 error`);
  assert.deepEqual(places, ['shut:1:1 error', ...files]);
});

test('a file that may not be written stays as it is, with an error', (t) => {
  const tree = makeTree(t, { 'pdf/SKILL.md': `\ufeff${skillText('pdf')}` });
  chmodSync(tree.at('pdf/SKILL.md'), 0o444);
  const { status, lines } = check(tree, ['--fix'], { through: withoutPrivilege });
  assert.equal(status, 1);
  assert.match(lines[0] ?? '', /^pdf\/SKILL\.md:1:1 error cannot be written: EACCES/);
  assert.equal(summary({ lines }), '1 file checked: 2 errors, 0 warnings, 0 info; --fix would mend 1');
});

test('a skill over the limits of the Skills extension is a warning', (t) => {
  const tree = makeTree(t, { 'many/SKILL.md': skillText('many'), 'large/SKILL.md': skillText('large') });
  for (let at = 0; at < MAX_SKILL_FILES; at++) tree.write(`many/${at}`, '');
  tree.write('large/data', Buffer.alloc(16 * 1024 * 1024));
  const { lines } = check(tree);
  assert.match(lines[0] ?? '', /^large\/SKILL\.md:1:1 warning the skill has over 16777216 bytes/);
  assert.match(lines[1] ?? '', /^many\/SKILL\.md:1:1 warning the skill has over 512 files/);
});

test('--fix mends, says how much, and finds nothing to do the second time', (t) => {
  const tree = makeTree(t, { 'pdf/SKILL.md': `\ufeff${skillText('PDF', 'a: b')}` });
  const first = check(tree, ['--fix', '--fix-names']);
  assert.deepEqual(first.lines, ['1 file checked: 0 errors, 0 warnings, 0 info; 3 mended']);
  assert.equal(readFileSync(tree.at('pdf/SKILL.md'), 'utf8'), skillText('pdf', '"a: b"', '# PDF\n'));
  const second = check(tree, ['--fix', '--fix-names']);
  assert.deepEqual(second.lines, ['1 file checked: 0 errors, 0 warnings, 0 info']);
  assert.deepEqual([first.status, second.status], [0, 0]);
});

test('without --fix nothing is written', (t) => {
  const text = `\ufeff${skillText('PDF', 'a: b')}`;
  const tree = makeTree(t, { 'pdf/SKILL.md': text });
  for (const args of [[], ['--strict'], ['--json'], ['--format', 'github']]) check(tree, args);
  assert.equal(readFileSync(tree.at('pdf/SKILL.md'), 'utf8'), text);
});

test('annotations of GitHub have their paths from the top of the repository, and are escaped', (t) => {
  const tree = makeTree(t, {
    'sub/a,b:c/SKILL.md': skillText('100%'),
    'sub/long/SKILL.md': skillText('long', 'd', 'x\n'.repeat(600)),
    'sub/odd/SKILL.md': skillText('odd', 'd\nx: 1'),
  });
  const place = { cwd: tree.at('sub'), env: { GITHUB_WORKSPACE: tree.path } };
  const { lines } = check(tree, ['--format', 'github'], place);
  const at = 'file=sub/a%2Cb%3Ac/SKILL.md,line=2,col=7';
  assert.deepEqual(lines.slice(0, 2), [
    `::error ${at}::name "100%25" has characters that are not letters, digits or hyphens`,
    `::error ${at}::name "100%25" differs from its directory "a,b:c"`,
  ]);
  assert.match(lines[2] ?? '', /^::notice file=sub\/long\/SKILL\.md,line=501,col=1::/);
  assert.match(lines[3] ?? '', /^::warning file=sub\/odd\/SKILL\.md,line=4,col=1::the specification has no key "x"/);
  assert.equal(summary({ lines }), '3 files checked: 2 errors, 1 warning, 1 info');
});

test('names of files and fields cannot drive a terminal or a runner', (t) => {
  const key = '"\\e[31m\\u202e\\n::error::x"';
  const tree = makeTree(t, {
    '::error::x/SKILL.md': skillText('x', `d\n${key}: 1`),
    'a\u001b[31m\n::b/SKILL.md': skillText('x'),
  });
  for (const format of ['text', 'github', 'json']) {
    const { stdout, lines } = check(tree, ['--format', format]);
    assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u202e]/, format);
    if (format === 'text')
      assert.deepEqual(
        lines.filter((line) => /^(?:::|##)/.test(line)),
        [],
      );
    if (format === 'github') assert.equal(lines.filter((line) => line.startsWith('::')).length, 3);
  }
});

test('colours are for terminals only, and no reader of the output is needed', async (t) => {
  const tree = makeTree(t);
  for (let at = 0; at < 300; at++) tree.write(`s${at}/SKILL.md`, skillText('x'));
  assert.doesNotMatch(check(tree).stdout, /\u001b/);
  const child = spawn(process.execPath, [PROGRAM, 'check'], { cwd: tree.path, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdout.destroy();
  const [code] = await once(child, 'close');
  assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
});

test('hostile files take linear time', (t) => {
  const tree = makeTree(t);
  const head = '---\nname: x\ndescription: d\n---\n';
  const body = ['](', '](a(b)', '](<', '](a "', '<!--', '`', '` ``', '[a]: b/c\n', '```\n', '](../', '\r', '](a.md)'];
  const inside = ['a: ', 'a: b: c\n', '- ', '"', "'", '[', '{', ',', '(', 'A-', '\u0301', '? ', '&a '];
  for (const [at, part] of body.entries()) tree.write(`b${at}/SKILL.md`, head + part.repeat(1_000_000 / part.length));
  for (const [at, part] of inside.entries()) {
    const text = part.repeat(30_000 / Buffer.byteLength(part));
    tree.write(`n${at}/SKILL.md`, `---\nname: ${text}\ndescription: d\n---\n`);
    tree.write(`t${at}/SKILL.md`, `---\nname: x\ndescription: d\nallowed-tools: ${text}\nmetadata: ${text}\n---\n`);
  }
  // Quadratic time over one of these would be minutes.
  const { status, lines } = check(tree, ['--fix', '--fix-names']);
  assert.equal(status, 1);
  assert.match(summary({ lines }) ?? '', /^38 files checked/);
});

test('the README lists every rule', () => {
  for (const [rule, { severity, about }] of Object.entries(RULES))
    assert.ok(README.includes(`| ${severity} | \`${rule}\` | ${about} |`), rule);
});

test('it is loaded only when it is asked for', () => {
  const program = readFileSync(join(PROGRAM, '..', 'skillwire-program.cjs'), 'utf8');
  assert.doesNotMatch(program, /name-directory/);
});
