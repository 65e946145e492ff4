/**
 * Who is notified when a list changes. Legacy: the end of the handshake subscribes a session to all lists. Modern:
 * `subscriptions/listen` names them, and is answered when it ends.
 * Owns: finding out which lists a refresh has changed, once for all clients, and the pace of notifications.
 * Always true:
 * - nothing is sent before the handshake, or before a subscription is acknowledged;
 * - no change after that is missed, and without a change nothing is sent;
 * - between two notifications of one list are at least DEBOUNCE_MS.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Registry } from '../catalog/registry.ts';
import { DEBOUNCE_MS } from '../limits.ts';
import * as protocol from '../protocol/index.ts';
import type { Feature } from './lists.ts';

export function createSubscriptions(registry: Registry, features: readonly Feature[]) {
  const names = features.map(({ name }) => name);
  const subscribers = new Map<object, Subscriber>();
  let isClosed = false;
  /** Runs for DEBOUNCE_MS after notifications were sent; what changes meanwhile is sent at its end. */
  let pause: NodeJS.Timeout | undefined;

  /** `owner`: the session or the call, which subscribes once. Resolves when the subscription is over. */
  function subscribe(owner: object, wanted: readonly ListName[], send: Send, until: AbortSignal): Promise<void> {
    return new Promise((done) => {
      const end = () => {
        subscribers.delete(owner);
        done();
      };
      subscribers.set(owner, { wanted, due: new Map(), send, end });
      if (isClosed || until.aborted) end();
      else until.addEventListener('abort', end, { once: true });
    });
  }

  registry.onRefresh(({ before, after, reason }) => {
    // Lists wait for the first snapshot, so nobody has seen anything that it could change.
    if (!before || before === after || subscribers.size === 0) return;
    const changed = features.filter((one) => !areSame(one.contents(before), one.contents(after)));
    for (const { wanted, due } of subscribers.values())
      for (const { name } of changed) if (wanted.includes(name)) due.set(name, `list changed (${reason})`);
    if (!pause) notifyAll();
  });

  function notifyAll(): void {
    pause = undefined;
    for (const { due, send } of subscribers.values()) {
      for (const [name, reason] of due) {
        send(`notifications/${name}/list_changed`, { 'skillwire/reason': reason });
        pause ??= setTimeout(notifyAll, DEBOUNCE_MS).unref();
      }
      due.clear();
    }
  }

  const listen: protocol.Method = {
    name: 'subscriptions/listen',
    streams: true,
    async run({ notifications }, call) {
      if (!protocol.isObject(notifications)) throw protocol.invalidParams('notifications must be an object');
      const wanted = names.filter((name) => notifications[topicOf(name)] === true);
      const tag = { [protocol.META.subscription]: call.id };
      // A change is found by comparing two snapshots, and the client relies on it once this is acknowledged.
      await registry.ready();
      const accepted = Object.fromEntries(wanted.map((name) => [topicOf(name), true]));
      call.notify('notifications/subscriptions/acknowledged', { _meta: tag, notifications: accepted });
      const send: Send = (method, meta) => call.notify(method, { _meta: { ...tag, ...meta } });
      await subscribe(call, wanted, send, call.cancellation());
      return { _meta: tag };
    },
  };

  const initialized: protocol.NotificationHandler = {
    name: 'notifications/initialized',
    run(_params, session) {
      // Without a handshake before it, it has no effect; nor has it a second time.
      if (!session.handshake || subscribers.has(session)) return;
      const send: Send = (method, _meta) => session.send(protocol.encodeNotification(method, { _meta }));
      void subscribe(session, names, send, session.ended);
    },
  };

  return {
    listen,
    initialized,
    /** Ends every open subscription, with its result where there is one. */
    close() {
      isClosed = true;
      clearTimeout(pause);
      for (const { end } of subscribers.values()) end();
    },
  };
}

// --- internal ---

type ListName = Feature['name'];
type Contents = ReturnType<Feature['contents']>;
type Send = (method: string, meta: object) => void;

interface Subscriber {
  readonly wanted: readonly ListName[];
  /** The lists of which it is still to be notified, with the reasons. */
  readonly due: Map<ListName, string>;
  readonly send: Send;
  end(): void;
}

/** Row by row: `isDeepStrictEqual` of ten thousand texts takes ten times as long. */
function areSame(some: Contents, others: Contents): boolean {
  const isSame = (one: string | object, at: number) => one === others[at] || isDeepStrictEqual(one, others[at]);
  return some.length === others.length && some.every(isSame);
}

const topicOf = (name: ListName) => `${name}ListChanged`;
