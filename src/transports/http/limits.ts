/** Every limit of the HTTP transports, with its reason. What happens past each is in the README's table. */
import { MAX_LINE } from '../../protocol/index.ts';

/** The limits of one connection. A listener can be given others. */
export const LIMITS = {
  /** Far above what clients send; a token and a few names are the longest headers. */
  headerBytes: 16 * 1024,
  /** Headers are sent at once and a body is read at once, so a slower client is stuck or hostile. */
  headersMs: 10_000,
  requestMs: 30_000, // For the headers and the body together, for the same reason.
  /** How often connections are checked for the two times above. */
  checkMs: 5000,
  /** Longer than the minute for which load balancers keep a connection, so that they close it and not this server. */
  idleConnectionMs: 65_000,
  connections: 4096, // Far above what the agents of one team open; each takes some memory and a descriptor.
  /** Proxies close a silent stream after 30 to 60 seconds. */
  streamKeepAliveMs: 15_000,
};
export type Limits = Readonly<typeof LIMITS>;

/** The same as for a line on stdio. */
export const MAX_BODY = MAX_LINE;

/** Request bodies in memory, of all clients together: eight of the largest. */
export const MAX_BODIES = 256 * 1024 * 1024;

/** Smaller bodies are not counted in MAX_BODIES. Of 4,096 connections they come to no more than MAX_BODIES again. */
export const SMALL_BODY = 64 * 1024;

/** How long a client may take no byte of a finished response. */
export const UNREAD_MS = 30_000;

/** Unread bytes of one event stream, besides responses. Notifications are small, so a client this far behind does not read. */
export const MAX_UNREAD = 4 * 1024 * 1024;

/** Unread bytes of all clients of this process together: a dozen of the largest responses. */
export const MAX_UNSENT = 256 * 1024 * 1024;

/** A client whose session was dropped gets 404 and opens another. An agent is idle while its user thinks or lunches. */
export const SESSION_LIMITS = { most: 1000, idleMs: 30 * 60_000 };

/**
 * A client opens its stream a moment after the handshake, and again after it lost one. One notification for each list
 * and for each changed resource waits for that.
 */
export const MAX_WAITING = 100;

/** A session has one stream, or two while the loss of the first has not been noticed. */
export const MAX_STREAMS = 4;

/** The POST of an HTTP+SSE client is answered before its request is run, so nothing else limits how many run. */
export const MAX_IN_FLIGHT = 1000;

/** Requests on one connection that are not answered. MCP clients send one at a time; Node takes all that arrive. */
export const MAX_PIPELINED = 16;

/** Headers that repeat arguments of a tool, in one preflight request of a browser. Few tools have one. */
export const MAX_PARAM_HEADERS = 64;
