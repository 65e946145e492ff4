/**
 * A connection to one upstream server: what it is made with, what every transport promises, the errors that they share.
 * Leaves alone: the transports (stdio.ts, http.ts, sse.ts), JSON-RPC (rpc-client.ts).
 */
import type { Hops } from '../../hops.ts';
import type { Log } from '../../log.ts';
import type { LogMessage } from '../../model.ts';
import type { Client, Id, LogLevel, RpcError } from '../../protocol/index.ts';
import type { Environment } from './command.ts';
import type { ProcessGroups } from './process.ts';

/** What all upstream servers of a hub share, and `debug`, which each has of its own. */
export interface HubContext {
  readonly platform: NodeJS.Platform;
  readonly env: Environment;
  readonly processGroups: ProcessGroups;
  /** What servers are told about us. */
  readonly client: Client;
  readonly hops: Hops;
  readonly log: Log;
  /** Milliseconds without a message after which a server is pinged. */
  readonly healthInterval: number;
  /** The level from which on clients want log messages that belong to no request, and where these go. */
  readonly followedLog: { level: LogLevel | undefined; send(message: LogMessage): void };
  /** The listing of the server of that name has changed. */
  changed(name: string): void;
  /** Logs a text without the server's secrets. */
  debug(text: string): void;
}

export type HeaderFields = Readonly<Record<string, string>>;

export interface OutgoingMessage {
  readonly text: string;
  /** Set when the message is a request. */
  readonly id?: Id;
  /** Undefined when the message is our response to a request of the server. */
  readonly method?: string;
  /** HTTP headers; pipes have none. */
  readonly headers?: HeaderFields | undefined;
}

/** The reason of the signal of a request that was answered, and not cancelled. */
export const ANSWERED = 'answered';

export interface Connection {
  /** Each request has its own response stream, so closing one tells the server that its request is cancelled. */
  readonly streamPerRequest: boolean;
  /**
   * Settles when the server has accepted the message, or later. Rejects when the message, or the response to it, was
   * lost; the connection goes on. `over` makes the signal that fires when a request is answered or cancelled, so that
   * nothing is kept for it. A function, because to make a signal is slow and pipes need none.
   */
  send(message: OutgoingMessage, over?: () => AbortSignal): Promise<void>;
  /**
   * The stream for notifications, of a transport that has one besides its responses. Calls `opened` when it is open and
   * settles when it has ended: true when the next one goes on where it ended, false when the server has none. Rejects
   * when notifications may have been lost.
   */
  listen?(opened: () => void): Promise<boolean>;
  /** What the server printed that may say why it fails, to follow a reason; empty when there is nothing. */
  printed?(): string;
  close(): Promise<void>;
}

export interface ConnectionEvents {
  /** `request`: the one whose response stream has brought the text, on a connection with such streams. */
  text(text: string, request?: Id): void;
  /** An incoming message was dropped: the response to this request, or to any when the id is null. */
  lost(error: Error, id: Id | null): void;
  /** The connection has ended, by itself or by `close`. */
  closed(error: Error): void;
  debug(text: string): void;
}

/**
 * A failure that we found, not an error that the server sent. Its message is for the person or model that called, once
 * secrets are removed from it (upstream/).
 */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
}

export class MessageTooLong extends UpstreamError {
  constructor(limit: number) {
    super(`a message over ${limit} bytes was dropped`);
  }
}

/** The server's process ended by itself. */
export class ServerExit extends UpstreamError {}

/** The TCP connection was refused, so the message has not reached any server. */
export class NotSent extends Error {}

/** The body of an HTTP error, and its JSON-RPC error. */
export interface ErrorBody {
  readonly text: string;
  readonly rpc: RpcError | undefined;
  /** Of the request that the body responds to. Such a body is the response, whatever the status is. */
  readonly id: Id | null;
}

/** Statuses that concern this client and not one message. 508: too many hubs in a row (see hops.ts). */
export const REFUSALS: readonly number[] = [401, 403, 508];

/** The server responded with an HTTP error status, or with a media type that we have not asked for. */
export class HttpError extends Error {
  readonly status: number;
  readonly body: ErrorBody;

  constructor(status: number, message: string, body: ErrorBody = { text: '', rpc: undefined, id: null }) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/**
 * The server refused one message in a way that suggests that it has forgotten our session, so it has not run the
 * message. upstream.ts checks by a second message whether that is so.
 */
export class SessionGone extends Error {
  readonly refusal: HttpError;

  constructor(refusal: HttpError) {
    super(`the server has forgotten our session (${refusal.message})`);
    this.refusal = refusal;
  }
}
