/**
 * `npm test`: installs what is missing, then type-check, lint and format, build, every test.
 * `npm test -- names` runs only the test files whose path contains "names".
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, install, run, say, top } from './build.js';

install();
say('type-check');
rmSync(join(top, '.test-build'), { recursive: true, force: true });
run(process.execPath, [join(top, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'test/tsconfig.json']);
say('lint and format');
run(process.execPath, [join(top, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'), 'check', '--error-on-warnings']);
await build();
process.exit(runTests(process.argv.slice(2)));

function runTests(words) {
  const files = readdirSync(join(top, '.test-build', 'test'), { recursive: true })
    .filter((name) => name.endsWith('.test.js'))
    .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
    .map((name) => join('.test-build', 'test', name))
    .sort();
  // Given no file the runner looks for some itself, and finds others.
  if (files.length === 0) return fail('no test file has that in its name');
  say('tests');
  const place = mkdtempSync(join(tmpdir(), 'skillwire-test-'));
  const report = join(place, 'report.tap');
  const args = [
    '--enable-source-maps',
    '--test',
    // A test that hangs fails instead of stopping all others for ever.
    '--test-timeout=120000',
    // Most tests wait for a child, not for a processor; left alone the runner would do one file at a time on two.
    `--test-concurrency=${availableParallelism() + 2}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=tap',
    `--test-reporter-destination=${report}`,
  ];
  const { status } = spawnSync(process.execPath, [...args, ...files], {
    cwd: top,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  // The runner passes when it finds nothing to run; a suite without tests has not passed.
  const ran = Number(/^# tests (\d+)$/m.exec(readFileSync(report, 'utf8'))?.[1] ?? 0);
  rmSync(place, { recursive: true, force: true });
  return ran === 0 ? fail('no test was run') : (status ?? 1);
}

function fail(why) {
  say(why);
  return 1;
}
