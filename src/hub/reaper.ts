/**
 * Ends process groups: one by one when a server is to go, and all of them when this process is gone, however it went.
 * Owns: every signal we send. Leaves alone: when a server goes, and asking it nicely first (stdio-wire.ts).
 * Always true: a guarded group does not outlive us by more than a moment; the shells used here end by themselves.
 *
 * A process that is killed cannot clean up after itself. So one small shell holds the ids of the groups and reads from
 * a pipe that only we hold open: when the kernel closes it for us, the shell ends every group that is still guarded.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { Socket } from 'node:net';

export interface Reaper {
  guard(group: number): void;
  /** TERM, and a little later KILL for what is left; settles when the group is empty or was sent KILL. */
  end(group: number): Promise<void>;
  /** No more groups will come. */
  close(): void;
}

export function createReaper(platform: NodeJS.Platform): Reaper {
  if (platform === 'win32') return WINDOWS;
  let shell: ChildProcess | undefined;

  function tell(line: string): void {
    shell ??= startGuard();
    shell.stdin?.write(`${line}\n`);
  }

  return {
    guard: (group) => tell(`+ ${group}`),
    async end(group) {
      await new Promise<void>((done) => {
        execFile('/bin/sh', ['-c', END_ONE, 'end', String(group)], CALM, () => done());
      });
      tell(`- ${group}`);
    },
    close: () => void shell?.stdin?.end(),
  };
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

/** Windows has no groups, but it knows whose child a process is. What outlives us there ends when its pipes do. */
const WINDOWS: Reaper = {
  guard() {},
  end: (group) => new Promise((done) => void execFile('taskkill', ['/pid', String(group), '/t', '/f'], () => done())),
  close() {},
};
