/**
 * Subscriptions to single resources.
 * Owns: which URIs are subscribed to, and comparing them at each refresh. Leaves alone: the wording of notifications
 * (subscriptions.ts), content (resources.ts).
 * Always true: each subscriber is told once of a change; a URI whose changes cannot be noticed is not subscribed to.
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import type { Registry } from '../catalog/registry.ts';
import type { Snapshot } from '../model.ts';
import { invalidParams, type Method, type Session } from '../protocol/index.ts';
import { MOST_SUBSCRIPTIONS } from './limits.ts';
import { nothingAt, targetAt, uriParam } from './resources.ts';

/** The state of a resource in one snapshot: equal states mean equal content; undefined: it cannot be subscribed to. */
export type StateOf = (snapshot: Snapshot, uri: string) => Promise<unknown>;

export interface ResourceUpdates {
  /** Subscribes to those of the URIs that can be subscribed to, until the signal fires. */
  subscribe(uris: readonly string[], subscriber: ResourceSubscriber, until: AbortSignal): Promise<void>;
}

export interface ResourceSubscriber {
  /** Called once, before the first update, with the URIs that are subscribed to. */
  begin(served: readonly string[]): void;
  update(uri: string, reason: string): void;
}

export function createResourceUpdates(
  registry: Registry,
  lists: FirstLists,
  stateOf: StateOf,
  onFault: (error: unknown) => void,
): ResourceUpdates {
  const entries = new Map<string, Entry>();
  let comparing = Promise.resolve();

  async function compareAll(snapshot: Snapshot, reason: string): Promise<void> {
    for (const [uri, entry] of entries) {
      const state = await stateOf(snapshot, uri);
      if (state === entry.state) continue;
      entry.state = state;
      for (const subscriber of entry.subscribers) subscriber.update(uri, `resource changed (${reason})`);
    }
  }

  registry.onRefresh(({ after, reason }) => {
    // One comparison after the other: two at once could report a change twice.
    if (entries.size > 0) comparing = comparing.then(() => compareAll(after, reason)).catch(onFault);
  });

  function unsubscribe(subscriber: ResourceSubscriber, uris: readonly string[]): void {
    for (const uri of uris) {
      const entry = entries.get(uri);
      entry?.subscribers.delete(subscriber);
      if (entry?.subscribers.size === 0) entries.delete(uri);
    }
  }

  return {
    async subscribe(uris, subscriber, until) {
      // Without URIs there is nothing to wait for, not even the first scan.
      if (uris.length === 0) return subscriber.begin([]);
      const hasAll = (now: Snapshot) => (uris.every((uri) => targetAt(now, uri)) ? now : undefined);
      const snapshot = (await lists.lookUp(hasAll)) ?? (await lists.complete());
      const states = await Promise.all(uris.map(async (uri) => [uri, await stateOf(snapshot, uri)] as const));
      if (until.aborted) return;
      const served = states.filter(([, state]) => state !== undefined);
      const servedUris = served.map(([uri]) => uri);
      subscriber.begin(servedUris);
      if (until.aborted) return;
      for (const [uri, state] of served) {
        const entry = entries.get(uri) ?? { state, subscribers: new Set() };
        entry.subscribers.add(subscriber);
        entries.set(uri, entry);
      }
      until.addEventListener('abort', () => unsubscribe(subscriber, servedUris), { once: true });
    },
  };
}

/**
 * For a resource of a source the state is the object itself: a new object means new content. Resources of upstream servers
 * are left out: their servers are not subscribed to, so a change would never be noticed.
 */
export const resourceState: StateOf = async (snapshot, uri) => {
  const target = targetAt(snapshot, uri);
  if (target?.kind === 'resource') return target.resource.server === undefined ? target.resource : undefined;
  if (target?.kind !== 'file') return undefined;
  const { listed, path } = target.place;
  // A file that cannot be read right now exists all the same.
  return listed.skill.files.version(path).catch(() => UNREADABLE);
};

/** The subscriptions of the legacy era; in the modern one they are part of `subscriptions/listen`. */
export function subscribeMethods(
  updates: ResourceUpdates,
  encodeUpdate: (uri: string, reason: string) => string,
): readonly Method[] {
  const bySession = new WeakMap<Session, Map<string, AbortController>>();
  const subscriptionsOf = (session: Session) => {
    const known = bySession.get(session) ?? new Map<string, AbortController>();
    bySession.set(session, known);
    return known;
  };
  return [
    {
      name: 'resources/subscribe',
      async run({ uri: asked }, { session }) {
        const uri = uriParam(asked);
        const subscriptions = subscriptionsOf(session);
        if (subscriptions.has(uri)) return {};
        if (subscriptions.size >= MOST_SUBSCRIPTIONS) throw invalidParams(`over ${MOST_SUBSCRIPTIONS} subscriptions`);
        // The session may have ended since the request came in; its signal does not fire again.
        if (session.ended.aborted) return {};
        const control = new AbortController();
        session.ended.addEventListener('abort', () => control.abort(), { signal: control.signal });
        subscriptions.set(uri, control);
        const subscriber: ResourceSubscriber = {
          begin(served) {
            if (served.length > 0) return;
            subscriptions.delete(uri);
            control.abort();
            throw nothingAt(uri, NO_SUBSCRIPTION);
          },
          update: (_uri, reason) => session.send(encodeUpdate(uri, reason)),
        };
        await updates.subscribe([uri], subscriber, control.signal);
        return {};
      },
    },
    {
      name: 'resources/unsubscribe',
      run({ uri: asked }, { session }) {
        const uri = uriParam(asked);
        subscriptionsOf(session).get(uri)?.abort();
        subscriptionsOf(session).delete(uri);
        return {};
      },
    },
  ];
}

// --- internal ---

const UNREADABLE = 'unreadable';
const NO_SUBSCRIPTION = 'nothing is served there that can be subscribed to (resources of upstream servers cannot)';

interface Entry {
  state: unknown;
  readonly subscribers: Set<ResourceSubscriber>;
}
