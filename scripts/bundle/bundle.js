/**
 * dist/bin: the program in one file, with what Node has compiled of it beside it.
 * Node takes longer to find, open and compile sixty modules than to run them. The same program in modules that can be
 * read is dist/cli.js; here it is minified, which saves 3 ms of 55 to the first answer. The kept form is made by a real
 * run over real skills, because functions are compiled when first called; it holds for this Node, and any other does
 * not look at it.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, top } from '../prepare.js';

const bin = join(top, 'dist', 'bin');
const launcher = join(bin, 'skillwire.cjs');

function bundle() {
  const flags = ['--bundle', '--minify', '--platform=node', '--format=cjs', '--target=node20', '--log-level=warning'];
  // Everything is in the one file, so nothing needs to be imported later; a script of its own could not.
  flags.push('--supported:dynamic-import=false');
  // So that the line around an error, which Node prints, fits on a screen.
  flags.push('--line-limit=120');
  // As Node wraps a module, so that the launcher need not make a longer copy of the text.
  flags.push('--banner:js=(function (exports, require, module, __filename, __dirname) {', '--footer:js=})');
  run(join(top, 'node_modules', '.bin', 'esbuild'), ['src/cli.ts', ...flags, `--outfile=${join(bin, 'program.cjs')}`]);
  copyFileSync(join(top, 'scripts', 'bundle', 'launcher.cjs'), launcher);
  chmodSync(launcher, 0o755);
  keepCompiled();
}

const REQUESTS = [
  { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
  { id: 3, method: 'tools/call', params: { name: 'skill', arguments: { name: 'a' } } },
];

// Enough of them to need sorting. Of plain front matter, because keeping the YAML reader too would cost everybody more
// time than it saves those who need it (measured).
const SKILLS = ['a', 'b', 'c', 'd', 'e', 'f'];

function keepCompiled() {
  const home = mkdtempSync(join(tmpdir(), 'skillwire-build-'));
  for (const name of SKILLS) {
    mkdirSync(join(home, 'skills', name), { recursive: true });
    writeFileSync(join(home, 'skills', name, 'SKILL.md'), `---\nname: ${name}\ndescription: Does this\n---\nText\n`);
  }
  // For exactly this Node: see launcher.cjs.
  const kept = join(bin, `program.${process.version}-${process.arch}.cache`);
  const save = `
    const { writeFileSync } = require('node:fs');
    let script;
    process.on('exit', () => writeFileSync(${JSON.stringify(kept)}, script.createCachedData()));
    script = require(${JSON.stringify(launcher)});`;
  const input = REQUESTS.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  const { status, stderr } = spawnSync(process.execPath, ['-e', save], {
    cwd: home,
    env: { ...process.env, HOME: home },
    input,
  });
  rmSync(home, { recursive: true, force: true });
  // The program runs without it all the same, only later.
  if (status !== 0) console.error(`skillwire: the compiled form could not be kept: ${stderr}`);
}

bundle();
