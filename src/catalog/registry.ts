/**
 * The current snapshot, and the only assignment that replaces it.
 * Owns: when a new snapshot takes over, and waiting for sources that are late.
 * Leaves alone: its contents (snapshot.ts), when to refresh (triggers.ts).
 * Always true: a snapshot is frozen, and stays the same object while no source has changed; refreshes never overlap; a
 * source that fails keeps its last contribution; only lists wait for late sources, and names that are not known yet.
 */
import { sameItems } from '../compare.ts';
import { messageOf } from '../log.ts';
import type { Contribution, Snapshot, Source } from '../model.ts';
import type { Filter } from '../skills/filter.ts';
import { hasPatterns, type Patterns } from '../skills/patterns.ts';
import { type Clock, systemClock } from '../wait.ts';
import { FIRST_LISTS_MS } from './limits.ts';

export interface Refreshed {
  /** Who asked for the refresh, separated by commas; a change that it finds may have another cause. */
  readonly reason: string;
  readonly before: Snapshot | undefined;
  readonly after: Snapshot;
  readonly change: SkillChange;
  readonly milliseconds: number;
}

/** How many skills differ between two snapshots, by their files. */
export type SkillChange = Readonly<Record<'added' | 'changed' | 'removed', number>>;

export type Found<T> =
  | { readonly kind: 'found'; readonly item: T; readonly snapshot: Snapshot }
  /** Its server is not connected; `state`: for people. */
  | { readonly kind: 'away'; readonly state: string }
  | { readonly kind: 'missing'; readonly snapshot: Snapshot };

export interface Registry {
  /** The current snapshot; undefined until the first scan is done. */
  current(): Snapshot | undefined;
  /** The same, or the first one. Never waits for a refresh. */
  ready(): Promise<Snapshot>;
  /**
   * For lists: the same, or the first for which every source has arrived or has had a second to. Many clients ask for a
   * list only once, so the first response must contain the servers that need a moment to start.
   */
  complete(): Promise<Snapshot>;
  /** Looks something up in the current snapshot and, when it is not there, in the first complete one. */
  lookUp<T>(look: (snapshot: Snapshot) => T | undefined): Promise<T | undefined>;
  /** The same for a name, which may also be that of an upstream server that is not connected, or not listed yet. */
  find<T>(name: string, look: (snapshot: Snapshot) => T | undefined): Promise<Found<T>>;
  /** A snapshot of what the sources have now or later. */
  refresh(reason: string): Promise<Snapshot>;
  /** After every refresh, also when nothing has changed. */
  onRefresh(listener: (refreshed: Refreshed) => void): void;
}

/** `dedupe`: byte-identical copies of one name are folded into one. */
export function createRegistry(
  sources: readonly Source[],
  options: Patterns & { readonly dedupe: boolean },
  clock: Clock = systemClock,
): Registry {
  const filter = loadFilter(options);
  const loaders = sources.map(createLoader);
  const listeners: ((refreshed: Refreshed) => void)[] = [];
  const first = new Promise<Snapshot>((done) => void listeners.push(({ after }) => done(after)));
  const late = sources.filter((source) => source.arrived !== undefined);
  let haveArrived = late.length === 0;
  let current: Snapshot | undefined;
  /** The same as a promise, made once. */
  let ready = first;
  /** Everything that the current snapshot is made from. */
  let last: readonly unknown[] = [];

  const refresh = oneAtATime(async (reason) => {
    const start = clock.now();
    const before = current;
    // Read before the sources are loaded: a source that arrives meanwhile may have been loaded already.
    const isComplete = haveArrived;
    const contributions = await Promise.all(loaders.map((load) => load()));
    // Loaded with the first refresh: an answer to a handshake does not wait for it.
    const { buildSnapshot, findFingerprints } = await import('./snapshot.ts');
    const fingerprints = options.dedupe ? await findFingerprints(contributions) : new Map();
    const input = [isComplete, ...contributions, ...[...fingerprints].flat()];
    const isSame = before && sameItems(input, last);
    const rules = { filter: await filter, fingerprints, isComplete };
    const after = isSame ? before : await buildSnapshot(contributions, rules, (before?.generation ?? 0) + 1);
    const change = isSame ? NO_CHANGE : compareSkills(before, after);
    last = input;
    current = after;
    ready = Promise.resolve(after);
    const milliseconds = clock.now() - start;
    for (const listener of listeners) listener({ reason, before, after, change, milliseconds });
    return after;
  });

  async function finish(): Promise<void> {
    const timeout = new Promise<void>((done) => void clock.timer(FIRST_LISTS_MS, done));
    await Promise.race([Promise.allSettled(late.map((source) => source.arrived?.())), timeout]);
    haveArrived = true;
    await refresh('arrival');
  }
  // With its first load a source learns which servers to connect to.
  const completed = haveArrived ? first : first.then(finish);

  const complete = () => (current?.isComplete ? ready : completed.then(() => ready));
  const ownerOf = (name: string) =>
    sources.map((source) => source.explain?.(name)).find((owner) => owner !== undefined);

  return {
    current: () => current,
    ready: () => ready,
    complete,
    lookUp: async (look) => look(await ready) ?? look(await complete()),
    async find(name, look) {
      const foundIn = (snapshot: Snapshot) => {
        const item = look(snapshot);
        return item === undefined
          ? ({ kind: 'missing', snapshot } as const)
          : ({ kind: 'found', item, snapshot } as const);
      };
      const known = foundIn(await ready);
      if (known.kind === 'found' || !ownerOf(name)) return known;
      const later = foundIn(await complete());
      const owner = later.kind === 'found' ? undefined : ownerOf(name);
      if (!owner) return later;
      // A server that has just become ready is in the next snapshot.
      return owner.isReady ? foundIn(await refresh('call')) : { kind: 'away', state: owner.state };
    },
    refresh,
    onRefresh: (listener) => void listeners.push(listener),
  };
}

// --- internal ---

const NO_CHANGE: SkillChange = { added: 0, changed: 0, removed: 0 };

/**
 * Runs never overlap. Asking during one causes exactly one more, because it may have passed the caller's change already.
 * A run has the reasons of all who asked for it.
 */
function oneAtATime<T>(run: (reason: string) => Promise<T>): (reason: string) => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  /** Of the run that begins next. */
  const reasons = new Set<string>();
  const start = () => {
    const reason = [...reasons].join(', ');
    reasons.clear();
    next = undefined;
    running = run(reason).finally(() => {
      running = undefined;
    });
    return running;
  };
  return (reason) => {
    for (const one of reason.split(', ')) reasons.add(one);
    // The next one may be about to begin.
    if (!running) return next ?? start();
    // A failure is reported to those who asked for that run.
    next ??= running.catch(() => {}).then(start);
    return next;
  };
}

/** Loads a source; one that fails gives its last contribution and a Problem, the same object while it fails alike. */
function createLoader(source: Source): () => Promise<Contribution> {
  let good: Contribution = {};
  let failed: { readonly what: string; readonly given: Contribution } | undefined;
  return async () => {
    try {
      good = await source.load();
      failed = undefined;
      return good;
    } catch (error) {
      const what = `could not be refreshed: ${messageOf(error)}`;
      const problems = [...(good.problems ?? []), { where: source.name, what }];
      if (failed?.what !== what) failed = { what, given: { ...good, problems } };
      return failed.given;
    }
  };
}

function compareSkills(before: Snapshot | undefined, after: Snapshot): SkillChange {
  if (!before) return { ...NO_CHANGE, added: after.names.listed.length };
  const gone = new Set(before.names.listed.map(({ skill }) => skill));
  const fresh = after.names.listed.filter(({ skill }) => !gone.delete(skill));
  // Only those that differ are compared by their files.
  const files = new Set([...gone].map(({ file }) => file));
  const changed = files.size === 0 ? 0 : fresh.filter(({ skill }) => files.has(skill.file)).length;
  return { added: fresh.length - changed, changed, removed: gone.size - changed };
}

/** Without patterns the glob package is not loaded. */
async function loadFilter(patterns: Patterns): Promise<Filter | undefined> {
  if (!hasPatterns(patterns)) return undefined;
  const { createFilter } = await import('../skills/filter.ts');
  return createFilter(patterns);
}
