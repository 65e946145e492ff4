/**
 * Notifications of changed lists. A legacy handshake subscribes to all lists; `subscriptions/listen` to those it names.
 * Owns: the subscribers, the wording and the pace of notifications. Leaves alone: when a snapshot is replaced
 * (catalog/registry.ts), single resources (resource-updates.ts).
 * Always true: a client is notified only when the list that it would be sent has changed, and never before its handshake.
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
import { LONGEST_URI, MOST_SUBSCRIPTIONS, SHORTEST_GAP_MS } from './limits.ts';
import type { ResourceSubscriber, ResourceUpdates } from './resource-updates.ts';

export interface ListTopic {
  /** The key in the `notifications` of a subscription. */
  readonly key: string;
  /** The notification. */
  readonly method: string;
  /** Whether this client would be sent another list. */
  differs(before: Snapshot, after: Snapshot, peer: Peer): boolean;
}

export interface Subscriptions {
  readonly methods: readonly Method[];
  readonly notifications: readonly NotificationHandler[];
  /** Ends every open subscription with its result. */
  close(): void;
}

export function createSubscriptions(
  registry: Pick<Registry, 'onRefresh'>,
  lists: Pick<FirstLists, 'wasListed'>,
  topics: readonly ListTopic[],
  updates: ResourceUpdates,
  onFault: (error: unknown) => void,
): Subscriptions {
  const subscribers = new Set<Subscriber>();
  const sessions = new WeakSet<Session>();
  const sender = createSender(subscribers);
  let comparing = Promise.resolve();
  let closed = false;

  registry.onRefresh(({ before, after, change, reason }) => {
    // A list that was never sent to a client cannot change for it.
    if (!before || before === after || !lists.wasListed(before)) return;
    // A client that subscribes later gets the new lists anyway.
    const present = [...subscribers];
    comparing = comparing.then(() => compareFor(present, before, after, reasonOf(change, reason))).catch(onFault);
  });

  async function compareFor(present: readonly Subscriber[], before: Snapshot, after: Snapshot, reason: string) {
    for (const subscriber of present) {
      for (const { method, differs } of subscriber.topics) {
        if (differs(before, after, subscriber.peer)) sender.announce(subscriber, method, reason);
        // Long lists take milliseconds to compare.
        await new Promise((turn) => setImmediate(turn));
      }
    }
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
      const uris = urisIn(notifications);
      const wanted = topics.filter(({ key }) => notifications[key] === true);
      const tag = { [META.subscription]: id };
      const over = new AbortController();
      const cancelled = new Promise<void>((end) => {
        const cancel = () => {
          over.abort();
          end();
        };
        signal.addEventListener('abort', cancel, { once: true });
        if (signal.aborted) cancel();
      });
      let isAcknowledged = false;
      /** List changes before the acknowledgement, which must be the first message. */
      const early = new Map<string, string>();
      const send = (method: string, reason: string): void => {
        if (isAcknowledged) notify(method, { _meta: { ...tag, [REASON]: reason } });
        else early.set(method, reason);
      };
      const resources: ResourceSubscriber = {
        begin(served) {
          const accepted: Record<string, unknown> = Object.fromEntries(wanted.map(({ key }) => [key, true]));
          if (served.length > 0) accepted[RESOURCES] = served;
          notify('notifications/subscriptions/acknowledged', { _meta: tag, notifications: accepted });
          isAcknowledged = true;
          for (const [method, reason] of early) send(method, reason);
        },
        update: (uri, reason) => notify(UPDATED, { uri, _meta: { ...tag, [REASON]: reason } }),
      };
      try {
        // At once: a list that the client requests right after this may change while the files are read.
        const ended = new Promise<void>((end) => {
          subscribe({ topics: wanted, peer, send, end }, over.signal);
          if (closed) end();
        });
        // Reading the files may take a while; a client that cancels meanwhile may use the id again at once.
        await Promise.race([updates.subscribe(uris, resources, over.signal), cancelled]);
        await Promise.race([ended, cancelled]);
      } finally {
        over.abort();
      }
      return { _meta: tag };
    },
  };

  const initialized: NotificationHandler = {
    name: 'notifications/initialized',
    run(_params, session) {
      // Without a handshake before it, or when it comes again, it has no effect.
      if (!session.handshake || sessions.has(session)) return;
      sessions.add(session);
      const send = (method: string, reason: string) =>
        session.send(encodeNotification(method, { _meta: { [REASON]: reason } }));
      subscribe({ topics, peer: session.handshake, send, end: () => {} }, session.ended);
    },
  };

  return {
    methods: [listen],
    notifications: [initialized],
    close() {
      closed = true;
      sender.close();
      for (const { end } of subscribers) end();
      subscribers.clear();
    },
  };
}

/** The legacy notification that a resource has changed. */
export function encodeUpdate(uri: string, reason: string): string {
  return encodeNotification(UPDATED, { uri, _meta: { [REASON]: reason } });
}

// --- internal ---

// The key of a subscription that has a list of URIs instead of `true`.
const RESOURCES = 'resourceSubscriptions';
const UPDATED = 'notifications/resources/updated';
const REASON = 'skillwire/reason';

interface Subscriber {
  readonly topics: readonly ListTopic[];
  readonly peer: Peer;
  readonly send: (method: string, reason: string) => void;
  readonly end: () => void;
}

/** Sends at once, or SHORTEST_GAP_MS after the last notifications; of several equal ones only the last. */
function createSender(subscribers: ReadonlySet<Subscriber>) {
  const due = new Map<Subscriber, Map<string, string>>();
  let timer: NodeJS.Timeout | undefined;
  let lastSent = Number.NEGATIVE_INFINITY;

  function flush(): void {
    timer = undefined;
    lastSent = performance.now();
    for (const [subscriber, methods] of due)
      for (const [method, reason] of methods) if (subscribers.has(subscriber)) subscriber.send(method, reason);
    due.clear();
  }

  return {
    announce(subscriber: Subscriber, method: string, reason: string): void {
      if (!subscribers.has(subscriber)) return;
      const methods = due.get(subscriber) ?? new Map<string, string>();
      due.set(subscriber, methods.set(method, reason));
      timer ??= setTimeout(flush, Math.max(0, lastSent + SHORTEST_GAP_MS - performance.now())).unref();
    },
    close: () => clearTimeout(timer),
  };
}

function urisIn(notifications: Params): readonly string[] {
  const { [RESOURCES]: uris = [] } = notifications;
  const isValid =
    Array.isArray(uris) &&
    uris.length <= MOST_SUBSCRIPTIONS &&
    uris.every((uri) => typeof uri === 'string' && uri.length <= LONGEST_URI);
  if (!isValid)
    throw invalidParams(
      `${RESOURCES} must be a list of at most ${MOST_SUBSCRIPTIONS} URIs of at most ${LONGEST_URI} characters`,
    );
  return [...new Set<string>(uris)];
}

/** "2 added, 1 removed (watch)" */
function reasonOf(change: SkillChange, reason: string): string {
  const { added, changed, removed } = change;
  const counts = Object.entries({ added, changed, removed }).filter(([, count]) => count > 0);
  const what = counts.map(([word, count]) => `${count} ${word}`).join(', ');
  return `${what || 'list changed'} (${reason})`;
}
