/** The test files: compiled, found by name, run by Node's own runner. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, top } from './prepare.js';

export const step = (text) => console.error(`skillwire: ${text}`);

/** Type-checks src/ and test/, and compiles both into .test-build. */
export function compileTests(flags = []) {
  step('type-check');
  rmSync(join(top, '.test-build'), { recursive: true, force: true });
  run(process.execPath, [join(top, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'test/tsconfig.json', ...flags]);
}

/** Runs the test files whose path contains one of the words, all when there are none; gives the exit code. */
export function runTests(words, flags = [], env = {}) {
  const files = readdirSync(join(top, '.test-build', 'test'), { recursive: true })
    .filter((name) => name.endsWith('.test.js'))
    .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
    .map((name) => join('.test-build', 'test', name))
    .sort();
  // Given no file the runner looks for some itself, and finds others.
  if (files.length === 0) return fail('no test file has that in its name');
  step('tests');
  const place = mkdtempSync(join(tmpdir(), 'skillwire-test-'));
  const report = join(place, 'report.tap');
  const { status } = spawnSync(
    process.execPath,
    [
      '--enable-source-maps',
      '--test',
      // A test that hangs fails instead of stopping all others for ever. The slowest file takes a minute on a busy machine.
      '--test-timeout=300000',
      // Most tests wait for a child, not for a processor; left alone the runner would do one file at a time on two.
      `--test-concurrency=${availableParallelism() + 2}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=tap',
      `--test-reporter-destination=${report}`,
      ...flags,
      ...files,
    ],
    { cwd: top, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  // The runner passes when it finds nothing to run; a suite without tests has not passed.
  const ran = existsSync(report) ? Number(/^# tests (\d+)$/m.exec(readFileSync(report, 'utf8'))?.[1] ?? 0) : 0;
  rmSync(place, { recursive: true, force: true });
  return ran === 0 ? fail('no test was run') : (status ?? 1);
}

function fail(why) {
  step(why);
  return 1;
}
