/**
 * `npm run runtimes`: installs several releases of Node, Bun and Deno from npm into a temporary directory, runs both shipped
 * programs on each, and the stdio program with no right but to read the skills and itself. Not part of `npm test`:
 * it needs the network.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, install, top } from './build.js';

const place = realpathSync(mkdtempSync(join(tmpdir(), 'skillwire-runtimes-')));
const skills = join(place, 'skills');
const program = (name) => join(top, 'dist', name);
const STDIO = program('skillwire-stdio.cjs');

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

const MESSAGES = [
  { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/call', params: { name: 'skill', arguments: { name: 'pdf' } } },
];

install();
await build();
mkdirSync(join(skills, 'pdf'), { recursive: true });
writeFileSync(join(skills, 'pdf', 'SKILL.md'), '---\nname: pdf\ndescription: Fills forms\n---\nText\n');
let failures = 0;
for (const [at, { package: name, bin, args, rights }] of RUNTIMES.entries()) {
  const directory = join(place, String(at));
  const flags = ['--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', ['install', '--prefix', directory, ...flags, name], { stdio: ['ignore', 2, 2] });
  const command = join(directory, 'node_modules', '.bin', bin);
  if (status !== 0) judge(name, 'npm install', 'could not be installed');
  else {
    judge(name, 'skillwire.cjs', fault(command, [...args, program('skillwire.cjs')]));
    judge(name, 'skillwire-stdio.cjs', fault(command, [...args, STDIO]));
    if (rights) judge(name, 'skillwire-stdio.cjs, rights to read only', fault(command, [...rights, STDIO]));
  }
}
rmSync(place, { recursive: true, force: true });
process.exit(failures > 0 ? 1 : 0);

// --- internal ---

function judge(runtime, what, why) {
  if (why !== undefined) failures++;
  console.log(
    `${why === undefined ? 'ok  ' : 'FAIL'} ${runtime.padEnd(8)} ${what}${why === undefined ? '' : `: ${why}`}`,
  );
}

/** Why a run did not answer as it should, or undefined. */
function fault(command, args) {
  const input = MESSAGES.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  const options = {
    cwd: skills,
    env: { PATH: process.env.PATH, HOME: place },
    input,
    encoding: 'utf8',
    timeout: 30_000,
  };
  const own = ['--no-default-dirs', '--no-plugins', '--skill-dir', skills];
  const { stdout, stderr, status } = spawnSync(command, [...args, ...own], options);
  if (status !== 0) return `exit ${status}: ${stderr}`;
  const lines = stdout.trim().split('\n');
  const isGood =
    lines.length === 2 && lines.every((line) => line.startsWith('{')) && stdout.includes('Loading: pdf\\n');
  return isGood && !/skillwire: (?:warn|error)/.test(stderr) ? undefined : `${stdout}\n${stderr}`;
}
