/**
 * Other people's packages and programs: installed each in a folder of its own, started with a time limit and a mark in the
 * environment, by which whatever they leave behind is found and ended (on Linux).
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

// The largest has more than a thousand packages.
const INSTALL_MS = 300_000;
// Many hosts need a newer Node than skillwire does. It comes from npm too, and installs the rest: some compile for it.
const NODE = 'node@24.21.0';
const MARK = 'SKILLWIRE_HOSTS_RUN';

/** Telemetry, updates and model lists go nowhere: port 9 is closed. */
const LOOPBACK_ONLY = Object.fromEntries([
  ...['HTTPS_PROXY', 'https_proxy'].map((name) => [name, 'http://127.0.0.1:9']),
  ...['NO_PROXY', 'no_proxy'].map((name) => [name, '127.0.0.1,localhost']),
]);

/** What such a program finds around it: nothing of this machine, and a mark by which its descendants are found. */
export const environment = (cache, packages, home, mark) => ({
  PATH: [join(packages, 'node_modules', '.bin'), nodeBin(cache), process.env.PATH].join(delimiter),
  HOME: home,
  TMPDIR: home,
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  CI: '1',
  NO_COLOR: '1',
  ...LOOPBACK_ONLY,
  [MARK]: ownMark(mark),
});

/** Gives the folder that holds `node_modules`, and the version of the first package; throws with npm's last words. */
export async function installPackages(cache, name, packages) {
  if (name !== 'node') await installPackages(cache, 'node', [NODE]);
  const folder = join(cache, 'packages', name);
  const mark = join(folder, '.installed');
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== packages.join(' ')) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
    const env = { ...process.env, PATH: [nodeBin(cache), process.env.PATH].join(delimiter), [MARK]: ownMark(name) };
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages];
    const log = join(folder, 'npm.log');
    const code = await runToEnd(['npm', ...args], { cwd: folder, env, limit: INSTALL_MS, log });
    if (code !== 0) throw new Error(`npm install failed (${code}): ${readFileSync(log, 'utf8').slice(-300)}`);
    writeFileSync(mark, packages.join(' '));
  }
  const manifest = join(folder, 'node_modules', packages[0].replace(/(.)@.*$/, '$1'), 'package.json');
  return { folder, version: JSON.parse(readFileSync(manifest, 'utf8')).version };
}

/** Runs a program until it ends or its time is over, its output appended to a file; gives its exit code, or why it has none. */
export async function runToEnd([command, ...args], { cwd, env, limit, log }) {
  // Not a pipe: a grandchild that is left behind would keep it open.
  const file = openSync(log, 'a');
  const stdio = ['ignore', file, file];
  const child = spawn(command, args, { cwd, env, stdio, timeout: limit, killSignal: 'SIGKILL' });
  closeSync(file);
  return new Promise((done) => {
    child.on('exit', (code, signal) => done(code ?? signal)).on('error', ({ message }) => done(message));
  });
}

/** The command lines of what carries this mark, after a second in which it may still end by itself; then ends it. */
export async function endLeftBehind(mark) {
  for (let tries = 0; tries < 10 && marked(mark).length > 0; tries++)
    await new Promise((next) => setTimeout(next, 100));
  return end(mark);
}

/** Ends whatever this run has started. */
export const endAll = () => end('');

// --- internal ---

const nodeBin = (cache) => join(cache, 'packages', 'node', 'node_modules', '.bin');
// Two runs on one machine must not end each other's processes.
const ownMark = (mark) => `${process.pid} ${mark}`;

function end(mark) {
  const left = marked(mark);
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself, which is what was wanted.
    }
  }
  return left.map(({ command }) => command);
}

/** An empty mark finds those of all marks. */
function marked(mark) {
  if (process.platform !== 'linux') return [];
  const wanted = `${MARK}=${ownMark(mark)}`;
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const own = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (!own.some((one) => (mark === '' ? one.startsWith(wanted) : one === wanted))) return [];
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // A process that has ended and waits for its parent has no command line.
      return command === '' ? [] : [{ pid: Number(pid), command }];
    } catch {
      return []; // no process, one that has just ended, or somebody else's
    }
  });
}
