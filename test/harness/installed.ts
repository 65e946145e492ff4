/** A user's project that has what npm would publish in its node_modules. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeTree, type Tree } from './tree.ts';

// Seen from .test-build/test/harness.
export const TOP = fileURLToPath(new URL('../../..', import.meta.url));

export interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

// Of skillwire, and of the code that uses it.
const PACKAGES = [
  ...['valibot', 'front-matter', 'js-yaml', 'argparse', 'sprintf-js', 'esprima', 'picomatch', 'leven'],
  ...['express', '@types/express', '@types/node', 'undici-types'],
];

/** A project with the packed skillwire and its dependencies, and Express, with types. */
export function installPacked(t: TestContext): { readonly project: Tree; readonly packed: Packed } {
  const project = makeTree(t, { 'package.json': '{"type":"module","private":true}' });
  // Built already: packing must not build again under the feet of the other tests.
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', project.path];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: TOP, encoding: 'utf8' })) as Packed[];
  assert.ok(packed);
  execFileSync('tar', ['xzf', packed.filename], { cwd: project.path });
  mkdirSync(project.at('node_modules'));
  renameSync(project.at('package'), project.at('node_modules/skillwire'));
  for (const name of PACKAGES) project.link(`node_modules/${name}`, join(TOP, 'node_modules', name));
  return { project, packed };
}

/** Compiles files of the project into its directory `out`, strictly. */
export function compile(project: Tree, files: readonly string[]): void {
  const options = { module: 'nodenext', target: 'es2023', strict: true, types: ['node'], outDir: 'out' };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions: options, include: files }));
  const compiler = join(TOP, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', project.path], { encoding: 'utf8' });
  assert.deepEqual({ stdout, status }, { stdout: '', status: 0 });
}
