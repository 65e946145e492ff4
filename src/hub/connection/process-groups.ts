/**
 * Ends process groups: one by one when a server is to go, and all of them when this process is gone, however it went.
 * Owns: every signal we send. Leaves alone: when a server goes, and asking it nicely first (stdio-wire.ts).
 * Always true: a guarded group does not outlive us by more than a moment; the shell used here ends by itself; no
 * signal reaches a process that only has the number of one that was meant.
 *
 * A process that is killed cannot clean up after itself. So one small shell holds the ids of the groups and reads from
 * a pipe that only we hold open: when the kernel closes it for us, the shell ends every group that is still guarded.
 *
 * A server may start helpers in groups of their own. On Linux those are told by who started whom (descent.ts), as long
 * as we are the ones who end the server: when it has ended by itself, its helpers have lost their descent.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { kill } from 'node:process';
import { familyOf, isAlive, lookAt, type Process } from './descendants.ts';
import { type Environment, inSystem32 } from './launch.ts';

export interface ProcessGroups {
  /** `group`: a process that leads a group of its own. */
  guard(group: number): Guarded;
  /** No more groups will come. */
  close(): void;
}

export interface Guarded {
  /** Remembers who descends from it now. To be called before it is asked to go, which makes orphans of them. */
  look(): void;
  /** TERM, and a little later KILL for what is left; settles when nothing is left or was sent KILL. */
  end(): Promise<void>;
}

export function createProcessGroups(platform: NodeJS.Platform, env: Environment): ProcessGroups {
  if (platform === 'win32') return windowsReaper(env);
  let shell: ChildProcess | undefined;

  function tell(line: string): void {
    shell ??= startGuard();
    shell.stdin?.write(`${line}\n`);
  }

  return {
    guard(group) {
      tell(`+ ${group}`);
      const first = lookAt(group);
      let family: readonly Process[] = first ? [first] : [];
      const look = () => {
        family = familyOf(family);
      };
      return {
        look,
        async end() {
          look();
          await Promise.all([endGroup(group, first), endStrays(family.filter((one) => one.group !== group))]);
          send('SIGKILL', familyOf(family));
          tell(`- ${group}`);
        },
      };
    },
    close: () => void shell?.stdin?.end(),
  };
}

/** The program by which Windows ends a process and its children; by its full path, or any directory could offer one. */
export function taskkillOf(env: Environment): string {
  return inSystem32(env, 'taskkill.exe');
}

// --- internal ---

const CALM = { cwd: '/', env: { PATH: '/usr/bin:/bin' } } as const;

const GUARD = `
trap '' HUP INT TERM
groups=
while read -r sign group; do
  case $sign in
    +) groups="$groups $group" ;;
    -) rest=
       for one in $groups; do [ "$one" = "$group" ] || rest="$rest $one"; done
       groups=$rest ;;
  esac
done
[ -z "$groups" ] && exit 0
for one in $groups; do kill -s TERM -- "-$one" 2>/dev/null; done
sleep 1
for one in $groups; do kill -s KILL -- "-$one" 2>/dev/null; done
`;

function startGuard(): ChildProcess {
  // Detached, into a group of its own: what ends ours must not end it.
  const shell = spawn('/bin/sh', ['-c', GUARD], { ...CALM, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without a shell there is no last resort; the orderly end still works.
  shell.on('error', () => {});
  shell.stdin?.on('error', () => {});
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return shell;
}

/** The first process of a group may be gone while its children are not, so the whole group is looked at. */
async function endGroup(group: number, leader: Process | undefined): Promise<void> {
  const now = lookAt(group);
  // A group that is empty frees its number, and somebody else has got it.
  if (leader && now && now.start !== leader.start) return;
  let isLeft = signal(-group, 'SIGTERM');
  for (let tries = 0; tries < TRIES && isLeft; tries += 1) {
    await pause();
    isLeft = signal(-group, 0);
  }
  if (isLeft) signal(-group, 'SIGKILL');
}

/** The same for those in groups of their own. */
async function endStrays(strays: readonly Process[]): Promise<void> {
  let left = send('SIGTERM', strays);
  for (let tries = 0; tries < TRIES && left.length > 0; tries += 1) {
    await pause();
    // They may have started others in the meantime.
    left = familyOf(left);
  }
  send('SIGKILL', left);
}

// A second in all for whoever has something to put away.
const TRIES = 20;
const pause = () => new Promise((done) => setTimeout(done, 50));

/** Gives those who were there to get it. */
function send(which: NodeJS.Signals, processes: readonly Process[]): readonly Process[] {
  return processes.filter((one) => isAlive(one) && signal(one.pid, which));
}

/** Whether somebody is there to get it, and is ours to end. */
function signal(target: number, which: NodeJS.Signals | 0): boolean {
  try {
    return kill(target, which);
  } catch {
    return false;
  }
}

/** Windows has no groups, but it knows whose child a process is. What outlives us there ends when its pipes do. */
function windowsReaper(env: Environment): ProcessGroups {
  const file = taskkillOf(env);
  const end = (pid: number) =>
    new Promise<void>((done) => void execFile(file, ['/pid', String(pid), '/t', '/f'], () => done()));
  return { guard: (pid) => ({ look() {}, end: () => end(pid) }), close() {} };
}
