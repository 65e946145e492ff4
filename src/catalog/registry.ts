/**
 * The current snapshot, and the only assignment that replaces it.
 * Owns: when a new snapshot takes over. Leaves alone: what is in one (snapshot.ts), who asks for one (triggers.ts).
 * Always true:
 * - `current()` is complete and frozen; a caller may keep it as long as it likes;
 * - refreshes never overlap; asking during one causes exactly one more, shared by all who asked;
 * - a source that fails keeps its last contribution and adds a Problem;
 * - when no source has changed the snapshot stays, so nobody is notified of nothing.
 */
import { messageOf } from '../log.ts';
import type { Contribution, Snapshot, Source } from '../model.ts';
import type { Filter, Subject } from '../skills/filter.ts';
import type { Patterns } from '../skills/patterns.ts';
import { buildSnapshot } from './snapshot.ts';

export interface Refreshed {
  readonly reason: string;
  readonly before: Snapshot | undefined;
  readonly after: Snapshot;
  readonly milliseconds: number;
  readonly contributions: readonly Contribution[];
}

export interface Registry {
  /** The snapshot of this moment; undefined only until the first scan is done. */
  current(): Snapshot | undefined;
  /** The snapshot of this moment, or the first one. Never waits for a refresh. */
  ready(): Promise<Snapshot>;
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
  let announceFirst: (snapshot: Snapshot) => void = () => {};
  const first = new Promise<Snapshot>((resolve) => {
    announceFirst = resolve;
  });
  let current: Snapshot | undefined;
  let contributions: readonly Contribution[] = [];
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
      const known = failing.get(source);
      if (known?.what === what) return known.kept; // The same failure again is no change.
      const last = good.get(source) ?? NOTHING;
      const kept = { ...last, problems: [...last.problems, { where: source.name, what }] };
      failing.set(source, { what, kept });
      return kept;
    }
  }

  async function run(reason: string): Promise<Snapshot> {
    const start = Date.now();
    const before = current;
    const loaded = await Promise.all(sources.map(load));
    const rules = { filter: await filter, dedupe: options.dedupe };
    const changed = loaded.length !== contributions.length || loaded.some((one, at) => one !== contributions[at]);
    const after = before && !changed ? before : await buildSnapshot(loaded, rules, (before?.generation ?? 0) + 1);
    contributions = loaded;
    current = after;
    announceFirst(after);
    const milliseconds = Date.now() - start;
    for (const listener of listeners) listener({ reason, before, after, milliseconds, contributions });
    return after;
  }

  function start(reason: string): Promise<Snapshot> {
    const mine = run(reason).finally(() => {
      running = undefined;
    });
    running = mine;
    return mine;
  }

  return {
    current: () => current,
    ready: () => (current ? Promise.resolve(current) : first),
    refresh(reason) {
      if (!running) return start(reason);
      // The running one may already have passed what the asker wants to see. How it ends is for its own askers.
      const again = () => {
        next = undefined;
        return start(reason);
      };
      next ??= running.then(again, again);
      return next;
    },
    async admits(subject) {
      const kept = (await filter)?.([subject], (one) => one, []).kept;
      return kept === undefined || kept.length > 0;
    },
    onRefresh: (listener) => void listeners.push(listener),
  };
}

// --- internal ---

/** Most servers have no patterns: those do not pay for the glob library. */
async function loadFilter(patterns: Patterns): Promise<Filter | undefined> {
  if (patterns.include.length === 0 && patterns.exclude.length === 0) return undefined;
  const { createFilter } = await import('../skills/filter.ts');
  return createFilter(patterns);
}
