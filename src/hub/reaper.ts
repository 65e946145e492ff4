/**
 * Ends process groups: one by one when a server is to go, and all of them when this process is gone, however it went.
 * Owns: every signal we send. Leaves alone: when a server goes, and asking it nicely first (stdio-wire.ts).
 * Always true: a guarded group does not outlive us by more than a moment; the shells used here end by themselves; no
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
import { familyOf, isAlive, lookAt, type Process } from './descent.ts';
import { type Environment, inSystem32 } from './launch.ts';

export interface Reaper {
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

export function createReaper(platform: NodeJS.Platform, env: Environment): Reaper {
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
          await Promise.all([endGroup(group), endStrays(family.filter((one) => one.group !== group))]);
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

// The first process of a group may be gone while its children are not, so the whole group is looked at.
const END_ONE = `
kill -s TERM -- "-$1" 2>/dev/null || exit 0
tries=0
while [ $tries -lt 20 ]; do
  sleep 0.05
  kill -s 0 -- "-$1" 2>/dev/null || exit 0
  tries=$((tries + 1))
done
kill -s KILL -- "-$1" 2>/dev/null
`;

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

function endGroup(group: number): Promise<void> {
  return new Promise((done) => {
    execFile('/bin/sh', ['-c', END_ONE, 'end', String(group)], CALM, () => done());
  });
}

/** The same as END_ONE does, for those in groups of their own. */
async function endStrays(strays: readonly Process[]): Promise<void> {
  let left = send('SIGTERM', strays);
  for (let tries = 0; tries < 20 && left.length > 0; tries += 1) {
    await new Promise((done) => setTimeout(done, 50));
    // They may have started others in the meantime.
    left = familyOf(left);
  }
  send('SIGKILL', left);
}

/** Gives those who were there to get it. */
function send(signal: NodeJS.Signals, processes: readonly Process[]): readonly Process[] {
  return processes.filter((one) => {
    if (!isAlive(one)) return false;
    try {
      return kill(one.pid, signal);
    } catch {
      return false; // It ended this moment, or is no longer ours to end.
    }
  });
}

/** Windows has no groups, but it knows whose child a process is. What outlives us there ends when its pipes do. */
function windowsReaper(env: Environment): Reaper {
  const file = taskkillOf(env);
  const end = (pid: number) =>
    new Promise<void>((done) => void execFile(file, ['/pid', String(pid), '/t', '/f'], () => done()));
  return { guard: (pid) => ({ look() {}, end: () => end(pid) }), close() {} };
}
