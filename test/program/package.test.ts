/**
 * What is shipped: that it can be built again byte for byte, what is in the two programs and what they may do, and what npm
 * would publish, unpacked where a user's project would have it.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../../src/version.ts';
import { compile, installPacked } from '../harness/installed.ts';
import { environmentOf, PROGRAM, STDIO_PROGRAM, TOP } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const DIST = join(TOP, 'dist');
const STDIO = 'skillwire-stdio.cjs';
const PROGRAMS = [STDIO, 'skillwire.cjs'];
const MANIFEST = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
const textOf = (name: string) => readFileSync(join(DIST, name), 'utf8');
// The bundle for desktop hosts is made by a command of its own.
const filesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'skillwire.mcpb')
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();

test('everything is built byte for byte the same in another directory', (t) => {
  const tree = makeTree(t);
  for (const name of ['src', 'scripts/build.js', 'package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'])
    cpSync(join(TOP, name), tree.at(`elsewhere/${name}`), { recursive: true });
  tree.link('elsewhere/node_modules', join(TOP, 'node_modules'));
  // Without `install`, which would write to the packages that other tests use.
  const script = "import('./scripts/build.js').then(({ build }) => build())";
  const options = { cwd: tree.at('elsewhere'), encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], options);
  assert.equal(status, 0, stderr);
  const built = tree.at('elsewhere/dist');
  assert.deepEqual(filesIn(built), filesIn(DIST));
  for (const name of filesIn(DIST))
    assert.ok(readFileSync(join(built, name)).equals(readFileSync(join(DIST, name))), name);
});

test('SHA256SUMS has the digest of each program', () => {
  const lines = PROGRAMS.map((name) => `${createHash('sha256').update(textOf(name)).digest('hex')}  ${name}\n`);
  assert.equal(textOf('SHA256SUMS'), lines.join(''));
});

test('there are exactly two programs, each one file that can be read, with nothing compiled in or beside it', () => {
  const odd = filesIn(DIST).filter((name) => !/\.(?:js|d\.ts)$/.test(name));
  assert.deepEqual(odd, ['.built', 'SHA256SUMS', ...PROGRAMS]);
  for (const name of PROGRAMS) {
    const text = textOf(name);
    assert.match(text, /^#!\/usr\/bin\/env node\n\/\*\n \* skillwire \d/);
    assert.doesNotMatch(text, /require\(["']\.|\bimport\(["']\.|node:vm|cachedData|enableCompileCache/, name);
    // Every character is one byte, so that Node does not take two for each.
    assert.ok(/^[\0-\x7f]*$/.test(text), name);
    // Not minified: modules, functions and comments are as in the source.
    assert.match(text, /^\/\/ src\/server\.ts$/m);
    assert.match(text, /^function createServer\(settings\b/m);
    assert.match(text, /^\s*\* Owns: /m);
    const modules = text.match(/^\/\/ src\/.*\.ts$/gm) ?? [];
    assert.equal(
      modules.some((one) => /\/(?:hub|transports\/http)\//.test(one)),
      name !== STDIO,
      name,
    );
  }
});

test('each program has the licences of the packages in it, which are the four and what they need', () => {
  assert.deepEqual(Object.keys(MANIFEST.dependencies), ['front-matter', 'leven', 'picomatch', 'valibot']);
  const holders = { 'front-matter': 'Jason Campbell', 'js-yaml': 'Vitaly Puzrin', leven: 'Sindre Sorhus' };
  const all = new Map(Object.entries({ ...holders, picomatch: 'Jon Schlinkert', valibot: 'Fabian Hiller' }));
  for (const name of PROGRAMS) {
    const text = textOf(name);
    const header = text.split('*/', 1)[0] ?? '';
    const inside = new Set([...text.matchAll(/^ *\/\/ node_modules\/([\w-]+)\//gm)].map(([, one = '']) => one));
    const named = [...header.matchAll(/^ \* ---- (\S+) \d\S* ----$/gm)].map(([, one]) => one);
    assert.deepEqual(named, ['skillwire', ...all.keys()], name);
    assert.deepEqual([...inside].sort(), [...all.keys()]);
    for (const holder of all.values()) assert.ok(header.includes(holder), `${name}: ${holder}`);
  }
});

test('the program for stdio alone can reach neither network nor processes', () => {
  const text = textOf(STDIO);
  const allowed = ['fs', 'path', 'os', 'crypto', 'url', 'process', 'util'];
  const named = [...text.matchAll(/\b(?:require|import)\(\s*(["'`])([^"'`]+)\1\s*\)|^import .*$/gm)];
  const modules = new Set(named.map(([all, , name]) => (name ?? all).replace(/^node:/, '')));
  const foreign = [...modules].filter((name) => !allowed.includes(name));
  assert.deepEqual(foreign, []);
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

function run(tree: Tree, nodeArgs: readonly string[], program: string) {
  const args = [...nodeArgs, program, '--no-default-dirs', '--no-plugins', '--skill-dir', tree.at('mine')];
  const env = environmentOf(tree);
  return spawnSync(process.execPath, args, { cwd: tree.path, env, input: INPUT, encoding: 'utf8' });
}

const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
const READ_ONLY = (tree: Tree, program: string) => [
  ...[flag, `--allow-fs-read=${program}`, `--allow-fs-read=${tree.at('mine')}/*`],
];
for (const [what, program, rights] of [
  ['skillwire.cjs serves', PROGRAM, () => []],
  ['skillwire-stdio.cjs serves', STDIO_PROGRAM, () => []],
  ['skillwire-stdio.cjs needs no right but to read the skills and itself', STDIO_PROGRAM, READ_ONLY],
] as const)
  test(`${what}, from anywhere, and writes nothing`, (t) => {
    const tree = makeTree(t, { 'mine/pdf/SKILL.md': skillText('pdf'), 'home/x': '' });
    const copy = tree.write('copied.cjs', readFileSync(program));
    const before = filesIn(tree.path);
    const { stdout, stderr, status } = run(tree, rights(tree, copy), copy);
    const [greeting, loaded] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(greeting.result.serverInfo.name, 'skillwire', stderr);
    assert.match(loaded.result.content[0].text, /^Loading: pdf\n/);
    assert.doesNotMatch(stderr, /skillwire: (?:warn|error)/);
    assert.equal(status, 0);
    assert.deepEqual(filesIn(tree.path), before);
  });

test('what npm would publish', async (t) => {
  const { project, packed } = installPacked(t);

  await t.test('is the programs, the library, its source and types, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    const odd = paths.filter((path) => !/^(?:dist|src)\/[^.].*\.(?:js|ts)$/.test(path));
    const programs = PROGRAMS.map((name) => `dist/${name}`);
    assert.deepEqual(odd.toSorted(), ['LICENSE', 'README.md', 'dist/SHA256SUMS', ...programs, 'package.json']);
    for (const path of ['dist/index.js', 'dist/index.d.ts', 'dist/hub/index.d.ts', 'src/protocol/json-rpc.ts'])
      assert.ok(paths.includes(path), path);
    // The programs have these inside.
    const parts = paths.filter((path) => /^dist\/(?:cli|stdio)\b/.test(path));
    assert.deepEqual(parts, []);
    for (const program of programs) {
      const { mode = 0 } = packed.files.find(({ path }) => path === program) ?? {};
      assert.equal(mode & 0o111, 0o111, `${program} can be run`);
    }
  });

  await t.test('runs, and its three entries can be imported, with types', () => {
    const program = project.at(`node_modules/skillwire/${MANIFEST.bin.skillwire}`);
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
    const { stdout, status } = spawnSync(program, ['-q'], { input: ping, encoding: 'utf8', cwd: project.path });
    assert.deepEqual({ stdout, status }, { stdout: '{"jsonrpc":"2.0","id":1,"result":{}}\n', status: 0 });
    project.write(
      'use.ts',
      `import { createSkillwire, type Skillwire, type SkillwireOptions, type Tool, VERSION } from 'skillwire';
import { createHub, type Hub, UpstreamError } from 'skillwire/hub';
import { decode, type Message, RpcError } from 'skillwire/protocol';
const options: SkillwireOptions = { scanDefaultDirs: false, skipPlugins: true, autoRefresh: false };
const skillwire: Skillwire = createSkillwire(options);
const tool: Tool = { definition: { name: 'x', inputSchema: { type: 'object' } }, run: () => ({ content: [] }) };
const decoded: Message | readonly Message[] = decode('{');
const { names } = await skillwire.registry.ready();
console.log(VERSION, 'kind' in decoded && decoded.kind, new RpcError(7, 'x').code, names.listed.length, tool.definition.name);
await skillwire.close();
const hub: Hub = createHub({ mcpServers: { gone: { command: 'no-such-command' } } });
await hub.connect();
const why: unknown = await hub.call('gone:x').catch((error: unknown) => error);
console.log(hub.status()[0]?.state, why instanceof UpstreamError);
await hub.close();
`,
    );
    compile(project, ['use.ts'], true);
    const printed = execFileSync(process.execPath, [project.at('out/use.js')], { encoding: 'utf8' });
    assert.equal(printed, `${VERSION} invalid 7 0 x\nfailed true\n`);
  });

  await t.test('can be required where Node allows that, and elsewhere Node says what to do', () => {
    project.write('use.cjs', "console.log(Object.keys(require('skillwire')).join());");
    const { stdout, stderr } = spawnSync(process.execPath, [project.at('use.cjs')], { encoding: 'utf8' });
    if ('require_module' in process.features) assert.match(stdout, /\bcreateSkillwire\b/);
    else assert.match(stderr, /use\.cjs to a dynamic import\(\)[\s\S]*ERR_REQUIRE_ESM/);
  });

  await t.test('has no fault that publint or arethetypeswrong knows', () => {
    const file = project.at(packed.filename);
    // Its CommonJS users are those of Node's own loader, see above; the resolution of Node 10 knows no `exports`.
    for (const [name, ...args] of [
      ['publint', '--strict', file],
      ['attw', file, '--profile', 'esm-only'],
    ]) {
      const bin = join(TOP, 'node_modules', '.bin', String(name));
      const { stdout, stderr, status } = spawnSync(bin, args, { encoding: 'utf8' });
      assert.equal(status, 0, `${name}: ${stdout}${stderr}`);
    }
  });
});
