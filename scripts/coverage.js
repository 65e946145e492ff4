/**
 * `npm run coverage`: how much of src/ the tests run, measured by Node. Fails when it is less than the numbers below.
 * Tests that start the program start it from its modules, so that what runs in a process of its own counts too; what a
 * process has run that is killed in the end is lost.
 * `npm run coverage -- names` runs only some test files, and judges nothing.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, install, top } from './prepare.js';
import { compileTests, runTests } from './tests.js';

/** Per cent of lines, branches and functions of src/. A little below what a run gives: timing decides a few branches. */
const LEAST = { lines: 94, branches: 90, functions: 91 };

install();
// With source maps Node 20 and 22 fail to report (nodejs/node issue 54240).
compileTests(['--sourceMap', 'false']);
build();
const words = process.argv.slice(2);
const place = mkdtempSync(join(tmpdir(), 'skillwire-coverage-'));
const report = join(place, 'lcov.info');
const status = runTests(
  words,
  ['--experimental-test-coverage', '--test-reporter=lcov', `--test-reporter-destination=${report}`],
  { SKILLWIRE_TEST_PROGRAM: join(top, '.test-build', 'src', 'cli.js') },
);
const files = existsSync(report) ? readReport(readFileSync(report, 'utf8')) : [];
rmSync(place, { recursive: true, force: true });

for (const { path, lines } of files.toSorted((a, b) => share(a.lines) - share(b.lines))) {
  console.log(`${share(lines).toFixed(1).padStart(6)} %  ${path}`);
}
const low = Object.keys(LEAST).filter((kind) => {
  const percent = share(files.reduce(([hit, all], file) => [hit + file[kind][0], all + file[kind][1]], [0, 0]));
  console.log(`${percent.toFixed(1).padStart(6)} %  of all ${kind} (at least ${LEAST[kind]} %)`);
  return percent < LEAST[kind];
});
process.exit(status !== 0 || files.length === 0 || (words.length === 0 && low.length > 0) ? 1 : 0);

// --- internal ---

function share([hit, all]) {
  return all === 0 ? 100 : (100 * hit) / all;
}

/** The files of src/ in a report in the format of lcov. */
function readReport(text) {
  const records = text.split('end_of_record').filter((record) => /^SF:.*\bsrc[\\/]/m.test(record));
  const number = (record, key) => Number(new RegExp(`^${key}:(\\d+)$`, 'm').exec(record)?.[1] ?? 0);
  return records
    .map((record) => ({
      path: (/^SF:(.*)$/m.exec(record)?.[1] ?? '').replaceAll('\\', '/').replace(/^.*?(?=src\/)/, ''),
      lines: [number(record, 'LH'), number(record, 'LF')],
      branches: [number(record, 'BRH'), number(record, 'BRF')],
      functions: [number(record, 'FNH'), number(record, 'FNF')],
    }))
    .filter(({ path }) => !path.includes('node_modules'));
}
