/**
 * The current snapshot, and the only assignment that replaces it.
 * Owns: when a new snapshot takes over. Leaves alone: its contents (snapshot.ts), when to refresh (triggers.ts).
 * Always true:
 * - `current()` is complete and frozen; a caller may keep it as long as it likes;
 * - refreshes never overlap; asking during one causes exactly one more, shared by all callers;
 * - a source that fails keeps its last contribution and adds a Problem;
 * - when no source has changed the snapshot stays the same object, so no notification is sent.
 */
import { type Clock, systemClock } from '../clock.ts';
import { sameItems } from '../compare.ts';
import { messageOf } from '../log.ts';
import type { Contribution, Snapshot, Source } from '../model.ts';
import type { Filter } from '../skills/filter.ts';
import type { Patterns } from '../skills/patterns.ts';
import { type Fingerprints, findFingerprints, NO_FINGERPRINTS, sameFingerprints } from './copies.ts';
import { buildSnapshot } from './snapshot.ts';

export interface Refreshed {
  readonly reason: string;
  readonly before: Snapshot | undefined;
  readonly after: Snapshot;
  readonly change: SkillChange;
  readonly milliseconds: number;
}

/** How many skills differ between two snapshots, by their files. */
export interface SkillChange {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export interface Registry {
  /** The current snapshot; undefined until the first scan is done. */
  current(): Snapshot | undefined;
  /** The current snapshot, or the first one. Never waits for a refresh. */
  ready(): Promise<Snapshot>;
  /** A snapshot of what the sources have now or later. */
  refresh(reason: string): Promise<Snapshot>;
  /** The listener is called after every refresh, also when nothing has changed. */
  onRefresh(listener: (refreshed: Refreshed) => void): void;
}

export interface RegistryOptions extends Patterns {
  /** Fold byte-identical copies of one name into one. */
  readonly dedupe: boolean;
  /** Whether every source has arrived: a filter that matches nothing is reported only then. */
  isComplete?(): boolean;
  readonly clock?: Clock;
}

export function createRegistry(sources: readonly Source[], options: RegistryOptions): Registry {
  const { clock = systemClock } = options;
  const filter = loadFilter(options);
  const load = createLoader();
  const listeners: ((refreshed: Refreshed) => void)[] = [];
  let setFirst: (snapshot: Snapshot) => void = () => {};
  const first = new Promise<Snapshot>((resolve) => {
    setFirst = resolve;
  });
  let current: Snapshot | undefined;
  let last: Input = { contributions: [], fingerprints: NO_FINGERPRINTS, complete: false };
  let running: Promise<Snapshot> | undefined;
  let next: Promise<Snapshot> | undefined;

  async function run(reason: string): Promise<Snapshot> {
    const start = clock.now();
    const before = current;
    // Read before the sources are loaded: a source that arrives meanwhile may have been loaded already.
    const complete = options.isComplete?.() ?? true;
    const contributions = await Promise.all(sources.map(load));
    const fingerprints = options.dedupe
      ? await findFingerprints(contributions.flatMap(({ skills = [] }) => skills))
      : NO_FINGERPRINTS;
    const input = { contributions, fingerprints, complete };
    const rules = { filter: await filter, fingerprints, complete };
    const isSame = sameInput(input, last, rules.filter !== undefined);
    const after = before && isSame ? before : await buildSnapshot(contributions, rules, (before?.generation ?? 0) + 1);
    last = input;
    current = after;
    setFirst(after);
    const milliseconds = clock.now() - start;
    const change = before === after ? NO_CHANGE : compareSkills(before, after);
    for (const listener of listeners) listener({ reason, before, after, change, milliseconds });
    return after;
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
    // The running refresh may have passed the caller's change already. Its failure is reported to its own callers.
    const again = () => {
      next = undefined;
      return start(reason);
    };
    next ??= running.then(again, again);
    return next;
  }

  return {
    current: () => current,
    ready: () => (current ? Promise.resolve(current) : first),
    refresh,
    onRefresh: (listener) => void listeners.push(listener),
  };
}

// --- internal ---

/** Everything a snapshot is made from, besides the options. */
interface Input {
  readonly contributions: readonly Contribution[];
  readonly fingerprints: Fingerprints;
  readonly complete: boolean;
}

/** `complete` matters only for the Problems of filters. */
function sameInput(a: Input, b: Input, isFiltered: boolean): boolean {
  return (
    (a.complete === b.complete || !isFiltered) &&
    sameFingerprints(a.fingerprints, b.fingerprints) &&
    sameItems(a.contributions, b.contributions)
  );
}

/** Loads a source; one that fails gives its last contribution and a Problem, the same object while it fails alike. */
function createLoader(): (source: Source) => Promise<Contribution> {
  interface Loaded {
    readonly good: Contribution;
    readonly given: Contribution;
    readonly failure: string | undefined;
  }
  const loaded = new Map<Source, Loaded>();
  return async (source) => {
    try {
      const good = await source.load();
      loaded.set(source, { good, given: good, failure: undefined });
      return good;
    } catch (error) {
      const failure = `could not be refreshed: ${messageOf(error)}`;
      const last = loaded.get(source);
      if (last?.failure === failure) return last.given;
      const good = last?.good ?? {};
      const given = { ...good, problems: [...(good.problems ?? []), { where: source.name, what: failure }] };
      loaded.set(source, { good, given, failure });
      return given;
    }
  };
}

const NO_CHANGE: SkillChange = { added: 0, changed: 0, removed: 0 };

function compareSkills(before: Snapshot | undefined, after: Snapshot): SkillChange {
  const old = new Map((before?.names.listed ?? []).map(({ skill }) => [skill.file, skill]));
  const now = after.names.listed.map(({ skill }) => skill);
  const added = now.filter(({ file }) => !old.has(file)).length;
  const changed = now.filter((skill) => old.has(skill.file) && old.get(skill.file) !== skill).length;
  return { added, changed, removed: old.size + added - now.length };
}

/** Without patterns the glob package is not loaded. */
async function loadFilter(patterns: Patterns): Promise<Filter | undefined> {
  if (patterns.include.length === 0 && patterns.exclude.length === 0) return undefined;
  const { createFilter } = await import('../skills/filter.ts');
  return createFilter(patterns);
}
