/**
 * The resources of one upstream server that clients follow, through all its sessions.
 * Owns: who is told of an update. Leaves alone: how a session subscribes (subscriptions.ts), what clients are sent (methods/).
 * Always true: the server is subscribed to exactly the resources that are followed; after updates may have been lost, as
 * between two sessions, every client that follows a resource is told to read it again.
 */
import { messageOf } from '../../log.ts';
import { backgroundDelay } from '../../wait.ts';
import { UpstreamError } from '../connection/connection.ts';
import { MAX_FOLLOWED, SUBSCRIBE_MS } from './limits.ts';
import type { UpstreamSession } from './session.ts';
import { createSubscriptions, type ResourceSubscriptions } from './subscriptions.ts';

export type ResourceUpdates = ReturnType<typeof createUpdates>;

export function createUpdates(debug: (text: string) => void) {
  interface Followed {
    readonly listeners: Set<() => void>;
    /** Settles when the server has accepted the subscription of this session. */
    accepted: Promise<void>;
  }
  /** By the URI that its server gives it. */
  const followed = new Map<string, Followed>();
  /** Of the current session; undefined while there is none, or when its server has no subscriptions. */
  let subscriptions: ResourceSubscriptions | undefined;
  let canFollow = true;

  const subscribe = (uri: string) => subscriptions?.add(uri) ?? Promise.resolve();

  function tell({ listeners }: Followed): void {
    for (const changed of listeners) changed();
  }

  return {
    /** Calls `changed` at each update until the signal fires. Rejects, with a reason for people, when there are none. */
    async follow(uri: string, changed: () => void, until: AbortSignal): Promise<void> {
      if (!canFollow) throw new UpstreamError('its server does not announce changes');
      if (!followed.has(uri) && followed.size >= MAX_FOLLOWED)
        throw new UpstreamError(`over ${MAX_FOLLOWED} resources of its server are subscribed to`);
      const one = followed.get(uri) ?? { listeners: new Set(), accepted: subscribe(uri) };
      followed.set(uri, one);
      one.listeners.add(changed);
      const leave = () => {
        one.listeners.delete(changed);
        if (one.listeners.size > 0 || followed.get(uri) !== one) return;
        followed.delete(uri);
        subscriptions?.remove(uri);
      };
      until.addEventListener('abort', leave, { once: true });
      const accepted = one.accepted.catch((error: unknown) => {
        if (followed.get(uri) === one) followed.delete(uri);
        throw error;
      });
      // A server that does not answer may send updates all the same.
      await Promise.race([accepted, backgroundDelay(SUBSCRIBE_MS)]);
      if (until.aborted) leave();
    },
    /** The server has announced an update: of the resource itself, or of one below it. */
    hear(uri: unknown): void {
      if (typeof uri !== 'string') return;
      for (const [own, one] of followed)
        if (uri === own || uri.startsWith(own.endsWith('/') ? own : `${own}/`)) tell(one);
    },
    /** Updates may have been lost. */
    tellAll(): void {
      for (const one of followed.values()) tell(one);
    },
    /** A new session takes the place of the last one. */
    resume(session: UpstreamSession): void {
      canFollow = session.mcp.capabilities.has('resources.subscribe');
      subscriptions = canFollow ? createSubscriptions(session) : undefined;
      for (const [uri, one] of followed) {
        one.accepted = subscribe(uri);
        const refused = (error: unknown) => debug(`${uri} is no longer subscribed to: ${messageOf(error)}`);
        void one.accepted.catch(refused).then(() => tell(one));
      }
    },
  };
}
