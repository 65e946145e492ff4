/**
 * Who wants to hear when one resource changes.
 * Owns: which URIs are watched, for whom. Leaves alone: the wording of the notice (its reader's era), what a URI means.
 * Always true: a change is told once to each; a URI that nothing is served at is not watched.
 */
import type { Registry } from '../catalog/registry.ts';
import type { Snapshot } from '../model.ts';

/** What a URI stands for at one moment: equal states mean equal content; undefined: nothing is there. */
export type StateOf = (snapshot: Snapshot, uri: string) => Promise<unknown>;

export interface Updates {
  /** Those of the URIs that something is served at. */
  served(uris: readonly string[]): Promise<readonly string[]>;
  /** Calls `tell` on every change until the signal fires; false when nothing is served there. */
  watch(uri: string, tell: (reason: string) => void, until: AbortSignal): Promise<boolean>;
}

/** `onChange` comes before the readers are told. */
export function createUpdates(
  registry: Registry,
  stateOf: StateOf,
  onChange: (snapshot: Snapshot, uri: string) => void,
): Updates {
  const watched = new Map<string, Watched>();
  let looking = Promise.resolve();

  async function look(snapshot: Snapshot, reason: string): Promise<void> {
    for (const [uri, entry] of watched) {
      const state = await stateOf(snapshot, uri);
      if (state === entry.state) continue;
      entry.state = state;
      onChange(snapshot, uri);
      for (const tell of entry.readers) tell(`resource changed (${reason})`);
    }
  }

  registry.onRefresh(({ after, reason }) => {
    // One look after the other: two at once could tell a change twice.
    if (watched.size > 0) looking = looking.then(() => look(after, reason));
  });

  return {
    async served(uris) {
      const snapshot = await registry.ready();
      const states = await Promise.all(uris.map((uri) => stateOf(snapshot, uri)));
      return uris.filter((_uri, at) => states[at] !== undefined);
    },
    async watch(uri, tell, until) {
      const state = await stateOf(await registry.ready(), uri);
      if (state === undefined) return false;
      if (until.aborted) return true;
      const entry = watched.get(uri) ?? { state, readers: new Set() };
      // A reader of its own, so that one who asks twice can also stop one of the two.
      const reader = (reason: string) => tell(reason);
      entry.readers.add(reader);
      watched.set(uri, entry);
      until.addEventListener(
        'abort',
        () => {
          entry.readers.delete(reader);
          if (entry.readers.size === 0) watched.delete(uri);
        },
        { once: true },
      );
      return true;
    },
  };
}

// --- internal ---

interface Watched {
  state: unknown;
  readonly readers: Set<(reason: string) => void>;
}
