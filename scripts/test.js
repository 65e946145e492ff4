/**
 * `npm test`: installs what is missing, then type-check, lint and format, build, every test.
 * `npm test -- names` runs only the test files whose path contains "names".
 */
import { join } from 'node:path';
import { build, install, run, top } from './prepare.js';
import { compileTests, runTests, step } from './tests.js';

install();
compileTests();
step('lint and format');
run(process.execPath, [join(top, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'), 'check', '--error-on-warnings']);
build();
process.exit(runTests(process.argv.slice(2)));
