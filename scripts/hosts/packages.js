/**
 * Installs the packages under test, each in a folder of its own below the cache directory, once per version.
 * This is the only part that needs the network, and only the npm registry.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runToEnd } from './processes.js';

// The largest has more than a thousand packages.
const INSTALL_LIMIT = 300_000;
/** Many hosts need a newer Node than the one skillwire supports; this one comes from npm as well. */
export const NODE = { name: 'node', packages: ['node@24.21.0'] };

/** Where that Node is. Packages are installed with it too: some compile for the Node they are installed by. */
export const nodeBin = (cache) => join(cache, 'packages', NODE.name, 'node_modules', '.bin');

/** @returns the folder that holds `node_modules`; throws with npm's last words when that cannot be had */
export async function installPackages(cache, { name, packages }) {
  const folder = join(cache, 'packages', name);
  const mark = join(folder, '.installed');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === packages.join(' ')) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  const { code, output } = await runToEnd(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages],
    {
      cwd: folder,
      env: { ...process.env, PATH: [nodeBin(cache), process.env.PATH].join(delimiter) },
      limit: INSTALL_LIMIT,
    },
  );
  if (code !== 0) throw new Error(`npm install failed: ${output.trim().split('\n').slice(-3).join(' ')}`);
  writeFileSync(mark, packages.join(' '));
  return folder;
}

/** The version of what was installed, as its own package.json says. */
export function installedVersion(folder, packageName) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', packageName, 'package.json'), 'utf8')).version;
}
