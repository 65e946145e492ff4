/** The files that are shipped: what is in them, that they can be built again byte for byte, and what they may do. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

// Seen from .test-build/test/program.
const TOP = fileURLToPath(new URL('../../..', import.meta.url));
const DIST = join(TOP, 'dist');
const STDIO = 'skillwire-stdio.cjs';
const PROGRAMS = [STDIO, 'skillwire.cjs'];
const FILES = [
  ...PROGRAMS,
  'skillwire-program.cjs',
  'skillwire-tools.cjs',
  'skillwire-service.cjs',
  'skillwire-yaml.cjs',
  'skillwire-filter.cjs',
  'skillwire-http.cjs',
  'skillwire-hub.cjs',
  'skillwire-commands.cjs',
];
const textOf = (name: string) => readFileSync(join(DIST, name), 'utf8');

test('the programs are built byte for byte the same in another directory', (t) => {
  const tree = makeTree(t);
  for (const name of ['src', 'scripts', 'package.json', 'tsconfig.json', 'LICENSE']) {
    cpSync(join(TOP, name), tree.at(`elsewhere/${name}`), { recursive: true });
  }
  tree.link('elsewhere/node_modules', join(TOP, 'node_modules'));
  const bundle = tree.at('elsewhere/scripts/bundle/bundle.js');
  for (const to of ['first', 'second']) {
    const { status, stderr } = spawnSync(process.execPath, [bundle, tree.at(to)], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.deepEqual(readdirSync(tree.at(to)).toSorted(), ['SHA256SUMS', ...FILES].toSorted());
    for (const name of ['SHA256SUMS', ...FILES]) {
      assert.ok(readFileSync(join(tree.at(to), name)).equals(readFileSync(join(DIST, name))), `${to}/${name}`);
    }
  }
});

test('SHA256SUMS has the digest of each file', () => {
  const lines = FILES.map((name) => `${createHash('sha256').update(textOf(name)).digest('hex')}  ${name}\n`);
  assert.equal(textOf('SHA256SUMS'), lines.join(''));
});

test('nothing compiled, minified or started by another file is shipped', () => {
  const files = readdirSync(DIST, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const odd = files.map(({ name }) => name).filter((name) => !/\.(?:js|d\.ts)$/.test(name));
  assert.deepEqual(odd.toSorted(), ['.built', 'SHA256SUMS', ...FILES].toSorted());
  for (const name of FILES) {
    const text = textOf(name);
    assert.match(text, /^(?:#!\/usr\/bin\/env node\n)?\/\*\n \* skillwire \d/);
    // What Node compiles on the user's machine is kept by the file that loads the others, and by no other.
    if (name !== 'skillwire.cjs') assert.doesNotMatch(text, /node:vm|cachedData|enableCompileCache/, name);
    // Every character is one byte, so that Node does not take two for each.
    assert.ok(/^[\0-\x7f]*$/.test(text), name);
  }
  // A position in a stack trace is a line of one of these files: it names its function, and the module stands above it.
  assert.match(textOf(STDIO), /^\/\/ src\/server\.ts$/m);
  assert.match(textOf(STDIO), /^function createServer\(settings\b/m);
});

test('the stdio server is one file, and of all others each module is in one', () => {
  const modulesIn = (name: string) => new Set(textOf(name).match(/^\/\/ src\/.*\.ts$/gm));
  const modules = FILES.filter((name) => name !== STDIO).flatMap((name) => [...modulesIn(name)]);
  assert.ok(modules.includes('// src/hub/source.ts') && modules.includes('// src/transports/http/listener.ts'));
  assert.equal(new Set(modules).size, modules.length);
  assert.doesNotMatch(textOf(STDIO), /require\(["']\./);
});

test('a comment of the source stands in the program where it says something', () => {
  const text = textOf(STDIO);
  assert.match(text, /^function visible\(\w+\) \{\n {2}\/\*\*\n/m);
  assert.match(text, /^\s*\* Owns: /m);
});

test('each file has the licences of the packages in it', () => {
  // js-yaml also names argparse, for its own command line, and esprima, for functions in YAML: neither is in a file.
  const holders: ReadonlyMap<string, string> = new Map([
    ['front-matter', 'Jason Campbell'],
    ['js-yaml', 'Vitaly Puzrin'],
    ['leven', 'Sindre Sorhus'],
    ['picomatch', 'Jon Schlinkert'],
    ['valibot', 'Fabian Hiller'],
  ]);
  for (const name of FILES) {
    const text = textOf(name);
    const header = text.split('*/', 1)[0] ?? '';
    const inside = new Set([...text.matchAll(/^ *\/\/ node_modules\/([\w-]+)\//gm)].map(([, one = '']) => one));
    const named = [...header.matchAll(/^ \* ---- (\S+) \d\S* ----$/gm)].map(([, one]) => one);
    assert.deepEqual(named, ['skillwire', ...[...inside].sort()], name);
    for (const one of inside) assert.ok(header.includes(holders.get(one) ?? one), `${name}: ${one}`);
    if (name === STDIO) assert.deepEqual([...inside].sort(), [...holders.keys()]);
  }
});

test('the program for stdio alone imports neither network nor processes', () => {
  const text = textOf(STDIO);
  const allowed = ['fs', 'path', 'os', 'crypto', 'url', 'process', 'util'];
  const named = [...text.matchAll(/\b(?:require|import)\(\s*(["'`])([^"'`]+)\1\s*\)|^import .*$/gm)].map(
    ([all, , name]) => name ?? all,
  );
  assert.deepEqual(
    [...new Set(named)].filter((name) => !allowed.includes(name.replace(/^node:/, ''))),
    [],
  );
  // Whatever else could load a module, or reach the network without one.
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const others =
    /\b(?:getBuiltinModule|createRequire|process\.binding|fetch|WebSocket|EventSource|eval)\s*\(|new Function\b|\brequire\b(?!\(["']|\.main === module)/;
  assert.equal(others.exec(code)?.[0], undefined);
});

const QUESTIONS = [
  { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/call', params: { name: 'skill', arguments: { name: 'pdf' } } },
];
const INPUT = QUESTIONS.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');

function runProgram(tree: Tree, nodeArgs: readonly string[], name: string) {
  const args = [...nodeArgs, join(DIST, name), '--no-default-dirs', '--no-plugins', '--skill-dir', tree.at('mine')];
  const env = { PATH: process.env.PATH, HOME: tree.at('home') };
  return spawnSync(process.execPath, args, { cwd: tree.path, env, input: INPUT, encoding: 'utf8' });
}

for (const name of PROGRAMS) {
  test(`${name} answers on stdin and stdout`, (t) => {
    const tree = makeTree(t, { 'mine/pdf/SKILL.md': skillText('pdf'), 'home/x': '' });
    const { stdout, stderr, status } = runProgram(tree, [], name);
    const [greeting, loaded] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(greeting.result.serverInfo.name, 'skillwire', stderr);
    assert.match(loaded.result.content[0].text, /^Loading: pdf\n/);
    assert.equal(status, 0);
  });
}

test('the program for stdio alone needs no right but to read the skills and itself', (t) => {
  const tree = makeTree(t, { 'mine/pdf/SKILL.md': skillText('pdf'), 'home/x': '' });
  const flag = Number(process.versions.node.split('.')[0]) >= 24 ? '--permission' : '--experimental-permission';
  const rights = [flag, `--allow-fs-read=${join(DIST, STDIO)}`, `--allow-fs-read=${tree.at('mine')}/*`];
  const { stdout, stderr, status } = runProgram(tree, rights, STDIO);
  assert.match(stdout, /"Loading: pdf|Loading: pdf\\n/, stderr);
  assert.doesNotMatch(stderr, /skillwire: (?:warn|error)/);
  assert.equal(status, 0);
});
