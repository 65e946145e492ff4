/** The README: its commands run, its tables are up to date, and what it names is there. Its programs: package.test.ts. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { settingsFrom } from '../../src/config.ts';
import { PROGRAM, runCommand, STDIO_PROGRAM, startWeb, TOP } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const README = readFileSync(join(TOP, 'README.md'), 'utf8');
const PROSE = README.replace(/^```[\s\S]*?^```$/gm, '');
const MANIFEST = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
const section = (title: string) =>
  README.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? assert.fail(title);
const skip = process.platform === 'win32' && 'the commands are for a POSIX shell';

/** The lines of shell blocks and the commands in the text, without comments and placeholders. */
function commands(): readonly string[] {
  const shell = [...README.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  const lines = shell.flatMap((code) => code.replaceAll('\\\n', '').split('\n'));
  const inline = [...PROSE.matchAll(/`(skillwire\s[^`]+)`/g)].map(([, command = '']) => command.replace('\n', ' '));
  const named = inline.filter((command) => !/\b[A-Z]{2,}\b/.test(command));
  return [...lines, ...named].map((line) => line.replace(/\s+# .*$/, '').trim()).filter((line) => line !== '');
}

/** A home with a project that has the built programs, and the commands that the README starts. */
function makeHome(t: TestContext): Tree {
  const tree = makeTree(t, { 'skills/x/SKILL.md': skillText('x'), 'project/.kode.json': '{"mcpServers":{}}' });
  for (const name of ['bin', 'project/dist']) mkdirSync(tree.at(name));
  for (const program of [PROGRAM, STDIO_PROGRAM])
    copyFileSync(program, tree.at(program.slice(TOP.length).replace(/^\/?/, 'project/')));
  symlinkSync(process.execPath, tree.at('bin/node'));
  const script = (name: string, lines: string) => chmodSync(tree.write(`bin/${name}`, `#!/bin/sh\n${lines}\n`), 0o755);
  // The port of a test is any that is free.
  script('skillwire', `case "$*" in *--transport*) set -- "$@" --port 0;; esac\nexec node '${PROGRAM}' "$@"`);
  // `npm test` is what runs this, and has just built what it runs.
  const start = `[ "$1" = start ] && cd '${TOP}' && exec node scripts/start.js`;
  script('npm', `case "$*" in 'run build'|test|'pack --json=false') exit 0;; *) ${start};; esac`);
  return tree;
}

/** In the project, as the user whose home this is. A server on a port is ended as soon as it listens. */
async function run(tree: Tree, command: string) {
  // The signal is for the server; its shell waits for it.
  const child = spawn('/bin/sh', ['-c', `trap : TERM; ${command}`], {
    ...{ cwd: tree.at('project'), detached: true, timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { PATH: `${tree.at('bin')}:/usr/bin:/bin`, HOME: tree.path },
  });
  child.stderr.on(
    'data',
    (chunk) => /listening on/.test(String(chunk)) && child.pid && process.kill(-child.pid, 'SIGTERM'),
  );
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: (await ended)[0] as number | null, stdout, stderr };
}

test('every command of the README runs without an error, in its order', { skip }, async (t) => {
  const tree = makeHome(t);
  const { url } = await startWeb(t, { tree, args: ['--root', 'skills'] });
  // Of Node 20 and 22.
  const permission = process.allowedNodeEnvironmentFlags.has('--permission') ? '' : 'experimental-';
  const all = commands();
  assert.ok(all.length >= 18, `${all.length} commands`);
  const printed = new Map<string, string>();
  for (const command of all) {
    const here = command.replace('--permission', `--${permission}permission`).replace('http://127.0.0.1:3333/mcp', url);
    const { status, stdout, stderr } = await run(tree, here);
    assert.equal(status, 0, `${command}\n${stdout}${stderr}`);
    printed.set(command, stdout);
  }
  const outputOf = (start: string) =>
    [...printed].find(([command]) => command.startsWith(start))?.[1] ?? assert.fail(start);
  assert.match(outputOf('skillwire list'), /^hello\b.*Greets people\./m);
  assert.match(outputOf('skillwire show hello'), /^Loading: hello\n[\s\S]*Greet back in one line\.\n$/);
  assert.match(JSON.parse(outputOf('echo')).result.content[0].text, /^Loading: hello\n/);
  assert.equal(JSON.parse(outputOf('curl')).result.tools.length, 4);
  assert.match(readFileSync(tree.at('.codex/config.toml'), 'utf8'), /\[mcp_servers\.skillwire\]/);
});

test('every option, file and npm script that it names is there, and it names every option of createSkillwire', (t) => {
  const tree = makeTree(t);
  const words = ['serve', 'list', 'show', 'search', 'check', 'doctor', 'setup', 'trust'];
  const help = words.map((word) => runCommand(tree, [word, '--help']).stdout).join('');
  const others = ['--permission', '--experimental-permission', '--allow-fs-read', '--json', '--silent']; // Of Node and npm.
  const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
  const embedding = section('Embedding and vendoring');
  const rows: readonly (readonly [least: number, names: readonly string[], isThere: (name: string) => boolean])[] = [
    [
      30,
      namesIn(README.replace(section('Changes'), ''), /(?<![\w-])(--[a-z][a-z-]+)/g),
      (name) => others.includes(name) || new RegExp(`${name}\\b(?!-)`).test(help),
    ],
    [
      15,
      namesIn(README, /`(?:src\/)?((?:[\w-]+\/)+[\w-]+\.ts)`/g),
      (name) => [TOP, join(TOP, 'src')].some((place) => existsSync(join(place, name))),
    ],
    [1, namesIn(README, /npm run ([\w-]+)/g), (name) => Object.hasOwn(MANIFEST.scripts, name)],
    [1, namesIn(README, /skillwire-([\d.]+)\.tgz/g), (name) => name === MANIFEST.version],
    [20, Object.keys(settingsFrom({})), (name) => embedding.includes(`\`${name}\``)],
  ];
  for (const [least, names, isThere] of rows) {
    assert.ok(names.length >= least, names.join());
    const missing = names.filter((name) => !isThere(name));
    assert.deepEqual(missing, []);
  }
});

test('it is one page of at most 450 lines, and its tables are up to date', () => {
  assert.ok(README.split('\n').length <= 451);
  const script = join(TOP, 'scripts', 'readme.js');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});
