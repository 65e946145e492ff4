/** Every command in the README runs, and prints what the README says; what it names in passing parses. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../../src/cli/commands.ts';
import { checkedValues, checkWords, commandIn, splitArguments } from '../../src/cli/parse.ts';
import { DEFAULTS } from '../../src/config.ts';
import { LEGACY_VERSIONS, MODERN_VERSIONS } from '../../src/protocol/eras.ts';
import { CACHE_HOME, PROGRAM } from '../harness/program.ts';
import { modules } from '../harness/source.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';
import { startWeb } from '../harness/web.ts';

// Seen from .test-build/test/program.
const TOP = fileURLToPath(new URL('../../..', import.meta.url));
const README = readFileSync(join(TOP, 'README.md'), 'utf8');
const BLOCKS = [...README.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, code = '']) => ({
  language,
  code,
}));
/** Needs a server, and a shell that keeps its variables. */
const CURL = BLOCKS.find(({ code }) => code.includes('curl '));
const MANIFEST = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
const skip = process.platform === 'win32' && 'the commands are for a POSIX shell';

const SKILLS = {
  'project/.claude/skills/pdf/SKILL.md': skillText(
    'pdf',
    'Read, fill and merge PDF files. Use when the user mentions a PDF or a form.',
    '# PDF\n\nFill a form with scripts/fill.py, then look at every page.\n',
  ),
  'project/.claude/skills/pdf/scripts/fill.py': 'print("fill")\n',
  'project/skills/review/SKILL.md': skillText(
    'review',
    'Review a change; correctness first, then names, then tests.',
    'Read the whole change before the first remark.\n',
  ),
  'project/skills/draft/SKILL.md': '# Draft\n',
  '.agents/skills/notes/SKILL.md': skillText(
    'notes',
    'Take notes of a meeting in the form the team likes.',
    'Who, what, until when.\n',
  ),
  '.claude/skills/pdf/SKILL.md': skillText('pdf', 'An older copy.', 'Old.\n'),
};

/** Commands and what the README says they print. */
function examples(): readonly (readonly [command: string, output: string])[] {
  // Those of `check` are in check.test.ts, with a skill that has faults.
  const blocks = BLOCKS.filter(({ code }) => code.startsWith('$ ') && !code.startsWith('$ skillwire check'));
  const parts = blocks.flatMap(({ code }) => code.split(/^\$ (?=.)/m).slice(1));
  return parts.map((part) => {
    const end = part.indexOf('\n');
    return [part.slice(0, end), part.slice(end + 1)];
  });
}

/** The lines of shell blocks, without comments; one that ends with a backslash goes on in the next. */
function shellLines(): readonly string[] {
  const blocks = BLOCKS.filter((block) => block.language === 'sh' && block !== CURL);
  return blocks
    .flatMap(({ code }) => code.replaceAll('\\\n', '').split('\n'))
    .flatMap((line) => {
      const command = line.replace(/\s+# .*$/, '').trim();
      return command === '' ? [] : [command];
    });
}

/** Numbers may differ, and a line with an ellipsis alone stands for any lines. */
function patternOf(output: string): RegExp {
  const escaped = output
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replace(/\b\d[\d,]*(?= (?:characters|tokens|ms)\b)/g, '[\\d,]+');
  return new RegExp(`^${escaped.replace(/^…\n/gm, '(?:.*\\n)*')}$`);
}

/** A home with the skills, a project in it with the built files, and the programs that the README starts. */
function makeHome(t: TestContext): Tree {
  const tree = makeTree(t, { ...SKILLS, 'skills/x/SKILL.md': skillText('x') });
  const dist = join(TOP, 'dist');
  mkdirSync(tree.at('bin'));
  mkdirSync(tree.at('project/dist'));
  for (const name of readdirSync(dist).filter((one) => one.endsWith('.cjs')))
    copyFileSync(join(dist, name), tree.at(`project/dist/${name}`));
  symlinkSync(process.execPath, tree.at('bin/node'));
  const script = (name: string, lines: string) => chmodSync(tree.write(`bin/${name}`, `#!/bin/sh\n${lines}\n`), 0o755);
  // The port of a test is any that is free.
  script('skillwire', `case "$*" in *--transport*) set -- "$@" --port 0;; esac\nexec node '${PROGRAM}' "$@"`);
  // `npm test` is what runs, and has just built it. package.test.ts packs and installs.
  script(
    'npm',
    `[ "$*" = 'run build' ] || expr " test pack install uninstall " : ".* $1 " > /dev/null || { [ "$1" = start ] && cd '${TOP}' && exec ${MANIFEST.scripts.start}; }`,
  );
  script('openssl', 'echo 0123456789abcdef0123456789abcdef');
  return tree;
}

/** In the project, as the user whose home this is. A server on a port is ended as soon as it listens. */
async function run(tree: Tree, command: string) {
  // The signal is for the server; its shell waits for it.
  const child = spawn('/bin/sh', ['-c', `trap : TERM; ${command}`], {
    cwd: tree.at('project'),
    env: { PATH: `${tree.at('bin')}:/usr/bin:/bin`, HOME: tree.path, XDG_CACHE_HOME: CACHE_HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    timeout: 60_000,
  });
  const kill = () => child.pid && process.kill(-child.pid, 'SIGTERM');
  child.stderr.on('data', (chunk) => /listening on/.test(String(chunk)) && kill());
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = await ended;
  return { status, stdout, stderr };
}

test('every example prints what the README says', { skip }, async (t) => {
  const tree = makeHome(t);
  const all = examples();
  assert.deepEqual(
    all.map(([command]) => /skillwire (\S+)/.exec(command)?.[1]),
    ['-q', 'list', 'list', 'show', 'show', 'search', 'doctor', 'try'],
  );
  for (const [command, output] of all) {
    const { stdout } = await run(tree, command);
    // Messages name this checkout's file where they name an installed program.
    const printed = stdout.replaceAll(tree.path, '/home/you').replaceAll(`node ${PROGRAM}`, 'skillwire');
    assert.match(printed, patternOf(output), command);
  }
});

test('every line of a shell block runs without an error', { skip }, async (t) => {
  const tree = makeHome(t);
  // Of Node 20 and 22.
  const permission = process.allowedNodeEnvironmentFlags.has('--permission') ? '' : 'experimental-';
  const lines = shellLines();
  assert.ok(lines.length >= 15, `${lines.length} lines`);
  for (const line of lines) {
    const { status, stderr } = await run(tree, line.replace('--permission', `--${permission}permission`));
    assert.equal(status, 0, `${line}\n${stderr}`);
  }
  assert.match((await run(tree, 'skillwire list')).stdout, /^hello +agents +global +Greets people\./m);
});

const hasCurl = spawnSync('curl', ['--version']).status === 0;
test('the requests by curl are answered, in both eras', { skip: skip || (!hasCurl && 'no curl here') }, async (t) => {
  const tree = makeHome(t);
  const { url, program } = await startWeb(t, { tree, args: ['--root', 'project/skills'] });
  const code = (CURL?.code ?? '').replace('http://127.0.0.1:3333/mcp', url);
  const { status, stdout, stderr } = await run(tree, `set -e\n${code}`);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const answers = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  assert.deepEqual(
    answers.map(({ result }) => result.serverInfo?.name ?? result.content[0].text.split('\n')[0]),
    ['Loading: review', 'skillwire', 'Loading: review'],
  );
  assert.match(program.stderr(), /client: curl 1, protocol 2025-11-25/);
});

test('every option of createSkillwire is named under Embedding', () => {
  const [section = ''] = /^## Embedding$[\s\S]*?(?=^## )/m.exec(README) ?? [];
  assert.deepEqual(
    Object.keys(DEFAULTS).filter((name) => !section.includes(`\`${name}\``)),
    [],
  );
});

test('every variable that the program reads is in the table of the environment', () => {
  const [section = ''] = /^## Environment$[\s\S]*?(?=^## )/m.exec(README) ?? [];
  const read = modules.flatMap(({ code }) => [...code.matchAll(/\benv\.([A-Z_]{2,})\b|'(SKILLWIRE_[A-Z]+)'/g)]);
  const names = new Set(read.map(([, plain, own]) => plain ?? own ?? ''));
  assert.ok(names.size > 10, `${names.size} variables`);
  assert.deepEqual(
    [...names].filter((name) => !section.includes(`\`${name}\``)),
    [],
  );
});

test('every skillwire command that the README names parses', () => {
  const inBlocks = BLOCKS.flatMap(({ code }) => [
    ...code.matchAll(/(?:^|\$ |\| |npx -y |dist\/)(?:skillwire(?:\.cjs)?) (.*)$/gm),
  ]);
  const inline = [...README.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`(?:npx -y )?skillwire\s([^`]+)`/g)];
  const commands = [...inBlocks, ...inline].map(([, rest = '']) => rest.replace(/\s+# .*$/, ''));
  // A word in capitals or in brackets stands for something.
  const whole = commands.filter((command) => !/\[|\b[A-Z]{2,}\b/.test(command));
  assert.ok(whole.length >= 30, `${whole.length} commands`);
  for (const command of whole) {
    const argv = command
      .trim()
      .split(/\s+/)
      .map((word) => word.replace(/^'(.*)'$/, '$1'));
    assert.doesNotThrow(() => {
      const found = commandIn(argv, COMMANDS);
      const { values, words } = splitArguments(argv, found, COMMANDS);
      // Those behind `--` are for another server.
      if (!argv.includes('--')) checkWords(words, found);
      checkedValues(found.options, values);
    }, `skillwire ${command}`);
  }
});

test('every npm script that the README names exists', () => {
  const named = [...README.matchAll(/npm run ([\w-]+)/g)].map(([, name = '']) => name);
  assert.deepEqual(
    named.filter((name) => !Object.hasOwn(MANIFEST.scripts, name)),
    [],
  );
});

test('every address within the README leads to a section', () => {
  const slug = (title: string) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-');
  const sections = [...README.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => slug(title));
  const named = [...README.matchAll(/\]\(#([^)]*)\)/g)].map(([, name = '']) => name);
  assert.deepEqual(
    named.filter((name) => !sections.includes(name)),
    [],
  );
});

test('the table of the protocol has every version that is served', () => {
  const [section = ''] = /^## Protocol and transports$[\s\S]*?(?=^## )/m.exec(README) ?? [];
  const rows = [...section.matchAll(/^\| (20[\d, -]+) \|/gm)].flatMap(([, versions = '']) => versions.split(', '));
  assert.deepEqual(rows, [...LEGACY_VERSIONS, ...MODERN_VERSIONS].toSorted());
});
