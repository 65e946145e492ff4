/**
 * Other people's packages and programs: installed each in a folder of its own, and started in a home of their own, by which
 * whatever they leave behind is found and ended (on Linux).
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { QUIET } from '../build.js';
import { start } from '../programs.js';

const CACHE = process.env.SKILLWIRE_HOSTS_DIR ?? join(tmpdir(), 'skillwire-hosts');
export const RUNS = join(CACHE, 'run');
// The largest has more than a thousand packages.
const INSTALL_MS = 300_000;
// The slowest command needs a third of it on two busy processors.
const COMMAND_MS = 60_000;
// Many hosts need a newer Node than skillwire does. It comes from npm too, and installs the rest: some compile for it.
const NODE = 'node@24.21.0';

/** All are pinned. */
export const versionOf = ([first]) => first.split('@').at(-1);

/** Gives the folder that holds `node_modules`; npm leaves alone what is there. Who was not installed cannot be started. */
export function installPackages(packages) {
  if (packages[0] !== NODE) installPackages([NODE]);
  const folder = folderOf(packages[0]);
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, PATH: pathWith(NODE) };
  const args = ['install', '--prefix', folder, ...QUIET, ...packages];
  spawnSync('npm', args, { env, timeout: INSTALL_MS, stdio: ['ignore', 'ignore', 'inherit'] });
  return folder;
}

/** What such a program finds around it: nothing of this machine, and no way out of it. */
export const environment = (home, ...packages) => ({
  PATH: pathWith(...packages, NODE),
  HOME: home,
  TMPDIR: home,
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  CI: '1',
  NO_COLOR: '1',
  // Telemetry, updates and model lists go nowhere: port 9 is closed.
  ...{ HTTPS_PROXY: 'http://127.0.0.1:9', https_proxy: 'http://127.0.0.1:9' },
  ...{ NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost' },
});

/** Runs a line of shell until it ends or its time is over, its output appended to a file; gives its exit code or signal. */
export async function runToEnd(line, cwd, env, log) {
  // Not a pipe: a grandchild that is left behind would keep it open.
  const file = openSync(log, 'a');
  const child = start('sh', ['-c', line], cwd, ['ignore', file, file], { env, timeout: COMMAND_MS });
  closeSync(file);
  const [code, signal] = await once(child, 'exit');
  return code ?? signal;
}

/** Ends every process whose home is in this folder, after a second in which it may end by itself; gives command lines. */
export async function endLeftBehind(folder) {
  for (let tries = 0; tries < 10 && runningIn(folder).length > 0; tries++) await pause(100);
  const left = runningIn(folder);
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself, which is what was wanted.
    }
  }
  return left.map(({ command }) => command);
}

// --- internal ---

const folderOf = (packaged) => join(CACHE, 'packages', packaged.replaceAll('/', '+'));

function pathWith(...packages) {
  const folders = packages.map((one) => join(folderOf(one), 'node_modules', '.bin'));
  return [...folders, process.env.PATH].join(delimiter);
}

function runningIn(folder) {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const isOurs = `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`.includes(`\0HOME=${folder}/`);
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // A process that has ended and waits for its parent has no command line.
      return isOurs && command !== '' ? [{ pid: Number(pid), command }] : [];
    } catch {
      return []; // no process, one that has just ended, or somebody else's
    }
  });
}
