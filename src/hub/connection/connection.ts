/**
 * One way to an upstream server, whatever it is made of: types only, and the errors that all ways share.
 * Owns: what a wire promises. Leaves alone: the ways (stdio-wire.ts, http-wire.ts, sse-wire.ts), what is said (link.ts).
 */
import type { Id, RpcError } from '../../protocol/index.ts';

export type HeaderFields = Readonly<Record<string, string>>;

export interface OutgoingMessage {
  readonly text: string;
  /** The request that the text is, if it is one. */
  readonly id?: Id;
  /** The request that begins a session: it is sent without one, and only its answer can name one. */
  readonly opens?: boolean;
  /** An answer to what the server asked of us. There may be any number of those, so a wire bounds them. */
  readonly isReply?: boolean;
  /** Nothing happens twice when it arrives twice. */
  readonly repeatable: boolean;
  /** What HTTP says around the text; pipes have no envelope. */
  readonly headers: HeaderFields;
}

export interface Connection {
  /** Every request has a stream of its own, so that closing it says something to the server. */
  readonly ownStreams: boolean;
  /** Never throws: what goes wrong is told by the events, later than this call returns. */
  send(message: OutgoingMessage): void;
  /** This request has its answer. */
  done(id: Id): void;
  /** Nobody waits for the answer to this request any more. */
  drop(id: Id): void;
  /** Opens a way for what the server has to say unasked, where there is none yet. */
  listen(headers: HeaderFields): void;
  close(): Promise<void>;
}

export interface ConnectionEvents {
  text(text: string): void;
  /** One request did not get through, or its answer did not. The wire goes on. */
  undelivered(id: Id, error: Error): void;
  /** Something that came in was dropped; it may have been anybody's answer. */
  lost(error: Error): void;
  /** What the server says unasked was not heard for a while. */
  missed(): void;
  /** Called at most once: nothing comes or goes any more. */
  closed(error: Error): void;
  /** For people who look for a fault. */
  debug(text: string): void;
}

/** Answers hold images and documents, so more than a request; still a bound on what one server can make us hold. */
export const MAX_MESSAGE = 32 * 1024 * 1024;

/** Why a server is left that asks without end and does not take our answers. */
export const FLOODED = 'it asks us more than it takes answers to';

/** The server answered with an HTTP error. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** The JSON-RPC error in its body, if there was one. */
  readonly rpc: RpcError | undefined;
  /** The requests that its body answers. */
  readonly answered: readonly Id[];
  readonly body: string;

  constructor(status: number, message: string, body: Pick<HttpError, 'rpc' | 'answered' | 'body'>) {
    super(message);
    this.status = status;
    this.rpc = body.rpc;
    this.answered = body.answered;
    this.body = body.body;
  }
}

/**
 * The server refused this one message in a way that says it does not know our session, so it has not run it. Another
 * message shows whether that is so (see upstream.ts).
 */
export class SessionGone extends Error {
  override readonly name = 'SessionGone';
  /** What the server said. */
  readonly refusal: HttpError;

  constructor(refusal: HttpError) {
    super(`the server has forgotten our session (${refusal.message})`);
    this.refusal = refusal;
  }
}

/** Nobody listens there, so this one message has reached nobody. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

/** The request has arrived; the way of its answer broke. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** A failure of the way, not of the server's own making. Its message is for the person or model that asked. */
export class UpstreamError extends Error {
  override readonly name: string = 'UpstreamError';
}

/** A server sent more than we are willing to hold. */
export class MessageTooLong extends UpstreamError {
  override readonly name = 'MessageTooLong';

  constructor(limit: number) {
    super(`a message over ${limit} bytes was dropped`);
  }
}

/** It ran, and ended by itself. */
export class ServerExit extends UpstreamError {
  override readonly name = 'ServerExit';
}
