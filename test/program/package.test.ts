/** What npm would publish, unpacked where a user's project would have it. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../src/version.ts';
import { makeTree, type Tree } from '../harness/tree.ts';

const TOP = fileURLToPath(new URL('../../..', import.meta.url));

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** A project with the packed skillwire, its dependencies and Node's types in its node_modules. */
function install(t: TestContext): { readonly project: Tree; readonly packed: Packed } {
  const project = makeTree(t, { 'package.json': '{"type":"module","private":true}' });
  // Built already: packing must not build again under the feet of the other tests.
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', project.path];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: TOP, encoding: 'utf8' })) as Packed[];
  assert.ok(packed);
  mkdirSync(project.at('node_modules/@types'), { recursive: true });
  execFileSync('tar', ['xzf', packed.filename], { cwd: project.path });
  renameSync(project.at('package'), project.at('node_modules/skillwire'));
  for (const name of [
    'valibot',
    'front-matter',
    'js-yaml',
    'argparse',
    'sprintf-js',
    'esprima',
    'picomatch',
    'leven',
  ]) {
    project.link(`node_modules/${name}`, join(TOP, 'node_modules', name));
  }
  for (const name of ['@types/node', 'undici-types']) {
    project.link(`node_modules/${name}`, join(TOP, 'node_modules', name));
  }
  return { project, packed };
}

test('what npm would publish', async (t) => {
  const { project, packed } = install(t);

  await t.test('is the program, the library, its source and types, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    const odd = paths.filter((path) => !/^(?:dist|src)\/[^.].*\.(?:js|ts)$/.test(path));
    const programs = ['dist/SHA256SUMS', 'dist/skillwire-stdio.cjs', 'dist/skillwire.cjs'];
    assert.deepEqual(odd.toSorted(), ['LICENSE', 'README.md', ...programs, 'package.json']);
    for (const path of ['dist/index.js', 'dist/index.d.ts', 'dist/protocol/index.d.ts', 'src/protocol/json-rpc.ts']) {
      assert.ok(paths.includes(path), path);
    }
    for (const program of programs.filter((path) => path.endsWith('.cjs'))) {
      const { mode = 0 } = packed.files.find(({ path }) => path === program) ?? {};
      assert.equal(mode & 0o111, 0o111, `${program} can be run`);
    }
  });

  await t.test('runs, and can be imported, with types', () => {
    const program = project.at('node_modules/skillwire/dist/skillwire.cjs');
    const { stdout, status } = spawnSync(program, ['--quiet'], {
      input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
      encoding: 'utf8',
      cwd: project.path,
    });
    assert.deepEqual({ stdout, status }, { stdout: '{"jsonrpc":"2.0","id":1,"result":{}}\n', status: 0 });

    project.write(
      'use.ts',
      `import { createSkillwire, type Skillwire, VERSION } from 'skillwire';
import { decode, type Message, RpcError } from 'skillwire/protocol';
const skillwire: Skillwire = createSkillwire({ scanDefaultDirs: false, skipPlugins: true, autoRefresh: false });
const decoded: Message | readonly Message[] = decode('{');
const { names } = await skillwire.registry.ready();
console.log(VERSION, 'kind' in decoded && decoded.kind, new RpcError(7, 'x').code, names.listed.length);
await skillwire.close();
`,
    );
    const options = { module: 'nodenext', target: 'es2023', strict: true, types: ['node'], outDir: 'out' };
    project.write('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['use.ts'] }));
    const compiler = join(TOP, 'node_modules', 'typescript', 'bin', 'tsc');
    const compiled = spawnSync(process.execPath, [compiler, '-p', project.path], { encoding: 'utf8' });
    assert.equal(compiled.stdout, '');
    assert.equal(
      execFileSync(process.execPath, [project.at('out/use.js')], { encoding: 'utf8' }),
      `${VERSION} invalid 7 0\n`,
    );
  });
});
