/**
 * Ends the processes of stdio servers: one server when it is closed, and all of them when this process is gone.
 * Always true: a guarded process group outlives us by a second or two at most, however we end; no signal reaches a process
 * that only has the id of one that has ended.
 *
 * A process that is killed cannot clean up. So one small shell keeps the ids of the groups and reads from a pipe whose
 * other end only we hold: when the kernel closes it, the shell ends every group that is still guarded. A server may start
 * helpers in process groups of their own: on Linux /proc shows which processes descend from it, as long as it is running.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { kill } from 'node:process';
import { delay } from '../../wait.ts';
import { type Environment, inSystem32 } from './command.ts';
import { INTERRUPT_MS, KILL_LOOK_MS, KILL_MS } from './limits.ts';

export interface ProcessGroups {
  /** `group`: the id of a process that leads a group of its own. */
  guard(group: number): EndGroup;
  /** No further group will be guarded. */
  close(): void;
}

/**
 * `ask` asks the server to end. SIGTERM follows, then SIGINT, then SIGKILL; settles when no process is left or each was
 * sent SIGKILL.
 */
type EndGroup = (ask: () => Promise<unknown>) => Promise<void>;

export function createProcessGroups(platform: NodeJS.Platform, env: Environment): ProcessGroups {
  if (platform === 'win32') return windowsProcesses(env);
  const groups = new Set<number>();
  let shell: ChildProcess | undefined;

  function tellShell(): void {
    shell ??= startShell();
    shell.stdin?.write(`${[...groups].map((group) => -group).join(' ')}\n`);
  }

  return {
    guard(group) {
      groups.add(group);
      tellShell();
      const leader = processAt(group);
      return async (ask) => {
        // Before it ends: its descendants lose their parent then.
        let known = withDescendants(leader ? [leader] : []);
        await ask();
        // An empty group frees its id, and another process may have it by now.
        const isReused = leader && (processAt(group) ?? leader).start !== leader.start;
        await terminate((which) => {
          known = withDescendants(known); // Helpers may have started others meanwhile, or ended.
          const inGroup = !isReused && signal(-group, which);
          const others = known.filter((one) => one.group !== group && signal(one.pid, which));
          return inGroup || others.length > 0;
        });
        groups.delete(group);
        tellShell();
      };
    },
    close: () => void shell?.stdin?.end(),
  };
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
  if ('ZX'.includes(state)) return undefined;
  return { pid, start: Number(fields[START_FIELD]), parent: Number(parent), group: Number(group) };
}

/** Those of `roots` that still run, and all their descendants, as they are now. */
export function withDescendants(roots: readonly Process[]): readonly Process[] {
  const found = new Map<number, Process>();
  for (const { pid, start } of roots) {
    const now = processAt(pid);
    if (now?.start === start) found.set(pid, now);
  }
  // Also where there is no /proc.
  if (found.size === 0) return [];
  const children = new Map<number, Process[]>();
  for (const name of readdirSync('/proc')) {
    const one = /^\d+$/.test(name) ? processAt(Number(name)) : undefined;
    if (one && !children.get(one.parent)?.push(one)) children.set(one.parent, [one]);
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

// Each line names all groups that are guarded. `kill` goes on after a group that has ended.
const SHELL_SCRIPT = `
trap '' HUP INT TERM
while read -r line; do groups=$line; done
[ -z "$groups" ] && exit 0
kill -s TERM -- $groups 2>/dev/null
sleep 1
kill -s INT -- $groups 2>/dev/null
sleep 1
kill -s KILL -- $groups 2>/dev/null
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
  for (let waited = KILL_LOOK_MS; waited <= KILL_MS && isLeft; waited += KILL_LOOK_MS) {
    await delay(KILL_LOOK_MS);
    isLeft = send(waited === INTERRUPT_MS ? 'SIGINT' : 0);
  }
  if (isLeft) send('SIGKILL');
}

function signal(target: number, which: NodeJS.Signals | 0): boolean {
  try {
    return kill(target, which);
  } catch {
    return false; // There is no such process, or it is not ours.
  }
}

/** Windows has no process groups, but knows the children of a process. A server that outlives us sees its pipes close. */
function windowsProcesses(env: Environment): ProcessGroups {
  const taskkill = inSystem32(env, 'taskkill.exe');
  const end = (pid: number) =>
    new Promise<void>((done) => void execFile(taskkill, ['/pid', `${pid}`, '/t', '/f'], () => done()));
  return { guard: (pid) => (ask) => ask().then(() => end(pid)), close() {} };
}
