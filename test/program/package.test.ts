/** What npm would publish, unpacked where a user's project would have it. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../../src/version.ts';
import { compile, installPacked, TOP } from '../harness/installed.ts';

test('what npm would publish', async (t) => {
  const { project, packed } = installPacked(t);

  await t.test('is the program, the library, its source and types, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    const odd = paths.filter((path) => !/^(?:dist|src)\/[^.].*\.(?:js|ts)$/.test(path));
    const names = ['commands', 'filter', 'http', 'hub', 'program', 'service', 'stdio', 'tools', 'yaml'];
    const files = names.map((name) => `dist/skillwire-${name}.cjs`);
    const programs = ['dist/skillwire-stdio.cjs', 'dist/skillwire.cjs'];
    const shipped = ['dist/SHA256SUMS', ...files, 'dist/skillwire.cjs'];
    assert.deepEqual(odd.toSorted(), ['LICENSE', 'README.md', ...shipped, 'package.json']);
    for (const path of ['dist/index.js', 'dist/index.d.ts', 'dist/protocol/index.d.ts', 'src/protocol/json-rpc.ts']) {
      assert.ok(paths.includes(path), path);
    }
    for (const program of programs) {
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
    compile(project, ['use.ts']);
    assert.equal(
      execFileSync(process.execPath, [project.at('out/use.js')], { encoding: 'utf8' }),
      `${VERSION} invalid 7 0\n`,
    );
  });

  await t.test('can be required where Node allows that, and elsewhere Node says what to do', () => {
    project.write('use.cjs', "console.log(Object.keys(require('skillwire')).join());");
    const { stdout, stderr } = spawnSync(process.execPath, [project.at('use.cjs')], { encoding: 'utf8' });
    if ('require_module' in process.features) assert.match(stdout, /\bcreateSkillwire\b/);
    else assert.match(stderr, /use\.cjs to a dynamic import\(\)[\s\S]*ERR_REQUIRE_ESM/);
    project.write('import.cjs', "import('skillwire').then(({ VERSION }) => console.log(VERSION));");
    assert.equal(execFileSync(process.execPath, [project.at('import.cjs')], { encoding: 'utf8' }), `${VERSION}\n`);
  });

  await t.test('has no fault that publint or arethetypeswrong knows', () => {
    const run = (name: string, ...args: readonly string[]) => {
      const { stdout, stderr, status } = spawnSync(join(TOP, 'node_modules', '.bin', name), args, { encoding: 'utf8' });
      assert.equal(status, 0, `${name}: ${stdout}${stderr}`);
    };
    const file = project.at(packed.filename);
    run('publint', '--strict', file);
    // Its CommonJS users are those of Node's own loader, see above; without `exports`, the resolution of Node 10 has no entry.
    run('attw', file, '--profile', 'esm-only');
  });
});
