/**
 * The server as commands for people look at it: in this process, with the options of `serve`, without refreshing.
 * Owns: its start and end, waiting for upstream servers, and the line of progress meanwhile. Leaves alone: what is looked
 * at, and the output.
 * Always true: the progress is erased, and every upstream server has ended, before the command writes its output.
 */
import { type SkillwireOptions, settingsFrom } from '../config.ts';
import { createLog, type Log } from '../log.ts';
import type { Problem, Snapshot, UpstreamStatus } from '../model.ts';
import { expandHome } from '../skills/roots.ts';
import { createSkillwire, type Skillwire } from '../skillwire.ts';
import { printable } from '../text.ts';
import { type Clock, delay, monotonicMs, systemClock } from '../wait.ts';
import { allOptions, optionFaults } from './all-options.ts';
import { clip, type Screen } from './output.ts';
import { createStderrLog, workingDirectory } from './process.ts';
import type { ViewValues } from './view-options.ts';

export interface View {
  readonly skillwire: Skillwire;
  /** With what the upstream servers had when they were ready. */
  readonly snapshot: Snapshot;
  /** How long the scan took. */
  readonly milliseconds: number;
  /** The servers that were not ready in time. */
  readonly connecting: readonly string[];
}

interface LookOptions extends SkillwireOptions {
  /** How long upstream servers are waited for; if not given, until each is ready or has failed by its own timeout. */
  readonly patienceMs?: number;
}

/** What `look` gives. `options`: those that the command itself decides. */
export async function withView<T>(
  values: ViewValues,
  look: (view: View) => Promise<T>,
  { patienceMs = Number.POSITIVE_INFINITY, ...options }: LookOptions = {},
): Promise<T> {
  const progress = createProgress(process.stderr);
  const log = values['log-level'] === 'debug' ? createStderrLog(values) : progress.log;
  const skillwire = createSkillwire({ ...viewOptions(values), ...options, log });
  let milliseconds = 0;
  skillwire.registry.onRefresh((refreshed) => {
    if (!refreshed.before) ({ milliseconds } = refreshed);
  });
  try {
    const first = await skillwire.registry.complete();
    // The log at level debug has the states of the servers itself.
    const say = log === progress.log ? log.info : () => {};
    const connecting = await awaitServers(skillwire, patienceMs, say);
    const snapshot = values.hub ? await skillwire.registry.refresh('servers') : first;
    return await look({ skillwire, snapshot, milliseconds, connecting });
  } finally {
    await skillwire.close();
    progress.end();
  }
}

/** The same for a command that shows what there is: what is missing from it for a reason is said on stderr. */
export async function withShown<T>(
  values: ViewValues,
  look: (view: View) => Promise<T>,
  options: SkillwireOptions = {},
): Promise<T> {
  const lookAndMiss = async (view: View) => ({ seen: await look(view), missing: missingIn(view, values) });
  const { seen, missing } = await withView(values, lookAndMiss, { ...options, patienceMs: SHOW_PATIENCE_MS });
  warn(values, missing);
  return seen;
}

export function viewOptions(values: ViewValues): SkillwireOptions {
  return { ...allOptions(values), cwd: workingDirectory(), env: process.env, autoRefresh: false };
}

/** Lines on stderr for the user. */
export function warn({ quiet }: Pick<ViewValues, 'quiet'>, texts: readonly string[]): void {
  if (!quiet) for (const text of texts) process.stderr.write(`skillwire: ${printable(text)}\n`);
}

/** Gives a function that tells whether a fault is that of a path which the command line names. */
export function pathFaultTest(values: ViewValues): (fault: Problem) => boolean {
  const settings = settingsFrom(viewOptions(values));
  const { skillDirs, root, pluginsFile, configFiles } = settings;
  const given = [...skillDirs, root, pluginsFile, ...configFiles].filter((path) => path !== undefined);
  const paths = new Set(given.map((path) => expandHome(settings, path)));
  return ({ where }) => paths.has(where);
}

/** A server that has not answered yet, and has not failed either. */
export const isConnecting = ({ state, reason }: UpstreamStatus) => state === 'connecting' && reason === undefined;

/** Waits until no server is connecting. Gives those that still are after that time. */
export async function awaitServers(
  { status }: Pick<Skillwire, 'status'>,
  patienceMs: number,
  say: (text: string) => void,
): Promise<readonly string[]> {
  const deadline = monotonicMs() + patienceMs;
  for (;;) {
    const names = status()
      .filter(isConnecting)
      .map(({ name }) => name);
    if (names.length === 0 || monotonicMs() >= deadline) return names;
    say(`waiting for ${names.join(', ')}`);
    await delay(LOOK_AGAIN_MS);
  }
}

/** A log that shows its last line, on a terminal and after half a second. */
export function createProgress(screen: Screen, clock: Clock = systemClock): { readonly log: Log; end(): void } {
  let last = '';
  let isShown = false;
  const show = () => {
    isShown = true;
    screen.write(`${ERASE}${clip(last, (screen.columns || 80) - 1)}`);
  };
  const cancel = screen.isTTY ? clock.timer(PROGRESS_AFTER_MS, show) : () => {};
  const info = (text: string) => {
    const next = printable(text);
    if (next === last) return;
    last = next;
    if (isShown) show();
  };
  return {
    log: { ...SILENT, info },
    end() {
      cancel();
      if (isShown) screen.write(ERASE);
      isShown = false;
    },
  };
}

// --- internal ---

// A server that npx has in its cache is up by then, and a person who wants to see a list does not wait longer.
const SHOW_PATIENCE_MS = 10_000;
// How often the states of servers are looked at: a person does not notice it.
const LOOK_AGAIN_MS = 50;

/** What the user named and does not get. */
function missingIn({ snapshot, connecting }: View, values: ViewValues): readonly string[] {
  const faults = [...optionFaults(values), ...snapshot.problems.filter(pathFaultTest(values))];
  return [
    ...faults.map(({ where, what }) => `${where}: ${what}`),
    ...connecting.map((name) => `${name} is still connecting; what it has is not shown`),
  ];
}

/** A faster command needs no progress. */
const PROGRESS_AFTER_MS = 500;

const SILENT = createLog(() => {}, 'error');

// To the start of the line, and erase to its end.
const ERASE = '\r\u001b[K';
