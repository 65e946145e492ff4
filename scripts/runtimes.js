/**
 * `npm run runtimes`: installs several releases of Node, Bun and Deno from npm into a temporary directory, runs both shipped
 * programs on each, and the stdio program with no right but to read the skills and itself. Not part of `npm test`:
 * it needs the network.
 */
import { join } from 'node:path';
import { build, install, QUIET, run, top } from './build.js';
import { makeDirectory, makeHome, tryProgram } from './programs.js';

const home = makeHome();
const skills = join(home, '.agents', 'skills');
const FULL = join(top, 'dist', 'skillwire.cjs');
const STDIO = join(top, 'dist', 'skillwire-stdio.cjs');

const nodeRights = (flag) => [flag, `--allow-fs-read=${STDIO}`, `--allow-fs-read=${skills}`];
/** `rights`: the arguments under which a program may read the skills and itself, and nothing else. */
const RUNTIMES = [
  { package: 'node@20', bin: 'node', args: [], rights: nodeRights('--experimental-permission') },
  { package: 'node@22', bin: 'node', args: [], rights: nodeRights('--experimental-permission') },
  { package: 'node@24', bin: 'node', args: [], rights: nodeRights('--permission') },
  { package: 'node@26', bin: 'node', args: [], rights: nodeRights('--permission') },
  { package: 'bun', bin: 'bun', args: ['run'] },
  // Deno asks for the right to read each environment variable, and the name of the user's home.
  {
    package: 'deno',
    bin: 'deno',
    args: ['run', '--allow-read', '--allow-env', '--allow-sys'],
    rights: ['run', `--allow-read=${STDIO},${skills}`, '--allow-env', '--allow-sys=homedir'],
  },
];

install();
await build();
for (const { package: name, bin, args, rights } of RUNTIMES) {
  const folder = makeDirectory();
  run('npm', ['install', '--prefix', folder, ...QUIET, name]);
  const command = join(folder, 'node_modules', '.bin', bin);
  judge(`${name}, skillwire.cjs`, command, [...args, FULL]);
  judge(`${name}, skillwire-stdio.cjs`, command, [...args, STDIO]);
  if (rights) judge(`${name}, skillwire-stdio.cjs, rights to read only`, command, [...rights, STDIO]);
}

function judge(what, command, args) {
  try {
    tryProgram(command, [...args, '--no-default-dirs', '--no-plugins', '--skill-dir', skills], home);
    console.log(`ok   ${what}`);
  } catch ({ message }) {
    console.log(`FAIL ${what}: ${message}`);
    process.exitCode = 1;
  }
}
