/**
 * Who wants to hear when one resource changes.
 * Owns: which URIs are watched, for whom. Leaves alone: the wording of the notice (subscriptions.ts), content (resources.ts).
 * Always true: a change is told once to each; a URI that nothing is served at is not watched.
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import type { Registry } from '../catalog/registry.ts';
import type { Snapshot } from '../model.ts';
import { invalidParams, type Method, type Session } from '../protocol/index.ts';
import { skillPathAt } from '../skills/uris.ts';
import { isServed, nothingAt, textParam } from './resources.ts';

/** Far more than anybody looks at; a list is not a way to fill our memory. */
export const MOST_SUBSCRIPTIONS = 1000;

/** What a URI stands for at one moment: equal states mean equal content; undefined: nothing is there. */
export type StateOf = (snapshot: Snapshot, uri: string) => Promise<unknown>;

export interface ResourceUpdates {
  /** Follows those of the URIs that something is served at, until the signal fires. */
  follow(uris: readonly string[], reader: Reader, until: AbortSignal): Promise<void>;
}

export interface Reader {
  /** Called once, before anything is told: the URIs that will be followed. */
  begin(served: readonly string[]): void;
  tell(uri: string, reason: string): void;
}

export function createResourceUpdates(
  registry: Registry,
  lists: FirstLists,
  stateOf: StateOf,
  onFault: (error: unknown) => void,
): ResourceUpdates {
  const watched = new Map<string, Watched>();
  let looking = Promise.resolve();

  async function look(snapshot: Snapshot, reason: string): Promise<void> {
    for (const [uri, entry] of watched) {
      const state = await stateOf(snapshot, uri);
      if (state === entry.state) continue;
      entry.state = state;
      for (const { tell } of entry.readers) tell(uri, `resource changed (${reason})`);
    }
  }

  registry.onRefresh(({ after, reason }) => {
    // One look after the other: two at once could tell a change twice.
    if (watched.size > 0) looking = looking.then(() => look(after, reason)).catch(onFault);
  });

  return {
    async follow(uris, reader, until) {
      // Whoever follows nothing need not wait for the first scan.
      if (uris.length === 0) return reader.begin([]);
      const snapshot = await lists.snapshotWith((now) => uris.every((uri) => isServed(now, uri)));
      const states = await Promise.all(uris.map(async (uri) => [uri, await stateOf(snapshot, uri)] as const));
      if (until.aborted) return;
      const served = states.filter(([, state]) => state !== undefined);
      reader.begin(served.map(([uri]) => uri));
      if (until.aborted) return;
      for (const [uri, state] of served) {
        const entry = watched.get(uri) ?? { state, readers: new Set() };
        entry.readers.add(reader);
        watched.set(uri, entry);
      }
      until.addEventListener('abort', () => forget(reader, served), { once: true });
    },
  };

  function forget(reader: Reader, followed: readonly (readonly [uri: string, state: unknown])[]): void {
    for (const [uri] of followed) {
      const entry = watched.get(uri);
      entry?.readers.delete(reader);
      if (entry?.readers.size === 0) watched.delete(uri);
    }
  }
}

/** A foreign resource is its own state: a new object means new content. */
export const resourceState: StateOf = async ({ resources, uris }, uri) => {
  const foreign = resources.get(uri);
  if (foreign) return foreign;
  const place = skillPathAt(uris, uri);
  // What cannot be looked at right now is there all the same.
  return place?.listed.skill.files.version(place.path).catch(() => UNREADABLE);
};

const UNREADABLE = 'unreadable';

/** The standing subscriptions of the legacy era; its successor is `subscriptions/listen`. */
export function subscribeMethods(
  updates: ResourceUpdates,
  notice: (uri: string, reason: string) => string,
): readonly Method[] {
  const standing = new WeakMap<Session, Map<string, AbortController>>();
  const heldBy = (session: Session) => {
    const held = standing.get(session) ?? new Map<string, AbortController>();
    standing.set(session, held);
    return held;
  };
  return [
    {
      name: 'resources/subscribe',
      async run({ uri: asked }, { session }) {
        const uri = textParam(asked);
        const held = heldBy(session);
        if (held.has(uri)) return {};
        if (held.size >= MOST_SUBSCRIPTIONS) throw invalidParams(`over ${MOST_SUBSCRIPTIONS} subscriptions`);
        const control = new AbortController();
        // A session may have ended while this request was on its way; its signal does not fire again.
        if (session.ended.aborted) return {};
        session.ended.addEventListener('abort', () => control.abort(), { signal: control.signal });
        held.set(uri, control);
        const reader: Reader = {
          begin(served) {
            if (served.length > 0) return;
            held.delete(uri);
            control.abort();
            throw nothingAt(uri);
          },
          tell: (_uri, reason) => session.send(notice(uri, reason)),
        };
        await updates.follow([uri], reader, control.signal);
        return {};
      },
    },
    {
      name: 'resources/unsubscribe',
      run({ uri: asked }, { session }) {
        const uri = textParam(asked);
        heldBy(session).get(uri)?.abort();
        heldBy(session).delete(uri);
        return {};
      },
    },
  ];
}

// --- internal ---

interface Watched {
  state: unknown;
  readonly readers: Set<Reader>;
}
