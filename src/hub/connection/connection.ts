/**
 * A connection to one upstream server: types and errors that all transports share.
 * Owns: what a connection promises. Leaves alone: the transports (stdio.ts, http.ts, sse.ts), JSON-RPC (rpc-client.ts).
 */
import type { Id, RpcError } from '../../protocol/index.ts';

export type HeaderFields = Readonly<Record<string, string>>;

export interface OutgoingMessage {
  readonly text: string;
  /** Set when the message is a request. */
  readonly id?: Id;
  /** `initialize`: sent without a session id, and only its response may set one. */
  readonly startsSession?: boolean;
  /** Sending it twice does no harm. */
  readonly repeatable: boolean;
  /** HTTP headers; pipes have none. */
  readonly headers?: HeaderFields | undefined;
}

export interface Connection {
  /** Each request has its own response stream, so closing one tells the server that its request is cancelled. */
  readonly streamPerRequest: boolean;
  /** Never throws: failures are reported by the events, after this call has returned. */
  send(message: OutgoingMessage): void;
  /** Sends a response to a request of the server; settles when the server has accepted it. */
  reply(text: string): Promise<void>;
  /** From now on every message names this protocol version, where the transport has a place for it. */
  setVersion(version: string): void;
  /** The response to this request has arrived. */
  answered(id: Id): void;
  /** The response to this request is no longer wanted. */
  cancel(id: Id): void;
  /** Opens a stream for notifications, where the transport has none yet. */
  listen(): void;
  close(): Promise<void>;
}

export interface ConnectionEvents {
  text(text: string): void;
  /** One request, or its response, was lost. The connection goes on. */
  undelivered(id: Id, error: Error): void;
  /** An incoming message was dropped; it may have been the response to any request. */
  lost(error: Error): void;
  /** Notifications may have been missed. */
  missed(): void;
  /** Called at most once: the connection has ended. */
  closed(error: Error): void;
  debug(text: string): void;
}

/** The server responded with an HTTP error status. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** The JSON-RPC error in the body, if there is one. */
  readonly rpc: RpcError | undefined;
  /** The ids of the requests that the body responds to. */
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
 * The server refused one message in a way that suggests that it has forgotten our session, so it has not run the
 * message. upstream.ts checks by a second message whether that is so.
 */
export class SessionGone extends Error {
  override readonly name = 'SessionGone';
  readonly refusal: HttpError;

  constructor(refusal: HttpError) {
    super(`the server has forgotten our session (${refusal.message})`);
    this.refusal = refusal;
  }
}

/** The TCP connection was refused, so the message has not reached any server. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

/** The request has reached the server; the stream of its response broke. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** A failure that we found, not an error that the server sent. Its message is for the person or model that called. */
export class UpstreamError extends Error {
  override readonly name: string = 'UpstreamError';
}

export class MessageTooLong extends UpstreamError {
  override readonly name = 'MessageTooLong';

  constructor(limit: number) {
    super(`a message over ${limit} bytes was dropped`);
  }
}

/** The server's process ended by itself. */
export class ServerExit extends UpstreamError {
  override readonly name = 'ServerExit';
}
