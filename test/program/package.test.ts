/**
 * What is shipped: that it can be built again byte for byte, what is in the two programs and what they may do, what npm would
 * publish, with the programs of the README that use it, and source that is copied into another project.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { VERSION } from '../../src/version.ts';
import { environmentOf, startProgram, TOP } from '../harness/program.ts';
import { everything } from '../harness/sdk-servers.ts';
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

test('there are exactly two programs, each one file that can be read, with its digest, and nothing compiled in it', () => {
  const odd = filesIn(DIST).filter((name) => !/\.(?:js|d\.ts)$/.test(name));
  assert.deepEqual(odd, ['.built', 'SHA256SUMS', ...PROGRAMS]);
  const sums = PROGRAMS.map((name) => `${createHash('sha256').update(textOf(name)).digest('hex')}  ${name}\n`);
  assert.equal(textOf('SHA256SUMS'), sums.join(''));
  for (const name of PROGRAMS) {
    const text = textOf(name);
    assert.match(text, /^#!\/usr\/bin\/env node\n\/\*\n \* skillwire \d/);
    assert.doesNotMatch(text, /require\(["']\.|\bimport\(["']\.|node:vm|cachedData|enableCompileCache/, name);
    // Not minified: modules, functions and comments are as in the source.
    assert.match(text, /^\/\/ src\/server\.ts$/m);
    assert.match(text, /^function createServer\(settings\b/m);
    assert.match(text, /^\s*\* Owns: /m);
    assert.equal(/^\/\/ src\/(?:hub|transports\/http)\//m.test(text), name !== STDIO, name);
  }
});

test('each program has the licences of the packages in it, which are the four and what they need', () => {
  assert.deepEqual(Object.keys(MANIFEST.dependencies), ['front-matter', 'leven', 'picomatch', 'valibot']);
  const all = ['front-matter', 'js-yaml', 'leven', 'picomatch', 'valibot'];
  for (const name of PROGRAMS) {
    const text = textOf(name);
    const header = text.split('*/', 1)[0] ?? '';
    const inside = new Set([...text.matchAll(/^ *\/\/ node_modules\/([\w-]+)\//gm)].map(([, one = '']) => one));
    const named = [...header.matchAll(/^ \* ---- (\S+) \d\S* ----$/gm)].map(([, one]) => one);
    assert.deepEqual(named, ['skillwire', ...all], name);
    assert.deepEqual([...inside].sort(), all);
    assert.equal(header.match(/Permission is hereby granted/g)?.length, named.length, name);
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

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'skill', arguments: { name: 'pdf' } } };
const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
for (const [what, program, isConfined] of [
  ['skillwire-stdio.cjs serves', STDIO, false],
  ['skillwire-stdio.cjs needs no right but to read the skills and itself', STDIO, true],
] as const)
  test(`${what}, from anywhere`, (t) => {
    const tree = makeTree(t, { 'mine/pdf/SKILL.md': skillText('pdf') });
    const copy = tree.write('copied.cjs', textOf(program));
    const rights = [flag, `--allow-fs-read=${copy}`, `--allow-fs-read=${tree.at('mine')}/*`];
    const options = ['--no-default-dirs', '--no-plugins', '--skill-dir', tree.at('mine')];
    const { stdout, stderr, status } = spawnSync(process.execPath, [...(isConfined ? rights : []), copy, ...options], {
      ...{ cwd: tree.path, env: environmentOf(tree), encoding: 'utf8', input: `${JSON.stringify(CALL)}\n` },
    });
    assert.match(stdout, /"text":"Loading: pdf\\n/, stderr);
    assert.doesNotMatch(stderr, /skillwire: (?:warn|error)/);
    assert.equal(status, 0);
  });

// Of skillwire, and of the code that uses it.
const PACKAGES = [
  ...['valibot', 'front-matter', 'js-yaml', 'argparse', 'sprintf-js', 'esprima', 'picomatch', 'leven'],
  ...['@types/node', 'undici-types'],
];

test('what npm would publish, in the node_modules of a project', async (t) => {
  const project = makeTree(t, { 'package.json': '{"type":"module","private":true}' });
  // Built already: packing must not build again under the feet of the other tests.
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', project.path];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: TOP, encoding: 'utf8' }));
  mkdirSync(project.at('node_modules'));
  execFileSync('tar', ['xzf', packed.filename], { cwd: project.path });
  renameSync(project.at('package'), project.at('node_modules/skillwire'));
  for (const name of PACKAGES) project.link(`node_modules/${name}`, join(TOP, 'node_modules', name));

  await t.test('is the programs, which can be run, the library, its source and types, and nothing else', () => {
    const files: readonly { readonly path: string; readonly mode: number }[] = packed.files;
    const paths = files.map(({ path }) => path);
    const odd = paths.filter((path) => !/^(?:dist|src)\/[^.].*\.(?:js|ts)$/.test(path));
    const programs = PROGRAMS.map((name) => `dist/${name}`);
    assert.deepEqual(odd.toSorted(), ['LICENSE', 'README.md', 'dist/SHA256SUMS', ...programs, 'package.json']);
    for (const path of ['dist/index.js', 'dist/index.d.ts', 'dist/hub/index.d.ts', 'src/protocol/json-rpc.ts'])
      assert.ok(paths.includes(path), path);
    // The programs have these inside.
    const parts = paths.filter((path) => /^dist\/(?:cli|stdio)\b/.test(path));
    assert.deepEqual(parts, []);
    for (const { path, mode } of files)
      if (programs.includes(path)) assert.equal(mode & 0o111, 0o111, `${path} can be run`);
    const program = project.at(`node_modules/skillwire/${MANIFEST.bin.skillwire}`);
    assert.equal(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout, `${VERSION}\n`);
  });

  await t.test('has no fault that publint or arethetypeswrong knows', () => {
    const file = project.at(packed.filename);
    // Its CommonJS users are those of Node's own loader; the resolution of Node 10 knows no `exports`.
    for (const [name, ...options] of [
      ['publint', '--strict', file],
      ['attw', file, '--profile', 'esm-only'],
    ]) {
      const bin = join(TOP, 'node_modules', '.bin', String(name));
      const { stdout, stderr, status } = spawnSync(bin, options, { encoding: 'utf8' });
      assert.equal(status, 0, `${name}: ${stdout}${stderr}`);
    }
  });

  await t.test("has three entries with types; with them the README's programs do what they say", async (t) => {
    const readme = readFileSync(join(TOP, 'README.md'), 'utf8');
    const examples = [...readme.matchAll(/^```ts\n\/\/ (\w+\.ts): .*\n([\s\S]*?)^```$/gm)];
    const names = examples.map(([, name]) => name);
    assert.deepEqual(names, ['serve.ts', 'hub.ts']);
    const npx = "'npx', args: ['-y', '@modelcontextprotocol/server-everything']";
    const node = `'node', args: ['${everything.args[0]}']`;
    for (const [, name = '', code = ''] of examples) project.write(name, code.replace(npx, node));
    project.write(
      'third.ts',
      "import { decode, type Message } from 'skillwire/protocol';\nexport { decode, type Message };\n",
    );
    const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, types: ['node'], outDir: 'out' };
    compile(project, { compilerOptions, files: [...names, 'third.ts'] });
    const { decode } = await import(pathToFileURL(project.at('out/third.js')).href);
    assert.equal(decode('{').kind, 'invalid');

    project.write('skills/pdf/SKILL.md', skillText('pdf'));
    const program = startProgram(t, { tree: project, entry: project.at('out/serve.js') });
    assert.deepEqual(await program.names(), ['pdf']);
    assert.match((await program.call('now', {})).content[0].text, /^\d{4}-\d\d-\d\dT/);
    assert.equal(await program.end(), 0);

    const options = { cwd: project.path, encoding: 'utf8' } as const;
    const { stdout, status } = spawnSync(process.execPath, [project.at('out/hub.js')], options);
    assert.equal(status, 0);
    assert.match(stdout, /'everything:echo'[\s\S]*Echo: hello/);
  });
});

/** With all declaration files that they need. */
function compile(tree: Tree, config: object): void {
  tree.write('tsconfig.json', JSON.stringify(config));
  const args = [join(TOP, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', tree.path];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.deepEqual([stdout, status], ['', 0]);
}

/** A project with these parts of `src`, compiled with its own settings from `file`. */
function build(t: TestContext, parts: readonly string[], file: string, code?: string): Tree {
  const tree = makeTree(t, { 'package.json': '{"type":"module"}' });
  for (const part of parts) cpSync(join(TOP, 'src', part), tree.at(`src/${part}`), { recursive: true });
  if (code !== undefined) tree.write(file, code);
  tree.link('node_modules', join(TOP, 'node_modules'));
  const { include: _, compilerOptions, ...rest } = JSON.parse(readFileSync(join(TOP, 'tsconfig.json'), 'utf8'));
  compile(tree, { ...rest, compilerOptions: { ...compilerOptions, rootDir: '.', outDir: 'out' }, files: [file] });
  return tree;
}

test('src without hub/ and transports/http/ type-checks from stdio.ts, and serves', async (t) => {
  const rest = readdirSync(join(TOP, 'src')).filter(
    (name) => !/^(?:hub|transports|(?:index|cli|skillwire)\.ts)$/.test(name),
  );
  const tree = build(t, [...rest, 'transports/stdio.ts'], 'src/stdio.ts');
  tree.write('skills/pdf/SKILL.md', skillText('pdf'));
  const program = startProgram(t, { tree, entry: tree.at('out/src/stdio.js') });
  await program.handshake();
  assert.match(await program.skill('pdf'), /^Loading: pdf\n/);
  assert.equal(await program.end(), 0);
});

test('src/protocol alone type-checks, and answers both eras', async (t) => {
  const tree = build(
    t,
    ['protocol'],
    'start.ts',
    `import * as protocol from './src/protocol/index.ts';
const methods: protocol.Method[] = [{ name: 'ping', run: () => ({}) }];
const table = { methods, notifications: [] };
const eras = [protocol.modernEra(table, { name: 'own', version: '1' }), protocol.legacyEra(table)];
const dispatcher = protocol.createDispatcher(eras, () => {});
const write = (text: unknown) => void process.stdout.write(\`\${text}\\n\`);
const session = protocol.createSession(write);
const line = (text: string) => void dispatcher.answer(dispatcher.read(text), session, { reply: write, notify: write });
const lines = protocol.createLineSplitter({ line, tooLong: () => {}, notText: () => {} });
process.stdin.on('data', lines.push);
`,
  );
  const program = startProgram(t, { tree, entry: tree.at('out/start.js') });
  assert.deepEqual((await program.request('ping')).result, {});
  assert.equal((await program.request('none')).error.code, -32601);
  assert.equal(await program.end(), 0);
});
