/**
 * When the first lists are complete: every source has arrived, or a second has passed. Many clients ask for a list only
 * once, so the first response must contain the servers that need a moment to start.
 * Owns: that wait; no other file knows that a source may be late. Leaves alone: how a source connects (hub/).
 * Always true:
 * - only lists wait, and names that the current snapshot does not have; a call of a known tool or skill never waits;
 * - no client was listed a snapshot that was replaced before the lists were complete.
 */
import { type Clock, systemClock } from '../clock.ts';
import type { Owner, Snapshot, Source } from '../model.ts';
import { FIRST_LISTS_MS } from './limits.ts';
import type { Registry } from './registry.ts';

export interface FirstLists {
  isComplete(): boolean;
  /** Whether a client may have been listed this snapshot. */
  wasListed(snapshot: Snapshot): boolean;
  /** For lists: the current snapshot, once the lists are complete. */
  complete(): Promise<Snapshot>;
  /** Looks something up in the current snapshot and, when it is not there, again once the lists are complete. */
  lookUp<T>(look: (snapshot: Snapshot) => T | undefined): Promise<T | undefined>;
  /** For a tool or skill that the current snapshot lacks: a later snapshot, when a server may have it. */
  lookAgain(name: string): Promise<Late | undefined>;
}

export interface Late {
  readonly snapshot: Snapshot;
  /** The state of the server, when it is not connected. */
  readonly offline: string | undefined;
}

/** `registry`: a function, because the registry in turn needs `isComplete`. */
export function createFirstLists(
  sources: readonly Source[],
  registry: () => Registry,
  clock: Clock = systemClock,
): FirstLists {
  const late = sources.filter((source) => source.arrived !== undefined);
  let isComplete = late.length === 0;
  let firstListed = isComplete ? 0 : Number.POSITIVE_INFINITY;
  let waiting: Promise<Snapshot> | undefined;

  async function wait(): Promise<Snapshot> {
    // With its first load a source learns which servers to connect to.
    await registry().ready();
    const timeout = new Promise<void>((done) => void clock.timer(FIRST_LISTS_MS, done));
    await Promise.race([Promise.allSettled(late.map((source) => source.arrived?.())), timeout]);
    isComplete = true;
    const snapshot = await registry().refresh('arrival');
    firstListed = snapshot.generation;
    return snapshot;
  }

  function ownerOf(name: string): Owner | undefined {
    for (const source of sources) {
      const owner = source.explain?.(name);
      if (owner) return owner;
    }
    return undefined;
  }

  async function complete(): Promise<Snapshot> {
    if (firstListed === Number.POSITIVE_INFINITY) {
      waiting ??= wait();
      await waiting;
    }
    return registry().ready();
  }

  return {
    isComplete: () => isComplete,
    wasListed: ({ generation }) => generation >= firstListed,
    complete,
    async lookUp(look) {
      const now = await registry().ready();
      return look(now) ?? (now.generation >= firstListed ? undefined : look(await complete()));
    },
    async lookAgain(name) {
      if (!ownerOf(name)) return undefined;
      await complete();
      const owner = ownerOf(name);
      // A server that has just become ready is in the next snapshot.
      const snapshot = await (owner?.isReady ? registry().refresh('call') : registry().ready());
      return { snapshot, offline: owner?.isReady ? undefined : owner?.state };
    },
  };
}
