/**
 * The program `skillwire` as it is installed: loads the files that stand beside this one.
 * Leaves alone: the command line (cli.ts), which is in one of those files.
 */
import { join } from 'node:path';
import { loadFile } from './cli/compile-cache.ts';
import { explainRefusedRights } from './cli/rights.ts';

explainRefusedRights();
// Bundled as CommonJS, so there is a `require`. Making another one would load a part of Node that nothing else needs.
loadFile(join(import.meta.dirname, 'skillwire-program.cjs'), require);
