/**
 * The resources that one session has subscribed to on its server, as its protocol version does it.
 * Leaves alone: which resources these should be, and who is told of updates (updates.ts).
 * Always true: requests about one resource do not overtake each other; while a subscription is replaced by the next, both
 * are open, so that no update is lost.
 */
import { isObject, type Params, RpcError } from '../../protocol/index.ts';
import { backgroundDelay } from '../../wait.ts';
import { HttpError, UpstreamError } from '../connection/connection.ts';
import { LATE_MS } from '../connection/limits.ts';
import type { McpClient } from '../connection/mcp-client.ts';
import { SUBSCRIBE_MS } from './limits.ts';
import type { UpstreamSession } from './session.ts';

export interface ResourceSubscriptions {
  /** Once for a resource, until it is removed. Rejects when the server refuses; a late answer is taken for a yes. */
  add(uri: string): Promise<void>;
  remove(uri: string): void;
}

export function createSubscriptions(session: UpstreamSession): ResourceSubscriptions {
  return session.mcp.listenTo ? oneForAll(session, session.mcp.listenTo) : oneForEach(session.mcp);
}

// --- internal ---

/** A request for each resource, one after the other: over HTTP each takes a connection. */
function oneForEach({ request }: McpClient): ResourceSubscriptions {
  let last: Promise<unknown> = Promise.resolve();
  function send(method: string, uri: string): Promise<void> {
    const sent = last
      // One that is late still takes effect.
      .then(() => Promise.race([request(method, { uri }, { timeout: LATE_MS }), backgroundDelay(SUBSCRIBE_MS)]))
      .then(ignore, (error: unknown) => {
        // Any other error says nothing about the resource: a later session subscribes again.
        if (error instanceof RpcError || error instanceof HttpError) throw error;
      });
    last = sent.catch(ignore);
    return sent;
  }
  return {
    add: (uri) => send('resources/subscribe', uri),
    remove: (uri) => void send('resources/unsubscribe', uri).catch(ignore),
  };
}

const ignore = () => {};

/** One request for all resources, which is replaced when they change. */
function oneForAll(session: UpstreamSession, listenTo: NonNullable<McpClient['listenTo']>): ResourceSubscriptions {
  const wanted = new Set<string>();
  let current = new AbortController();
  let next: Promise<ReadonlySet<string>> | undefined;

  /** Settles with the resources that the server accepts. All changes of one turn are one request. */
  function renew(): Promise<ReadonlySet<string>> {
    next ??= new Promise((turn) => setImmediate(turn)).then(async () => {
      next = undefined;
      const before = current;
      current = new AbortController();
      const accepted = await open([...wanted], current.signal);
      before.abort();
      return accepted;
    });
    return next;
  }

  function open(uris: readonly string[], until: AbortSignal): Promise<ReadonlySet<string>> {
    if (uris.length === 0) return Promise.resolve(NONE);
    return new Promise((resolve) => {
      const all = () => resolve(new Set(uris));
      setTimeout(all, SUBSCRIBE_MS).unref();
      const listen = (opened: () => void) => {
        const onAcknowledged = (notifications: unknown) => {
          resolve(acceptedIn(notifications));
          opened();
        };
        return listenTo({ resourceSubscriptions: uris }, { signal: until, onAcknowledged });
      };
      // It ends when it is replaced, with the session, or when the server refuses.
      const isRefused = () => !until.aborted && !session.over.aborted;
      void session.keepNotified(listen, until).then(() => (isRefused() ? resolve(NONE) : all()));
    });
  }

  return {
    async add(uri) {
      wanted.add(uri);
      const accepted = await renew();
      if (accepted.has(uri)) return;
      wanted.delete(uri);
      throw new UpstreamError('the server has not accepted it');
    },
    remove(uri) {
      wanted.delete(uri);
      void renew();
    },
  };
}

const NONE: ReadonlySet<string> = new Set();

function acceptedIn(notifications: unknown): ReadonlySet<string> {
  const { resourceSubscriptions: uris }: Params = isObject(notifications) ? notifications : {};
  return new Set(Array.isArray(uris) ? uris : []);
}
