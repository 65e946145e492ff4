/**
 * When the first lists are complete: every source has arrived, or a second has passed. Many clients ask for a list once
 * and never again, so the first answer must not lack the servers that need a moment to start.
 * Owns: that wait; no other file knows that a source may be late. Leaves alone: how a source connects (hub/).
 * Always true:
 * - only lists wait, and names that the current snapshot does not know; a call of something known never waits;
 * - a snapshot that was replaced before the lists were complete was listed to no client.
 */
import type { Owner, Snapshot, Source } from '../model.ts';
import type { Registry } from './registry.ts';

export interface FirstLists {
  isComplete(): boolean;
  /** Whether a client may have been listed this snapshot. */
  wasListed(snapshot: Snapshot): boolean;
  /** For lists: the current snapshot, once the lists are complete. */
  complete(): Promise<Snapshot>;
  /** For what is asked for by URI: the current snapshot when it has it, else the complete one. */
  snapshotWith(has: (snapshot: Snapshot) => boolean): Promise<Snapshot>;
  /** For a tool or skill that the current snapshot lacks: the snapshot to look in again, when a server may have it. */
  lookAgain(name: string): Promise<Late | undefined>;
}

export interface Late {
  readonly snapshot: Snapshot;
  /** The state of the server, when it is not connected. */
  readonly offline: string | undefined;
}

/** Most servers start within this. A client waits for the first answer, so it is short. */
export const FIRST_LISTS_MS = 1000;

/** `registry`: asked for late, because the registry itself wants to know whether the lists are complete. */
export function createFirstLists(sources: readonly Source[], registry: () => Registry): FirstLists {
  const late = sources.filter((source) => source.arrived !== undefined);
  let isComplete = late.length === 0;
  let firstListed = isComplete ? 0 : Number.POSITIVE_INFINITY;
  let waiting: Promise<Snapshot> | undefined;

  async function wait(): Promise<Snapshot> {
    // The first load tells a source what it has to connect to.
    await registry().ready();
    await Promise.race([Promise.allSettled(late.map((source) => source.arrived?.())), timeout(FIRST_LISTS_MS)]);
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
    async snapshotWith(has) {
      const now = await registry().ready();
      return has(now) ? now : complete();
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

// --- internal ---

function timeout(milliseconds: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, milliseconds).unref());
}
