/**
 * Subscriptions to single resources.
 * Owns: which URIs are subscribed to, and comparing them at each refresh. Leaves alone: the wording of notifications
 * (subscriptions.ts), content (resources.ts).
 * Always true:
 * - each subscriber is told once of a change; a URI whose changes cannot be noticed is not subscribed to;
 * - a resource is looked at once per refresh, however many subscribers it has and however they spell its URI.
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import type { Registry } from '../catalog/registry.ts';
import { createPacer } from '../files/pace.ts';
import type { Snapshot } from '../model.ts';
import { invalidParams, type Method, type Session } from '../protocol/index.ts';
import { uriOf } from '../skills/uris.ts';
import { MOST_SUBSCRIPTIONS } from './limits.ts';
import { knownTargetAt, nothingAt, uriParam } from './resources.ts';

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
  registry: Pick<Registry, 'onRefresh' | 'ready'>,
  lists: Pick<FirstLists, 'complete'>,
  stateOf: StateOf,
  onFault: (error: unknown) => void,
): ResourceUpdates {
  const entries = new Map<string, Entry>();
  let comparing = Promise.resolve();

  async function compareAll(snapshot: Snapshot, reason: string): Promise<void> {
    for (const [key, entry] of entries) {
      const state = await stateOf(snapshot, key);
      if (state === entry.state) continue;
      entry.state = state;
      for (const [subscriber, uri] of entry.subscribers) subscriber.update(uri, `resource changed (${reason})`);
    }
  }

  registry.onRefresh(({ after, reason }) => {
    // One comparison after the other: two at once could report a change twice.
    if (entries.size > 0) comparing = comparing.then(() => compareAll(after, reason)).catch(onFault);
  });

  function unsubscribe(subscriber: ResourceSubscriber, keys: readonly string[]): void {
    for (const key of keys) {
      const entry = entries.get(key);
      entry?.subscribers.delete(subscriber);
      if (entry?.subscribers.size === 0) entries.delete(key);
    }
  }

  return {
    async subscribe(uris, subscriber, until) {
      // Without URIs there is nothing to wait for, not even the first scan.
      if (uris.length === 0) return subscriber.begin([]);
      const first = await findKeys(await registry.ready(), uris);
      const { snapshot, keys } = first.hasAll ? first : await findKeys(await lists.complete(), uris);
      const states = await Promise.all(
        [...keys].map(async ([key, uri]) => ({ key, uri, state: await stateOf(snapshot, key) })),
      );
      if (until.aborted) return;
      const served = states.filter(({ state }) => state !== undefined);
      subscriber.begin(served.map(({ uri }) => uri));
      if (until.aborted) return;
      for (const { key, uri, state } of served) {
        const entry = entries.get(key) ?? { state, subscribers: new Map() };
        entry.subscribers.set(subscriber, uri);
        entries.set(key, entry);
      }
      const unsubscribeAll = () =>
        unsubscribe(
          subscriber,
          served.map(({ key }) => key),
        );
      until.addEventListener('abort', unsubscribeAll, { once: true });
    },
  };
}

/**
 * For a resource of a source the state is the object itself: a new object means new content. Resources of upstream servers
 * are left out: their servers are not subscribed to, so a change would never be noticed.
 */
export const resourceState: StateOf = async (snapshot, uri) => {
  const target = knownTargetAt(snapshot, uri);
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
  /** Each with the URI as it spells it. */
  readonly subscribers: Map<ResourceSubscriber, string>;
}

interface Keys {
  readonly snapshot: Snapshot;
  /** The first of the URIs for each resource, by the resource's own URI: a URI may be percent-encoded in many ways. */
  readonly keys: ReadonlyMap<string, string>;
  readonly hasAll: boolean;
}

async function findKeys(snapshot: Snapshot, uris: readonly string[]): Promise<Keys> {
  const pace = createPacer();
  const keys = new Map<string, string>();
  let hasAll = true;
  for (const uri of uris) {
    await pace();
    const target = knownTargetAt(snapshot, uri);
    const key = target?.kind === 'file' ? uriOf(target.place.root, target.place.path) : uri;
    if (!target) hasAll = false;
    else if (!keys.has(key)) keys.set(key, uri);
  }
  return { snapshot, keys, hasAll };
}
