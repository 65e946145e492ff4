/**
 * One session with an upstream server, from its first listing to its end.
 * Owns: its listings, its health check, its requests in flight. Leaves alone: the handshake (connection/open.ts), the next
 * session (upstream.ts).
 * Always true: a started session has listed its tools; one that could not leaves nothing behind.
 */
import { asError, messageOf } from '../../log.ts';
import type { Params } from '../../protocol/index.ts';
import { whenAborted } from '../../wait.ts';
import type { UpstreamConfig } from '../config/entries.ts';
import type { Redact } from '../config/redact.ts';
import { SessionGone, UpstreamError } from '../connection/connection.ts';
import type { McpClient, McpRequestOptions } from '../connection/dialects.ts';
import type { Session } from '../connection/open.ts';
import { type HealthCheck, startHealthCheck } from './health.ts';
import { type Listing, listEverything } from './listing.ts';
import { createRelist, type ListingOutcome } from './relist.ts';

export interface LiveSession {
  readonly mcp: McpClient;
  readonly health: HealthCheck;
  /** Fires when it can no longer be used. */
  readonly over: AbortSignal;
  request(method: string, params: Params, options: McpRequestOptions): Promise<Params>;
  relist(): void;
  /** Whether a request of a client was answered. */
  wasUsed(): boolean;
  /** Ends it before its connection does. */
  fail(error: Error): void;
  /** Whether requests in flight may finish after its end: over HTTP each has a connection of its own. */
  canFinish(): boolean;
  /** Settles when nothing of it is left. Requests in flight that cannot finish fail with `reason`. */
  close(reason: Error): Promise<void>;
}

export interface LiveContext {
  readonly config: UpstreamConfig;
  readonly healthInterval: number;
  readonly redact: Redact;
  /** Fires when the upstream is closed. */
  readonly life: AbortSignal;
  listing(): Listing;
  publish(listing: Listing): void;
  debug(text: string): void;
}

/** Rejects when the server cannot list its tools. */
export async function startSession(session: Session, context: LiveContext): Promise<LiveSession> {
  const { healthInterval, life, debug } = context;
  const { rpc, mcp, onListChanged } = session;
  const end = new AbortController();
  const inFlight = new Set<Promise<Params>>();
  let wasUsed = false;
  const fail = (error: unknown) => end.abort(asError(error));
  const over = AbortSignal.any([rpc.ended, end.signal, life]);
  const lists = createRelist({ list: (isFirst) => list(session, context, isFirst), fail, until: over });
  const canFinish = () => rpc.connection.streamPerRequest && inFlight.size > 0 && !rpc.ended.aborted && !life.aborted;

  async function close(reason: Error): Promise<void> {
    onListChanged(() => {});
    end.abort(reason);
    if (canFinish()) await Promise.race([Promise.allSettled(inFlight), whenAborted(life)]);
    await rpc.close(new UpstreamError(messageOf(life.aborted ? life.reason : reason)));
  }

  // Before the first listing: a change that is announced during it may be missing from it.
  const health = startHealthCheck(session, {
    interval: healthInterval,
    until: over,
    isBusy: () => inFlight.size > 0,
    relist: lists.again,
    fail,
    debug,
  });
  try {
    await lists.begin();
    over.throwIfAborted();
  } catch (error) {
    await close(asError(error));
    throw error;
  }
  health.watch();
  return {
    mcp,
    health,
    over,
    async request(method, params, options) {
      const sent = mcp.request(method, params, options);
      inFlight.add(sent);
      const result = await sent.finally(() => inFlight.delete(sent));
      wasUsed = true;
      return result;
    },
    wasUsed: () => wasUsed,
    relist: lists.again,
    fail,
    canFinish,
    close,
  };
}

/** The server responds, but not with its lists. */
export class ListError extends UpstreamError {
  override readonly name = 'ListError';
}

// --- internal ---

async function list(
  { mcp, rpc }: Session,
  { config, redact, life, listing, publish, debug }: LiveContext,
  isFirst: boolean,
): Promise<ListingOutcome> {
  try {
    const listed = await listEverything({ mcp, config, last: listing(), isFirst, redact, signal: life });
    // A list that failed because the session ended is not published.
    rpc.ended.throwIfAborted();
    publish(listed.listing);
    const published = listing();
    // Unless the lists were requested again meanwhile.
    listed.later?.then((later) => published === listing() && publish(later)).catch((error) => debug(messageOf(error)));
    return listed;
  } catch (error) {
    if (rpc.ended.aborted || error instanceof SessionGone) throw error;
    throw new ListError(`listing failed: ${messageOf(error)}`, { cause: error });
  }
}
