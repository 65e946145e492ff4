/** `npm start`: installs and builds what is missing, then serves. Arguments after `--` go to skillwire. */
import { join } from 'node:path';
import { build, install, top } from './build.js';

install();
await build();
// What the program tells people to run is the built file.
process.argv[1] = join(top, 'dist', 'skillwire.cjs');
await import(process.argv[1]);
