/**
 * How a client subscribes. Modern: `subscriptions/listen` names lists and resources. Legacy: the end of the handshake
 * subscribes to all lists, and `resources/subscribe` to one resource.
 * Owns: the methods of both eras for it. Leaves alone: noticing changes (subscribers.ts).
 * Always true: a client is notified of nothing before its handshake, or before its subscription is acknowledged.
 */
import type { Registry } from '../catalog/registry.ts';
import { createPacer } from '../files/pace.ts';
import { messageOf } from '../log.ts';
import {
  type Cancellation,
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
import { LONGEST_URI, MOST_SUBSCRIPTIONS } from './limits.ts';
import type { Feature } from './lists.ts';
import { nothingAt, subscribableAt, uriParam } from './resources.ts';
import { createSubscriber, type Subscriber, type Subscribers } from './subscribers.ts';

type LookUp = Pick<Registry, 'lookUp'>;

export function listenMethod(
  registry: Pick<Registry, 'lookUp' | 'complete'>,
  subscribers: Subscribers,
  features: readonly Feature[],
): Method {
  return {
    name: 'subscriptions/listen',
    streams: true,
    async run({ notifications }, { id, peer, cancellation, notify }) {
      if (!isObject(notifications)) throw invalidParams('notifications must be an object');
      const uris = urisIn(notifications);
      const tag = { [META.subscription]: id };
      const wanted = features.filter(({ name }) => notifications[topicOf(name)] === true);
      const subscriber = createSubscriber(peer, wanted, notify, tag);
      const { resources } = subscriber;
      // At once: a list that the client requests right after this may change while the files are read.
      const ended = subscribers.add(subscriber, cancellation);
      // Changes are found by comparing with a complete list. After the acknowledgement the client relies on every change
      // being found, so it waits for the first such list.
      const prepared = registry
        .complete()
        .then(() => subscribeToAll(registry, subscribers, subscriber, uris, cancellation));
      // Reading the files may take a while; a client that cancels meanwhile may use the id again at once.
      await Promise.race([prepared, ended]);
      if (!cancellation.aborted) {
        const accepted: Record<string, unknown> = Object.fromEntries(wanted.map(({ name }) => [topicOf(name), true]));
        if (resources.size > 0) accepted[RESOURCES] = [...resources.keys()];
        notify('notifications/subscriptions/acknowledged', { _meta: tag, notifications: accepted });
        subscribers.open(subscriber);
      }
      await ended;
      return { _meta: tag };
    },
  };
}

export function legacySubscriptions(registry: LookUp, subscribers: Subscribers, features: readonly Feature[]) {
  const sessions = new WeakMap<Session, Subscriber>();
  function subscriberOf(session: Session, peer: Peer): Subscriber {
    const known = sessions.get(session);
    if (known) return known;
    const send = (method: string, params: object) => session.send(encodeNotification(method, params));
    const subscriber = createSubscriber(peer, [], send);
    sessions.set(session, subscriber);
    void subscribers.add(subscriber, session.ended);
    subscribers.open(subscriber);
    return subscriber;
  }
  function forget(session: Session, uri: string): void {
    const subscriber = sessions.get(session);
    if (subscriber) subscribers.unsubscribe(subscriber, uri);
    if (!subscriber || subscriber.resources.size + subscriber.features.length > 0) return;
    // Nothing is left on the session of a client that has no subscription.
    sessions.delete(session);
    subscribers.remove(subscriber);
  }

  const initialized: NotificationHandler = {
    name: 'notifications/initialized',
    run(_params, session) {
      // Without a handshake before it, it has no effect.
      if (session.handshake) subscriberOf(session, session.handshake).features = features;
    },
  };
  const subscribe: Method = {
    name: 'resources/subscribe',
    async run({ uri: asked }, { session, peer }) {
      const uri = uriParam(asked);
      const subscriber = subscriberOf(session, peer);
      const { resources } = subscriber;
      if (resources.has(uri)) return {};
      if (resources.size >= MOST_SUBSCRIPTIONS) throw invalidParams(`over ${MOST_SUBSCRIPTIONS} subscriptions`);
      const finding = registry.lookUp((snapshot) => subscribableAt(snapshot, uri));
      const fault = await subscribers.subscribe(subscriber, uri, finding).then(
        (isThere) => (isThere ? undefined : NO_SUBSCRIPTION),
        (error: unknown) => `cannot be subscribed to: ${messageOf(error)}`,
      );
      if (fault === undefined) return {};
      forget(session, uri);
      throw nothingAt(uri, fault);
    },
  };
  const unsubscribe: Method = {
    name: 'resources/unsubscribe',
    run({ uri }, { session }) {
      forget(session, uriParam(uri));
      return {};
    },
  };
  return { methods: [subscribe, unsubscribe], initialized };
}

// --- internal ---

const topicOf = (feature: string) => `${feature}ListChanged`;
// The key of a subscription that has a list of URIs instead of `true`.
const RESOURCES = 'resourceSubscriptions';
const NO_SUBSCRIPTION = 'nothing is served there that can be subscribed to';

function urisIn({ [RESOURCES]: uris = [] }: Params): readonly string[] {
  const isUri = (uri: unknown) => typeof uri === 'string' && uri.length <= LONGEST_URI;
  if (Array.isArray(uris) && uris.length <= MOST_SUBSCRIPTIONS && uris.every(isUri)) return uris;
  throw invalidParams(
    `${RESOURCES} must be a list of at most ${MOST_SUBSCRIPTIONS} URIs of at most ${LONGEST_URI} characters`,
  );
}

/** Subscribes to each resource where that is possible, under the first of the URIs that are spellings of its own. */
async function subscribeToAll(
  registry: LookUp,
  subscribers: Subscribers,
  subscriber: Subscriber,
  uris: readonly string[],
  cancellation: Cancellation,
): Promise<void> {
  const pace = createPacer();
  const met = new Set<string>();
  const answers: Promise<unknown>[] = [];
  for (const uri of uris) {
    await pace();
    const found = await registry.lookUp((snapshot) => subscribableAt(snapshot, uri));
    if (cancellation.aborted) return;
    if (!found || met.has(found.uri)) continue;
    met.add(found.uri);
    // Files one after the other; the servers of other resources are asked side by side.
    const subscribed = subscribers.subscribe(subscriber, uri, Promise.resolve(found));
    const answer = subscribed.catch(() => false).then((isIt) => isIt || subscribers.unsubscribe(subscriber, uri));
    if (found.follow) answers.push(answer);
    else await answer;
  }
  await Promise.all(answers);
}
