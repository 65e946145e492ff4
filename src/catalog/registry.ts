/**
 * The current snapshot, and the only assignment that replaces it.
 * Owns: when a new snapshot takes over, and what the log says of that.
 * Leaves alone: what is in a snapshot (snapshot.ts), who asks for one (triggers.ts).
 * Always true:
 * - `current()` is complete and frozen, and stays the same object while no source has changed.
 * - refreshes never overlap; asking during one causes exactly one more.
 * - a source that fails keeps its last contribution and adds a Problem.
 */
import type { Settings } from '../config.ts';
import { type Log, messageOf } from '../log.ts';
import type { Contribution, Problem, Skill, Snapshot, Source } from '../model.ts';
import { createFilter } from '../skills/filter.ts';
import { counted } from '../text.ts';
import { buildSnapshot, findCopies } from './snapshot.ts';

export interface Registry {
  /** Undefined until the first scan is done. */
  current(): Snapshot | undefined;
  /** The current snapshot, or the first one. Never waits for a later one. */
  ready(): Promise<Snapshot>;
  /** The snapshot of a refresh that begins after this call. */
  refresh(reason: string): Promise<Snapshot>;
  /** Called after every refresh, also when nothing has changed. */
  onRefresh(listener: (refreshed: Refreshed) => void): void;
}

export interface Refreshed {
  /** Who asked for it, separated by commas. */
  readonly reason: string;
  readonly before: Snapshot | undefined;
  /** The same object as `before` when nothing has changed. */
  readonly after: Snapshot;
  readonly milliseconds: number;
}

export function createRegistry(sources: readonly Source[], settings: Settings): Registry {
  const filter = createFilter(settings);
  const loaders = sources.map(createLoader);
  const listeners = [createReport(settings.log)];
  const first = new Promise<Snapshot>((done) => void listeners.push(({ after }) => done(after)));
  let current: Snapshot | undefined;
  /** Everything that the current snapshot is made from. */
  let madeFrom: readonly Contribution[] = [];

  const refresh = oneAtATime(async (reason) => {
    const start = Date.now();
    const before = current;
    if (!before) settings.log.info('scanning skill directories');
    const contributions = await Promise.all(loaders.map((load) => load()));
    const same = contributions.every((one, at) => one === madeFrom[at]) ? before : undefined;
    const copies = settings.dedupe && !same ? await findCopies(contributions, filter) : NO_COPIES;
    const after = same ?? (await buildSnapshot(contributions, filter, copies));
    madeFrom = contributions;
    current = after;
    const milliseconds = Date.now() - start;
    for (const listener of listeners) listener({ reason, before, after, milliseconds });
    return after;
  });

  return {
    current: () => current,
    ready: async () => current ?? first,
    refresh,
    onRefresh: (listener) => void listeners.push(listener),
  };
}

// --- internal ---

const NO_COPIES: ReadonlyMap<Skill, Skill> = new Map();

/** Who asks during a run waits for the next one: this one may have passed the change already. */
function oneAtATime<T>(run: (reason: string) => Promise<T>): (reason: string) => Promise<T> {
  /** The run under way, or the last one. Never rejects: a failure is for those who asked for that run. */
  let last: Promise<unknown> = Promise.resolve();
  /** The run that has not begun yet, and why it was asked for. */
  let next: Promise<T> | undefined;
  const reasons = new Set<string>();
  const begin = () => {
    const reason = [...reasons].join(', ');
    reasons.clear();
    next = undefined;
    return run(reason);
  };
  return (reason) => {
    reasons.add(reason);
    if (next) return next;
    next = last.then(begin);
    last = next.catch(() => {});
    return next;
  };
}

/** Loads a source, whatever happens. */
function createLoader(source: Source): () => Promise<Contribution> {
  let last: Contribution = {};
  let failed: Contribution | undefined;
  return async () => {
    try {
      last = await source.load();
      failed = undefined;
      return last;
    } catch (error) {
      const problem = { where: source.name, what: `could not be refreshed: ${messageOf(error)}` };
      // The same object while it fails alike: nothing has changed then.
      if (failed?.problems?.at(-1)?.what !== problem.what)
        failed = { ...last, problems: [...(last.problems ?? []), problem] };
      return failed;
    }
  };
}

/**
 * One line for each refresh: for people when it brings something new, or when the timer asked, so that they see it run.
 * A Problem is logged when it first appears, and again when it comes back.
 */
function createReport(log: Log): (refreshed: Refreshed) => void {
  let reported: ReadonlyMap<string, Problem> = new Map();
  return ({ reason, before, after, milliseconds }) => {
    const problems = new Map(after.problems.map((problem) => [`${problem.where}: ${problem.what}`, problem]));
    for (const [text, { mild }] of problems) if (!reported.has(text)) log[mild ? 'debug' : 'warn'](text);
    reported = problems;
    const found = `${counted(after.names.listed.length, 'skill')} in ${milliseconds} ms`;
    if (!before) return log.info(`ready: ${found}`);
    const isNews = before !== after;
    const level = isNews || reason.split(', ').includes('timer') ? 'info' : 'debug';
    log[level](`refresh (${reason}): ${isNews ? 'changed' : 'no change'}; ${found}`);
  };
}
