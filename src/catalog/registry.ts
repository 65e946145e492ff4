/**
 * The current snapshot, and the only assignment that replaces it.
 * Owns: when a new snapshot takes over. Leaves alone: what is in one (snapshot.ts), who asks for one (triggers.ts).
 * Always true:
 * - `current()` is complete and frozen; a caller may keep it as long as it likes;
 * - refreshes never overlap; asking during one causes exactly one more, shared by all who asked;
 * - a source that fails keeps its last contribution and adds a Problem;
 * - nothing is listed before the sources that are late at the start have come, or had their moment;
 * - when no source has changed the snapshot stays, so nobody is notified of nothing.
 */
import { messageOf } from '../log.ts';
import type { Contribution, Snapshot, Source } from '../model.ts';
import type { Filter, Subject } from '../skills/filter.ts';
import type { Patterns } from '../skills/patterns.ts';
import { findFingerprints, NO_FINGERPRINTS, sameFingerprints } from './copies.ts';
import { buildSnapshot } from './snapshot.ts';

export interface Refreshed {
  readonly reason: string;
  readonly before: Snapshot | undefined;
  readonly after: Snapshot;
  /** What lists were answered from until now; undefined while they were waiting. */
  readonly listed: Snapshot | undefined;
  readonly milliseconds: number;
  readonly contributions: readonly Contribution[];
}

export interface Registry {
  /** The snapshot of this moment; undefined only until the first scan is done. */
  current(): Snapshot | undefined;
  /** The snapshot of this moment, or the first one. Never waits for a refresh. */
  ready(): Promise<Snapshot>;
  /** For lists, as many clients ask for one only once: the snapshot of this moment, or the first with what was late. */
  whole(): Promise<Snapshot>;
  /** For what is asked for by name: the snapshot of this moment, unless it fails the test and more is on its way. */
  having(test: (snapshot: Snapshot) => boolean): Promise<Snapshot>;
  /** A snapshot of what the sources have to say from now on. */
  refresh(reason: string): Promise<Snapshot>;
  /** Whether the filters would let this be served. */
  admits(subject: Subject): Promise<boolean>;
  /** Called after every refresh, also one that changed nothing. */
  onRefresh(listener: (refreshed: Refreshed) => void): void;
}

export interface RegistryOptions extends Patterns {
  /** Fold byte-identical copies of one name into one. */
  readonly dedupe: boolean;
}

/** What a source contributes that has nothing. */
export const NOTHING: Contribution = {
  skills: [],
  tools: [],
  resources: [],
  problems: [],
  watched: [],
  unsettled: false,
};

export function createRegistry(sources: readonly Source[], options: RegistryOptions): Registry {
  const filter = loadFilter(options);
  const listeners: ((refreshed: Refreshed) => void)[] = [];
  const good = new Map<Source, Contribution>();
  const failing = new Map<Source, { readonly what: string; readonly kept: Contribution }>();
  const first = createAnnouncement<Snapshot>();
  const firstWhole = createAnnouncement<Snapshot>();
  let current: Snapshot | undefined;
  let everybodyCame = false;
  let isWhole = false;
  let contributions: readonly Contribution[] = [];
  let known = NO_FINGERPRINTS;
  let running: Promise<Snapshot> | undefined;
  let next: Promise<Snapshot> | undefined;

  async function load(source: Source): Promise<Contribution> {
    try {
      const contribution = await source.load();
      good.set(source, contribution);
      failing.delete(source);
      return contribution;
    } catch (error) {
      const what = `could not be refreshed: ${messageOf(error)}`;
      const failed = failing.get(source);
      if (failed?.what === what) return failed.kept; // The same failure again is no change.
      const last = good.get(source) ?? NOTHING;
      const kept = { ...last, problems: [...last.problems, { where: source.name, what }] };
      failing.set(source, { what, kept });
      return kept;
    }
  }

  async function run(reason: string): Promise<Snapshot> {
    const start = Date.now();
    const before = current;
    // At the beginning: one that came in the middle may have been missed.
    const awaitsNobody = everybodyCame;
    const loaded = await Promise.all(sources.map(load));
    const late = before ? [] : loaded.flatMap(({ awaited }) => awaited ?? []);
    const complete = isWhole || awaitsNobody || (!before && late.length === 0);
    const skills = loaded.flatMap((contribution) => contribution.skills);
    const fingerprints = options.dedupe ? await findFingerprints(skills) : NO_FINGERPRINTS;
    const rules = { filter: await filter, fingerprints, complete };
    // What a filter has against the first complete lists is not known before.
    const judged = complete === isWhole || rules.filter === undefined;
    const changed =
      !judged ||
      !sameFingerprints(fingerprints, known) ||
      loaded.length !== contributions.length ||
      loaded.some((one, at) => one !== contributions[at]);
    const after = before && !changed ? before : await buildSnapshot(loaded, rules, (before?.generation ?? 0) + 1);
    const listed = isWhole ? before : undefined;
    contributions = loaded;
    known = fingerprints;
    current = after;
    first.make(after);
    isWhole = complete;
    if (isWhole) firstWhole.make(after);
    if (late.length > 0)
      void Promise.allSettled(late)
        .then(arrive)
        .catch(() => {}); // Told to whoever asks next.
    const milliseconds = Date.now() - start;
    for (const listener of listeners) listener({ reason, before, after, listed, milliseconds, contributions });
    return after;
  }

  function arrive(): Promise<Snapshot> {
    everybodyCame = true;
    return refresh('arrival');
  }

  function start(reason: string): Promise<Snapshot> {
    const mine = run(reason).finally(() => {
      running = undefined;
    });
    running = mine;
    return mine;
  }

  function refresh(reason: string): Promise<Snapshot> {
    if (!running) return start(reason);
    // The running one may already have passed what the asker wants to see. How it ends is for its own askers.
    const again = () => {
      next = undefined;
      return start(reason);
    };
    next ??= running.then(again, again);
    return next;
  }

  const ready = () => (current ? Promise.resolve(current) : first.made);
  const whole = () => (isWhole ? ready() : firstWhole.made);

  return {
    current: () => current,
    ready,
    whole,
    async having(test) {
      const now = isWhole ? undefined : await ready();
      return now && test(now) ? now : whole();
    },
    refresh,
    async admits(subject) {
      const kept = (await filter)?.([subject], (one) => one, []).kept;
      return kept === undefined || kept.length > 0;
    },
    onRefresh: (listener) => void listeners.push(listener),
  };
}

// --- internal ---

interface Announcement<T> {
  readonly made: Promise<T>;
  /** Only the first time counts. */
  make(value: T): void;
}

function createAnnouncement<T>(): Announcement<T> {
  let make: (value: T) => void = () => {};
  const made = new Promise<T>((resolve) => {
    make = resolve;
  });
  return { made, make };
}

/** Most servers have no patterns: those do not pay for the glob library. */
async function loadFilter(patterns: Patterns): Promise<Filter | undefined> {
  if (patterns.include.length === 0 && patterns.exclude.length === 0) return undefined;
  const { createFilter } = await import('../skills/filter.ts');
  return createFilter(patterns);
}
