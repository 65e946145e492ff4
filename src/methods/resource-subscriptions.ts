/**
 * Which resources clients have subscribed to, and noticing that one has changed: by looking at it after each refresh, or
 * because its server announces it.
 * Leaves alone: how a client subscribes (subscriptions.ts), when it is notified (subscribers.ts).
 * Always true: a resource is looked at once per refresh, however many subscribers it has and however they spell its URI;
 * a server is followed only while a client is subscribed to its resource.
 */
import { createPacer } from '../files/pace.ts';
import type { Snapshot } from '../model.ts';
import { type Subscribable, subscribableAt } from './resources.ts';

/** The resources of one client. */
export interface ResourceSubscriber {
  /** By URI as the client spells it. */
  readonly resources: Map<string, Subscription>;
  /** Of which it is still to be notified, with the reasons. */
  readonly due: { readonly resources: Map<string, string> };
  readonly isOpen: boolean;
}

interface Subscription {
  /** What the client knows of the resource, or a promise of it. */
  state: unknown;
  /** Ends following its server. */
  end: AbortController;
}

/** `isDue` is called when a client is to be notified. */
export function createResourceSubscriptions<S extends ResourceSubscriber>(isDue: (subscriber: S) => void) {
  function tell(subscriber: S, uri: string, reason: string): void {
    subscriber.due.resources.set(uri, reason);
    isDue(subscriber);
  }

  /** Rejects when the resource has a server that does not announce changes. */
  async function follow(subscriber: S, uri: string, found: Subscribable | undefined): Promise<void> {
    const subscription = subscriber.resources.get(uri);
    if (!subscription) return;
    subscription.end.abort();
    subscription.end = new AbortController();
    await found?.follow?.(() => tell(subscriber, uri, ANNOUNCED), subscription.end.signal);
  }

  return {
    /**
     * Subscribes to what is found at the URI; gives whether it is there. Rejects with a reason for people when its server
     * refuses. The client may unsubscribe before that.
     */
    async subscribe(subscriber: S, uri: string, finding: Promise<Subscribable | undefined>): Promise<boolean> {
      // A failed refresh is reported elsewhere.
      const state = finding.then((found) => found?.state()).catch(() => undefined);
      subscriber.resources.set(uri, { state, end: new AbortController() });
      const isThere = (await state) !== undefined;
      if (isThere) await follow(subscriber, uri, await finding);
      return isThere;
    },
    unsubscribe({ resources, due }: S, uri: string): void {
      resources.get(uri)?.end.abort();
      resources.delete(uri);
      due.resources.delete(uri);
    },
    async compare(present: readonly S[], after: Snapshot, reason: string): Promise<void> {
      const pace = createPacer();
      const observed = new Map<string, Observed>();
      for (const subscriber of present)
        for (const [uri, subscription] of subscriber.isOpen ? subscriber.resources : []) {
          await pace();
          const { found, state } = observe(after, uri, observed);
          const [old, now] = [await subscription.state, await state];
          if (old === now || subscriber.resources.get(uri) !== subscription) continue;
          subscription.state = now;
          // When another server has it now, and refuses, the client is still told that the resource comes and goes.
          follow(subscriber, uri, found).catch(() => {});
          tell(subscriber, uri, `resource changed (${reason})`);
        }
    },
  };
}

// --- internal ---

const ANNOUNCED = 'resource changed (announced by its server)';

/** What there is at a URI after a refresh, and its state. */
interface Observed {
  readonly found: Subscribable | undefined;
  readonly state: Promise<unknown> | undefined;
}

/** `known`: those of this refresh, by the resources' own URIs. */
function observe(after: Snapshot, uri: string, known: Map<string, Observed>): Observed {
  const found = subscribableAt(after, uri);
  const key = found?.uri ?? uri;
  const one = known.get(key) ?? { found, state: found?.state() };
  known.set(key, one);
  return one;
}
