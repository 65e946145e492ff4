#!/usr/bin/env node
/**
 * Starts program.cjs, which lies beside this file, with the compiled form that the build has kept of it: compiling
 * takes a third of the time from start to the first answer. A Node that cannot use that form compiles as usual.
 */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const filename = join(__dirname, 'program.cjs');
// Under a name without a path: the compiled form keeps it, and where that was built is nobody's business.
const script = new Script(readFileSync(filename, 'utf8'), { filename: 'program.cjs', cachedData: keptForm() });
script.runInThisContext()(exports, require, module, filename, __dirname);

function keptForm() {
  try {
    // By the exact version: V8 takes the form of another release with the same V8 number, and then runs into nonsense.
    return readFileSync(join(__dirname, `program.${process.version}-${process.arch}.cache`));
  } catch {
    return undefined; // Built by another Node, or copied without it.
  }
}

// Asked for by the build alone: what has been compiled until the end of this run.
module.exports = script;
