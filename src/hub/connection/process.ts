/**
 * Ends the processes of stdio servers: one server when it is closed, and all of them when this process is gone.
 * Owns: every signal we send. Leaves alone: starting a server, and closing its stdin first (stdio.ts).
 * Always true:
 * - a guarded process group outlives us by a second or two at most, however we end;
 * - no signal reaches a process that only has the id of one that has ended.
 *
 * A process that is killed cannot clean up. So one small shell keeps the ids of the groups and reads from a pipe whose
 * other end only we hold: when the kernel closes it, the shell ends every group that is still guarded.
 *
 * A server may start helpers in process groups of their own. On Linux /proc shows which processes descend from it, as
 * long as the server itself is running. On other systems such helpers are not found.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { kill } from 'node:process';
import { delay } from '../../wait.ts';
import { type Environment, inSystem32 } from './command.ts';
import { KILL_LOOK_MS, KILL_MS } from './limits.ts';

export interface ProcessGroups {
  /** `group`: the id of a process that leads a group of its own. */
  guard(group: number): GuardedGroup;
  /** No further group will be guarded. */
  close(): void;
}

export interface GuardedGroup {
  /** Records the current descendants. Call it before the server is asked to end: they lose their parent then. */
  record(): void;
  /** SIGTERM, later SIGKILL; settles when no process is left or each was sent SIGKILL. */
  end(): Promise<void>;
}

export function createProcessGroups(platform: NodeJS.Platform, env: Environment): ProcessGroups {
  if (platform === 'win32') return windowsProcesses(env);
  let shell: ChildProcess | undefined;

  function tell(line: string): void {
    shell ??= startShell();
    shell.stdin?.write(`${line}\n`);
  }

  return {
    guard(group) {
      tell(`+ ${group}`);
      const leader = processAt(group);
      let known: readonly Process[] = leader ? [leader] : [];
      const record = () => {
        known = withDescendants(known);
      };
      const signalHelpers = (which: NodeJS.Signals | 0) => {
        record(); // They may have started others meanwhile.
        return signalAll(
          known.filter((one) => one.group !== group),
          which,
        );
      };
      return {
        record,
        async end() {
          record();
          const now = processAt(group);
          // An empty group frees its id, and another process may have it by now.
          const isReused = leader && now && now.start !== leader.start;
          const signalGroup = (which: NodeJS.Signals | 0) => !isReused && signal(-group, which);
          await Promise.all([terminate(signalGroup), terminate(signalHelpers)]);
          signalAll(withDescendants(known), 'SIGKILL');
          tell(`- ${group}`);
        },
      };
    },
    close: () => void shell?.stdin?.end(),
  };
}

/** The program by which Windows ends a process and its children. */
export function taskkillPath(env: Environment): string {
  return inSystem32(env, 'taskkill.exe');
}

/** A process is known by its id and its start time: ids are reused. */
export interface Process {
  readonly pid: number;
  /** In clock ticks since the system was started. */
  readonly start: number;
  readonly parent: number;
  readonly group: number;
}

/** Undefined when the process has ended, or where there is no /proc. Never throws. */
export function processAt(pid: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined; // It has ended, or the system has no /proc.
  }
  // The program's name is in brackets and may hold blanks and brackets itself; only numbers follow the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent, group] = fields;
  const isZombie = 'ZX'.includes(state);
  return isZombie
    ? undefined
    : { pid, start: Number(fields[START_FIELD]), parent: Number(parent), group: Number(group) };
}

export function isRunning({ pid, start }: Process): boolean {
  return processAt(pid)?.start === start;
}

/** Those of `roots` that still run, and all their descendants, as they are now. */
export function withDescendants(roots: readonly Process[]): readonly Process[] {
  const found = new Map<number, Process>();
  for (const { pid, start } of roots) {
    const now = processAt(pid);
    if (now?.start === start) found.set(pid, now);
  }
  if (found.size === 0) return [];
  const children = new Map<number, Process[]>();
  for (const one of allProcesses()) {
    const siblings = children.get(one.parent);
    if (siblings) siblings.push(one);
    else children.set(one.parent, [one]);
  }
  // A map is iterated in the order in which it grows.
  for (const { pid, start } of found.values()) {
    for (const child of children.get(pid) ?? []) {
      // A child that is older than its parent belongs to an earlier process of that id.
      if (child.start >= start && !found.has(child.pid)) found.set(child.pid, child);
    }
  }
  return [...found.values()];
}

// --- internal ---

// The 22nd field of /proc/PID/stat, of which the first two are cut off; see proc_pid_stat(5).
const START_FIELD = 19;

const SHELL_SCRIPT = `
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

function startShell(): ChildProcess {
  // Detached: a signal to our own process group must not end it.
  const shell = spawn('/bin/sh', ['-c', SHELL_SCRIPT], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell, servers still end when we end in an orderly manner.
  shell.on('error', () => {});
  shell.stdin?.on('error', () => {});
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return shell;
}

/** `send` returns whether a process was there to get the signal; signal 0 only asks. */
async function terminate(send: (which: NodeJS.Signals | 0) => boolean): Promise<void> {
  let isLeft = send('SIGTERM');
  for (let waited = 0; waited < KILL_MS && isLeft; waited += KILL_LOOK_MS) {
    await delay(KILL_LOOK_MS);
    isLeft = send(0);
  }
  if (isLeft) send('SIGKILL');
}

function signalAll(processes: readonly Process[], which: NodeJS.Signals | 0): boolean {
  return processes.filter((one) => isRunning(one) && signal(one.pid, which)).length > 0;
}

function signal(target: number, which: NodeJS.Signals | 0): boolean {
  try {
    return kill(target, which);
  } catch {
    return false; // There is no such process, or it is not ours.
  }
}

function allProcesses(): readonly Process[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (processAt(Number(name)) ?? []) : []));
  } catch {
    return []; // The system has no /proc.
  }
}

/** Windows has no process groups, but knows the children of a process. A server that outlives us sees its pipes close. */
function windowsProcesses(env: Environment): ProcessGroups {
  const end = (pid: number) =>
    new Promise<void>((done) => void execFile(taskkillPath(env), ['/pid', `${pid}`, '/t', '/f'], () => done()));
  return { guard: (pid) => ({ record() {}, end: () => end(pid) }), close() {} };
}
