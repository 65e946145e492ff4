/**
 * What one connection remembers between messages.
 * Owns: the handshake and the calls in flight. Leaves alone: the bytes (transports), subscriptions (methods/).
 * Always true: a modern request changes nothing here except `calls`, and that only while it runs.
 */
import type { Id } from './json-rpc.ts';
import type { LogLevel } from './meta.ts';

export interface Client {
  readonly name: string;
  readonly version: string;
}

/** An HTTP header of a message, by its name in any case, as it was sent. */
export type ReadHeader = (name: string) => string | undefined;

/** The client that sent a request. */
export interface Peer {
  readonly client: Client | undefined;
  /** Of the protocol; undefined for a legacy client that has not shaken hands. */
  readonly version?: string;
  /** The names of what the client declared; the settings below each name are not kept. */
  readonly capabilities: ReadonlySet<string>;
  readonly extensions: ReadonlySet<string>;
  /** Set in an era that requires the headers to repeat parts of the message, on a transport with headers. */
  readonly readHeader?: ReadHeader | undefined;
  /** The client accepts structured content that is not an object. */
  readonly anyStructure?: boolean;
  /** The level from which on it wants the log messages of this request; undefined: none. */
  readonly logLevel?: LogLevel | undefined;
}

/** What a legacy client and this server agreed on. */
interface Handshake extends Peer {
  readonly version: string;
}

/** A signal, or what is used as one. Each listener is called once at most. */
export type Cancellation = Pick<LazyAbortController, 'aborted' | 'addEventListener' | 'removeEventListener'>;

/** An AbortController that makes its signal when it is first asked for: making one takes half the time of a small call. */
export class LazyAbortController {
  aborted = false;
  #controller: AbortController | undefined;
  #listeners: (() => void)[] = [];

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.aborted) this.#controller.abort(REASON);
    return this.#controller.signal;
  }

  /** Like that of a signal, a listener that is added after the abort is not called. */
  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }

  abort(): void {
    this.aborted = true;
    this.#controller?.abort(REASON);
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

export const createSession = (send: Session['send']) => new Session(send);

/** A class, because a getter in an object literal keeps what it reaches until a full collection (see dispatch.ts). */
export class Session {
  /**
   * Sends a notification that belongs to no request: to the pipe, or to a stream of the HTTP session. `mayDrop`: a
   * transport whose client does not read may drop it.
   */
  readonly send: (text: string, mayDrop?: boolean) => void;
  /** Those in flight. 1 and "1" are two ids. */
  readonly calls = new Map<Id, LazyAbortController>();
  handshake: Handshake | undefined;
  /** What a legacy client has set for all its requests. */
  logLevel: LogLevel | undefined;
  readonly #life = new LazyAbortController();
  /** Fires once, when the connection is gone. */
  readonly ended: Cancellation = this.#life;

  constructor(send: Session['send']) {
    this.send = send;
  }

  /** Can be passed on as a listener. */
  readonly end = (): void => {
    this.#life.abort();
    for (const call of this.calls.values()) call.abort();
  };
}

/** Stops the call of that id if it still runs; it is then not answered, and the id is free at once. */
export function cancel({ calls }: Session, id: Id): void {
  calls.get(id)?.abort();
  calls.delete(id);
}

// --- internal ---

// Without a reason of ours, abort() makes an exception with a stack trace, for every request over HTTP.
const REASON = 'the answer is no longer wanted';
