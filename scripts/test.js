/**
 * `npm test`: installs what is missing, then type-check, lint and format, build, every test.
 * `npm test -- names` runs only the test files whose path contains "names".
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { build, install, run, say, top } from './build.js';

install();
say('type-check');
rmSync(join(top, '.test-build'), { recursive: true, force: true });
run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'test/tsconfig.json']);
say('lint and format');
run(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings']);
await build();

const words = process.argv.slice(2);
const files = readdirSync(join(top, '.test-build', 'test'), { recursive: true })
  .filter((name) => name.endsWith('.test.js'))
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
  .map((name) => join('.test-build', 'test', name))
  .sort();
// Given no file the runner looks for some itself, and finds others.
if (files.length === 0) {
  say('no test file has that in its name');
  process.exit(1);
}
say('tests');
const args = [
  '--enable-source-maps',
  '--test',
  '--test-reporter=spec',
  // A test that hangs fails instead of stopping all others for ever.
  '--test-timeout=120000',
  // Most tests wait for a child, not for a processor; left alone the runner would do one file at a time on two.
  `--test-concurrency=${availableParallelism() + 2}`,
];
const stdio = ['ignore', 'inherit', 'inherit'];
process.exit(spawnSync(process.execPath, [...args, ...files], { cwd: top, stdio }).status ?? 1);
