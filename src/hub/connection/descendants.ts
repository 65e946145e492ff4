/**
 * Who descends from a process, as Linux tells it in /proc.
 * Owns: reading that, and telling a process from a later one of the same id. Leaves alone: every signal (reaper.ts).
 * Always true: a process is known by its id and the moment it was started; nothing here throws. Where there is no /proc
 * nobody has descendants.
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface Process {
  readonly pid: number;
  /** In clock ticks since the system was started. */
  readonly start: number;
  readonly parent: number;
  readonly group: number;
}

/** Undefined: it has ended, or there is no telling. */
export function lookAt(pid: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined; // Gone, or not this system.
  }
  // A program chooses its own name, which may hold blanks and brackets; what follows the last bracket is numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent, group] = fields;
  // A zombie has ended, and only its number is left.
  if ('ZX'.includes(state)) return undefined;
  return { pid, start: Number(fields[START_FIELD]), parent: Number(parent), group: Number(group) };
}

export function isAlive({ pid, start }: Process): boolean {
  return lookAt(pid)?.start === start;
}

/** Those of `roots` that still live, and all who descend from them, as they are now. */
export function familyOf(roots: readonly Process[]): readonly Process[] {
  const family = new Map<number, Process>();
  for (const { pid, start } of roots) {
    const now = lookAt(pid);
    if (now?.start === start) family.set(pid, now);
  }
  if (family.size === 0) return [];
  const children = new Map<number, Process[]>();
  for (const one of everybody()) {
    const siblings = children.get(one.parent);
    if (siblings) siblings.push(one);
    else children.set(one.parent, [one]);
  }
  // A map is walked in the order in which it grows.
  for (const { pid, start } of family.values()) {
    for (const child of children.get(pid) ?? []) {
      // Nobody is older than the one who started it: that one's number has gone to another meanwhile.
      if (child.start >= start && !family.has(child.pid)) family.set(child.pid, child);
    }
  }
  return [...family.values()];
}

// --- internal ---

// The 22nd field of all, and the first two are cut off (see proc_pid_stat(5)).
const START_FIELD = 19;

function everybody(): readonly Process[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (lookAt(Number(name)) ?? []) : []));
  } catch {
    return []; // Not this system.
  }
}
