/** `npm start`: installs and builds what is missing, then serves. Arguments after `--` go to skillwire. */
import { join } from 'node:path';
import { build, install, top } from './prepare.js';

install();
build();
await import(join(top, 'dist', 'skillwire.cjs'));
