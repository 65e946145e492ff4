/** A user's project that has what npm would publish in its node_modules. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { TOP } from './program.ts';
import { makeTree, type Tree } from './tree.ts';

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

// Of skillwire, and of the code that uses it.
const PACKAGES = [
  ...['valibot', 'front-matter', 'js-yaml', 'argparse', 'sprintf-js', 'esprima', 'picomatch', 'leven'],
  ...['@types/node', 'undici-types'],
];

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
