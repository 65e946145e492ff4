/**
 * A connection to one upstream server: what every transport promises (stdio.ts, http.ts, sse.ts), and what a call says
 * about itself on every layer (item, upstream, client, connection), in one record.
 * Leaves alone: JSON-RPC (client.ts), protocol versions (dialects.ts).
 */
import timers from 'node:timers/promises';
import type { Environment } from '../config.ts';
import type { Client, Id, Params, RpcError } from '../protocol/index.ts';

export type HeaderFields = Readonly<Record<string, string>>;

/** One call to an upstream server. The same record on all layers. */
export interface CallOptions {
  /** Milliseconds without an answer or progress after which the call fails. */
  readonly timeout: number;
  readonly cancellation?: AbortSignal | undefined;
  /** Asks the server to report progress, and takes the params of each report. */
  readonly onProgress?: ((params: Params) => void) | undefined;
  /** The arguments that a request repeats in headers, where its dialect does so (param-headers.ts). */
  readonly headers?: HeaderFields | undefined;
}

export interface ClientContext {
  /** The environment of this program: a child process gets some of it. */
  readonly env: Environment;
  /** What servers are told about us. */
  readonly identity: Client;
  /** `SKILLWIRE_HOPS` of child processes. */
  readonly hops: number;
  /** Ends the client, also while it is being opened. */
  readonly cancellation?: AbortSignal | undefined;
  /** Takes lines of the server's stderr and notes about it, with secrets in them. */
  log(line: string): void;
}

export interface OutgoingMessage {
  readonly text: string;
  /** Of a request. */
  readonly id?: Id;
  /** Undefined for our response to a request of the server. */
  readonly method?: string;
  /** Of HTTP; pipes have none. */
  readonly headers?: HeaderFields | undefined;
}

export interface Connection {
  /**
   * Settles when the message was given to the pipe; over HTTP, when the response to a request was read to its end, or that
   * to another message has begun. Rejects when the message, or the response to it, was lost; the connection goes on.
   */
  send(message: OutgoingMessage): Promise<void>;
  /** The request is no longer waited for: closes its response. Undefined where requests have none of their own. */
  drop?(id: Id): void;
  /**
   * The stream for notifications, where there is one besides the responses. Calls `opened` when it is open, and settles when
   * it has ended: true when another may be opened, false when the server has none. Rejects when it was not opened.
   */
  listen?(opened: () => void): Promise<boolean>;
  /** Settles when no process and no socket is left. Never rejects. */
  close(): Promise<void>;
}

/** Who a connection belongs to. */
export interface ConnectionOwner {
  /** The text of one or more messages. */
  text(text: string): void;
  /** Whether the request still waits for its response. */
  isPending(id: Id): boolean;
  /** A message was dropped, which may have been the response to any request. */
  dropped(error: Error): void;
  /** The connection has ended by itself. */
  closed(error: Error): void;
  /** Of every HTTP request, as soon as the protocol version is known. */
  headers(): HeaderFields;
  log(line: string): void;
}

/** Settles after that time, or when the signal fires. Does not keep the process running. */
export const pause = (ms: number, signal?: AbortSignal) =>
  timers.setTimeout(ms, undefined, { signal, ref: false }).catch(() => {});

/**
 * A failure that we found, not an error that the server sent. Its message is for people and models, and may quote the
 * server: whoever shows it removes the secrets first (redact.ts).
 */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
}

/** The server responded with an HTTP error. `rpc`: the JSON-RPC error in the body, if any; `id`: the request that it names. */
export class HttpError extends UpstreamError {
  readonly status: number;
  readonly rpc: RpcError | undefined;
  readonly id: Id | null;

  constructor(status: number, message: string, rpc?: RpcError, id: Id | null = null) {
    super(message);
    this.status = status;
    this.rpc = rpc;
    this.id = id;
  }
}

/** The server refused a message, perhaps as one of a session that it does not know. */
export class SessionLost extends UpstreamError {
  override readonly cause: HttpError;

  constructor(cause: HttpError) {
    super(cause.message);
    this.cause = cause;
  }
}
