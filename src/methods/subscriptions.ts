/**
 * Who is told of what. A legacy handshake is a standing subscription; `subscriptions/listen` is another.
 * Owns: the subscribers and the wording of notices. Leaves alone: when something changed (catalog/registry.ts).
 * Always true: a notice is sent only when what its reader would be listed has changed, and never before the handshake.
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import type { Registry, SkillChange } from '../catalog/registry.ts';
import type { Snapshot } from '../model.ts';
import {
  encodeNotification,
  invalidParams,
  isObject,
  META,
  type Method,
  type NotificationHandler,
  type Params,
  type Peer,
  type Session,
} from '../protocol/index.ts';
import { MOST_SUBSCRIPTIONS, type Reader, type ResourceUpdates } from './resource-updates.ts';
import { LONGEST_URI } from './resources.ts';

/** One kind of change: how a subscription asks for it, how it is announced, and what it is a change of. */
export interface ListTopic {
  /** The key in a subscription's `notifications`. */
  readonly key: string;
  readonly method: string;
  digest(snapshot: Snapshot, peer: Peer): string;
}

export interface Subscriptions {
  readonly methods: readonly Method[];
  readonly notifications: readonly NotificationHandler[];
  /** Ends every open subscription with its final answer. */
  close(): void;
}

export function createSubscriptions(
  registry: Registry,
  lists: FirstLists,
  topics: readonly ListTopic[],
  updates: ResourceUpdates,
  onFault: (error: unknown) => void,
): Subscriptions {
  const subscribers = new Set<Subscriber>();
  const due = new Map<Subscriber, Map<string, string>>();
  let telling = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let lastSent = Number.NEGATIVE_INFINITY;
  let closed = false;

  registry.onRefresh(({ before, after, change, reason }) => {
    // A list that was never sent to a client cannot change for it.
    if (!before || before === after || !lists.wasListed(before)) return;
    // A client that subscribes later is listed the new state anyway.
    const readers = [...subscribers];
    telling = telling.then(() => tell(readers, before, after, reasonOf(change, reason))).catch(onFault);
  });

  async function tell(readers: readonly Subscriber[], before: Snapshot, after: Snapshot, why: string): Promise<void> {
    for (const reader of readers) {
      for (const { method, digest } of reader.topics) {
        const changed = digest(before, reader.peer) !== digest(after, reader.peer);
        if (changed && subscribers.has(reader)) announce(reader, method, why);
        // Long lists take milliseconds to compare.
        await new Promise((turn) => setImmediate(turn));
      }
    }
  }

  /** At once, or once the last notices are long enough ago; the same one is then sent once. */
  function announce(reader: Subscriber, method: string, reason: string): void {
    const methods = due.get(reader) ?? new Map<string, string>();
    due.set(reader, methods.set(method, reason));
    timer ??= setTimeout(flush, Math.max(0, lastSent + SHORTEST_GAP_MS - performance.now())).unref();
  }

  function flush(): void {
    timer = undefined;
    lastSent = performance.now();
    for (const [reader, methods] of due)
      for (const [method, reason] of methods) if (subscribers.has(reader)) reader.send(method, reason);
    due.clear();
  }

  function subscribe(subscriber: Subscriber, until: AbortSignal): void {
    if (until.aborted || closed) return;
    subscribers.add(subscriber);
    until.addEventListener('abort', () => subscribers.delete(subscriber), { once: true });
  }

  const listen: Method = {
    name: 'subscriptions/listen',
    streams: true,
    async run({ notifications }, { id, peer, signal, notify }) {
      if (!isObject(notifications)) throw invalidParams('notifications must be an object');
      const wanted = topics.filter(({ key }) => notifications[key] === true);
      const tag = { [META.subscription]: id };
      const over = new AbortController();
      const reader: Reader = {
        begin: (uris) =>
          notify('notifications/subscriptions/acknowledged', {
            _meta: tag,
            notifications: {
              ...Object.fromEntries(wanted.map(({ key }) => [key, true])),
              ...(uris.length > 0 ? { [RESOURCES]: uris } : {}),
            },
          }),
        tell: (uri, reason) => notify(UPDATED, { uri, _meta: { ...tag, [REASON]: reason } }),
      };
      const cancelled = new Promise<void>((end) => {
        signal.addEventListener('abort', () => end(), { once: true });
        if (signal.aborted) end();
      });
      // Files may take a while to be looked at; whoever has cancelled meanwhile may use the id again at once.
      await Promise.race([updates.follow(urisIn(notifications), reader, over.signal), cancelled]);
      await new Promise<void>((end) => {
        const send = (method: string, reason: string) => notify(method, { _meta: { ...tag, [REASON]: reason } });
        subscribe({ topics: wanted, peer, send, end }, signal);
        signal.addEventListener('abort', () => end(), { once: true });
        // Either may have come while the resources were looked at.
        if (closed || signal.aborted) end();
      });
      over.abort();
      return { _meta: tag };
    },
  };

  const initialized: NotificationHandler = {
    name: 'notifications/initialized',
    run(_params: Params, session: Session) {
      // Said twice, or without a handshake before it, it changes nothing.
      if (!session.handshake || standing.has(session)) return;
      standing.add(session);
      const send = (method: string, reason: string) =>
        session.send(encodeNotification(method, { _meta: { [REASON]: reason } }));
      subscribe({ topics, peer: session.handshake, send, end: () => {} }, session.ended);
    },
  };
  const standing = new WeakSet<Session>();

  return {
    methods: [listen],
    notifications: [initialized],
    close() {
      closed = true;
      clearTimeout(timer);
      for (const { end } of subscribers) end();
      subscribers.clear();
    },
  };
}

/** The legacy notice that one resource has changed. */
export function updatedNotice(uri: string, reason: string): string {
  return encodeNotification(UPDATED, { uri, _meta: { [REASON]: reason } });
}

// --- internal ---

// The one key of a subscription that holds a list: the resources whose content is of interest.
const RESOURCES = 'resourceSubscriptions';
const UPDATED = 'notifications/resources/updated';

function urisIn(notifications: Params): readonly string[] {
  const { [RESOURCES]: uris = [] } = notifications;
  const isList =
    Array.isArray(uris) &&
    uris.length <= MOST_SUBSCRIPTIONS &&
    uris.every((uri) => typeof uri === 'string' && uri.length <= LONGEST_URI);
  if (!isList)
    throw invalidParams(
      `${RESOURCES} must be a list of at most ${MOST_SUBSCRIPTIONS} URIs of at most ${LONGEST_URI} characters`,
    );
  return [...new Set<string>(uris)];
}

/** Between two notices that a list has changed. Many clients ask for the whole list at each. */
export const SHORTEST_GAP_MS = 500;

const REASON = 'skillwire/reason';

interface Subscriber {
  readonly topics: readonly ListTopic[];
  readonly peer: Peer;
  readonly send: (method: string, reason: string) => void;
  readonly end: () => void;
}

/** "2 skills added, 1 removed (watch)" */
function reasonOf({ added, changed, removed }: SkillChange, reason: string): string {
  const parts = [
    ...(added > 0 ? [`${added} added`] : []),
    ...(changed > 0 ? [`${changed} changed`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
  ];
  return `${parts.length > 0 ? parts.join(', ') : 'list changed'} (${reason})`;
}
