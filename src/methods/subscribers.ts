/**
 * The clients that are notified of changes, with the lists and resources that each has subscribed to.
 * Owns: comparing lists after each refresh, and the pace of notifications. Leaves alone: how a client subscribes
 * (subscriptions.ts), noticing changes of resources (resource-subscriptions.ts).
 * Always true: a client is notified of a list only when it would be sent another one than before.
 */
import type { Refreshed, Registry, SkillChange } from '../catalog/registry.ts';
import type { Snapshot } from '../model.ts';
import type { Cancellation, Peer } from '../protocol/index.ts';
import { monotonicMs } from '../wait.ts';
import { SHORTEST_GAP_MS } from './limits.ts';
import type { EncodedList, Feature } from './lists.ts';
import { createResourceSubscriptions, type ResourceSubscriber } from './resource-subscriptions.ts';

export type Subscriber = ReturnType<typeof createSubscriber>;

/** `send`: how a notification reaches the client. `tag`: what `_meta` of each one has besides the reason. */
export function createSubscriber(
  peer: Peer,
  features: readonly Feature[],
  send: (method: string, params: object) => void,
  tag: object = {},
) {
  return {
    peer,
    /** Those whose lists it is told of. */
    features,
    /** By URI as the client spells it. */
    resources: new Map() as ResourceSubscriber['resources'],
    /** Lists and resources of which it is still to be notified, with the reasons. */
    due: { lists: new Map<string, string>(), resources: new Map<string, string>() },
    /** Whether it may be notified yet. */
    isOpen: false,
    notify: (method: string, params: object, reason: string) =>
      send(method, { ...params, _meta: { ...tag, 'skillwire/reason': reason } }),
  };
}

export type Subscribers = ReturnType<typeof createSubscribers>;

export function createSubscribers(
  registry: Pick<Registry, 'onRefresh' | 'current'>,
  onFault: (error: unknown) => void,
) {
  /** Each with the function that removes it. */
  const all = new Map<Subscriber, () => void>();
  let comparing = Promise.resolve();
  let isScheduled = false;
  let lastSent = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  const resources = createResourceSubscriptions(schedule);

  function onRefreshed(refreshed: Refreshed): void {
    // A client that subscribes later gets the new lists anyway.
    const present = [...all.keys()];
    if (present.length === 0) return;
    // One comparison after the other: two at once could report a change twice.
    comparing = comparing.then(() => compare(present, refreshed)).catch(onFault);
  }
  registry.onRefresh(onRefreshed);

  async function compare(present: readonly Subscriber[], { before, after, change, reason }: Refreshed): Promise<void> {
    // A list that was never sent to a client cannot change for it.
    if (before?.isComplete && before !== after)
      for (const one of present) {
        await compareLists(one, before, after, reasonOf(change, reason));
        schedule(one);
      }
    // With what is there now: a client may have subscribed meanwhile to a resource that came after this refresh.
    await resources.compare(present, registry.current() ?? after, reason);
  }

  /** Changes are sent at once, or SHORTEST_GAP_MS after the last; of several of one list or resource only the last. */
  function schedule(subscriber: Subscriber): void {
    if (isScheduled || !isDue(subscriber)) return;
    isScheduled = true;
    setTimeout(flush, Math.max(0, lastSent + SHORTEST_GAP_MS - monotonicMs())).unref();
  }

  function flush(): void {
    isScheduled = false;
    lastSent = monotonicMs();
    for (const { due, notify } of [...all.keys()].filter(isDue)) {
      for (const [method, reason] of due.lists) notify(method, {}, reason);
      for (const [uri, reason] of due.resources) notify('notifications/resources/updated', { uri }, reason);
      due.lists.clear();
      due.resources.clear();
    }
  }

  return {
    /** The promise resolves when `until` fires, or when the server ends all subscriptions. */
    add(subscriber: Subscriber, until: Cancellation): Promise<void> {
      if (until.aborted || isClosed) return Promise.resolve();
      return new Promise((done) => {
        const remove = () => {
          until.removeEventListener('abort', remove);
          all.delete(subscriber);
          for (const uri of subscriber.resources.keys()) resources.unsubscribe(subscriber, uri);
          done();
        };
        all.set(subscriber, remove);
        until.addEventListener('abort', remove);
      });
    },
    remove: (subscriber: Subscriber) => all.get(subscriber)?.(),
    /** Notifies the subscribers of what a refresh has changed. */
    onRefreshed,
    subscribe: resources.subscribe,
    unsubscribe: resources.unsubscribe,
    /** Lets the subscriber be notified from now on. */
    open(subscriber: Subscriber): void {
      subscriber.isOpen = true;
      schedule(subscriber);
    },
    close(): void {
      isClosed = true;
      for (const remove of all.values()) remove();
    },
  };
}

// --- internal ---

const isDue = ({ isOpen, due }: Subscriber) => isOpen && due.lists.size + due.resources.size > 0;

async function compareLists({ peer, features, due }: Subscriber, before: Snapshot, after: Snapshot, reason: string) {
  for (const { name, lists, prepare } of features) {
    const pagesIn = async (snapshot: Snapshot) => {
      await prepare?.(snapshot);
      const made = lists(snapshot, peer);
      // Long lists take milliseconds to make and to compare.
      await nextTurn();
      return pagesOf(made);
    };
    if (!(await areSame(await pagesIn(before), await pagesIn(after))))
      due.lists.set(`notifications/${name}/list_changed`, reason);
    await nextTurn();
  }
}

const nextTurn = () => new Promise((turn) => setImmediate(turn));

function* pagesOf(lists: readonly EncodedList[]): Generator<Uint8Array, undefined> {
  for (const list of lists) yield* list.pages();
}

/** Up to the first page that differs; later ones are not even made. */
async function areSame(some: Iterator<Uint8Array>, others: Iterator<Uint8Array>): Promise<boolean> {
  for (;;) {
    const [a, b] = [some.next(), others.next()];
    if (a.done || b.done) return Boolean(a.done && b.done);
    if (Buffer.compare(a.value, b.value) !== 0) return false;
    await nextTurn();
  }
}

/** "2 added, 1 removed (watch)" */
function reasonOf({ added, changed, removed }: SkillChange, reason: string): string {
  const counts = Object.entries({ added, changed, removed }).filter(([, count]) => count > 0);
  const what = counts.map(([word, count]) => `${count} ${word}`).join(', ');
  return `${what || 'list changed'} (${reason})`;
}
