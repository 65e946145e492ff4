/**
 * Brings a checkout into working order: packages installed, program built. Does only what is missing or out of date.
 * Everything it says goes to stderr, because `npm start` serves protocol on stdout.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const top = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a command in the checkout, its output on stderr; ends this program when it fails. */
export function run(command, args) {
  const shell = process.platform === 'win32';
  const { status, error } = spawnSync(command, args, { cwd: top, stdio: ['ignore', 2, 2], shell });
  if (error) console.error(`skillwire: ${command} could not be run: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

export function install() {
  const installed = join(top, 'node_modules', '.package-lock.json');
  if (isNewer(installed, [join(top, 'package-lock.json')])) return;
  console.error('skillwire: installing packages');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--json=false']);
}

export function build() {
  const mark = join(top, 'dist', '.built');
  const sources = ['src', 'scripts/bundle', 'tsconfig.json', 'package.json', 'package-lock.json'];
  if (
    isNewer(
      mark,
      sources.map((path) => join(top, path)),
    )
  )
    return;
  console.error('skillwire: building');
  rmSync(join(top, 'dist'), { recursive: true, force: true });
  run(process.execPath, [join(top, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.json']);
  run(process.execPath, [join(top, 'scripts', 'bundle', 'bundle.js')]);
  writeFileSync(mark, '');
}

function isNewer(made, sources) {
  if (!existsSync(made)) return false;
  const { mtimeMs } = statSync(made);
  return sources.every((path) => newestIn(path) <= mtimeMs);
}

function newestIn(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))));
}
