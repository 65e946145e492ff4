/**
 * `npm test`: installs what is missing, then type-check, lint and format, build, every test.
 * `npm test -- names` runs only the test files whose path contains "names".
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, install, run, top } from './prepare.js';

const wanted = process.argv.slice(2);
const tool = (...path) => join(top, 'node_modules', ...path);
const step = (text) => console.error(`skillwire: ${text}`);

install();
step('type-check');
rmSync(join(top, '.test-build'), { recursive: true, force: true });
run(process.execPath, [tool('typescript', 'bin', 'tsc'), '-p', 'test/tsconfig.json']);
step('lint and format');
run(process.execPath, [tool('@biomejs', 'biome', 'bin', 'biome'), 'check', '--error-on-warnings']);
build();

step('tests');
const files = readdirSync(join(top, '.test-build', 'test'), { recursive: true })
  .filter((name) => name.endsWith('.test.js'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .map((name) => join('.test-build', 'test', name))
  .sort();
// Given no file the runner looks for some itself, and finds others.
if (files.length === 0) fail('no test file has that in its name');
const place = mkdtempSync(join(tmpdir(), 'skillwire-test-'));
const report = join(place, 'report.tap');
const { status } = spawnSync(
  process.execPath,
  [
    '--enable-source-maps',
    '--test',
    // Most tests wait for a child, not for a processor; left alone the runner would do one file at a time on two.
    `--test-concurrency=${availableParallelism() + 2}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=tap',
    `--test-reporter-destination=${report}`,
    ...files,
  ],
  { cwd: top, stdio: ['ignore', 'inherit', 'inherit'] },
);
// The runner passes when it finds nothing to run; a suite without tests has not passed.
const ran = existsSync(report) ? Number(/^# tests (\d+)$/m.exec(readFileSync(report, 'utf8'))?.[1] ?? 0) : 0;
rmSync(place, { recursive: true, force: true });
if (ran === 0) fail('no test was run');
process.exit(status ?? 1);

function fail(why) {
  step(why);
  process.exit(1);
}
