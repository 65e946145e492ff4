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
import type { Filter } from '../skills/filter.ts';
import type { Patterns } from '../skills/patterns.ts';
import { findFingerprints, NO_FINGERPRINTS, sameFingerprints } from './copies.ts';
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
  /** A snapshot of what the sources have from now on. */
  refresh(reason: string): Promise<Snapshot>;
  /** Called after every refresh, also after one that changed nothing. */
  onRefresh(listener: (refreshed: Refreshed) => void): void;
}

export interface RegistryOptions extends Patterns {
  /** Fold byte-identical copies of one name into one. */
  readonly dedupe: boolean;
  /** Whether every source has arrived: a filter that matches nothing is reported only then. */
  isComplete?(): boolean;
}

export function createRegistry(sources: readonly Source[], options: RegistryOptions): Registry {
  const filter = loadFilter(options);
  const listeners: ((refreshed: Refreshed) => void)[] = [];
  const good = new Map<Source, Contribution>();
  const failing = new Map<Source, { readonly what: string; readonly kept: Contribution }>();
  let setFirst: (snapshot: Snapshot) => void = () => {};
  const first = new Promise<Snapshot>((resolve) => {
    setFirst = resolve;
  });
  let current: Snapshot | undefined;
  let wasComplete = false;
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
      const last = good.get(source) ?? {};
      const kept = { ...last, problems: [...(last.problems ?? []), { where: source.name, what }] };
      failing.set(source, { what, kept });
      return kept;
    }
  }

  async function run(reason: string): Promise<Snapshot> {
    const start = Date.now();
    const before = current;
    // Asked before the sources are: a source that arrives meanwhile may have been asked already.
    const complete = options.isComplete?.() ?? true;
    const loaded = await Promise.all(sources.map(load));
    const fingerprints = options.dedupe
      ? await findFingerprints(loaded.flatMap(({ skills = [] }) => skills))
      : NO_FINGERPRINTS;
    const rules = { filter: await filter, fingerprints, complete };
    const isSame =
      (complete === wasComplete || rules.filter === undefined) &&
      sameFingerprints(fingerprints, known) &&
      loaded.length === contributions.length &&
      loaded.every((one, at) => one === contributions[at]);
    const after = before && isSame ? before : await buildSnapshot(loaded, rules, (before?.generation ?? 0) + 1);
    contributions = loaded;
    known = fingerprints;
    wasComplete = complete;
    current = after;
    setFirst(after);
    const milliseconds = Date.now() - start;
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
    // The running one may already have passed what the asker wants to see. How it ends is for its own askers.
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

const NO_CHANGE: SkillChange = { added: 0, changed: 0, removed: 0 };

function compareSkills(before: Snapshot | undefined, after: Snapshot): SkillChange {
  const old = new Map((before?.names.listed ?? []).map(({ skill }) => [skill.file, skill]));
  const now = after.names.listed.map(({ skill }) => skill);
  const added = now.filter(({ file }) => !old.has(file)).length;
  const changed = now.filter((skill) => old.has(skill.file) && old.get(skill.file) !== skill).length;
  return { added, changed, removed: old.size + added - now.length };
}

/** Most servers have no patterns: those do not pay for the glob library. */
async function loadFilter(patterns: Patterns): Promise<Filter | undefined> {
  if (patterns.include.length === 0 && patterns.exclude.length === 0) return undefined;
  const { createFilter } = await import('../skills/filter.ts');
  return createFilter(patterns);
}
