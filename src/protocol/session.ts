/**
 * What one connection remembers between messages.
 * Owns: the handshake and the calls in flight. Leaves alone: the bytes (transports), subscriptions (methods/).
 * Always true: a modern request changes nothing here except `calls`, and that only while it runs.
 */
import { type Id, idKey } from './json-rpc.ts';

export interface Client {
  readonly name: string;
  readonly version: string;
}

/** What a legacy client and this server agreed on. */
export interface Handshake {
  readonly version: string;
  readonly client: Client | undefined;
  readonly capabilities: ReadonlySet<string>;
  readonly extensions: ReadonlySet<string>;
}

export interface Session {
  /** Sends a notification that belongs to no request: to the pipe, or to a stream of the HTTP session. */
  readonly send: (text: string) => void;
  readonly calls: Map<string, LazyAbortController>;
  /** Fires once, when the connection is gone. */
  readonly ended: AbortSignal;
  handshake: Handshake | undefined;
  end(): void;
}

/** An AbortController that makes its signal when it is first asked for: making one takes half the time of a small call. */
export class LazyAbortController {
  aborted = false;
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.aborted) this.#controller.abort(REASON);
    return this.#controller.signal;
  }

  abort(): void {
    this.aborted = true;
    this.#controller?.abort(REASON);
  }
}

export function createSession(send: (text: string) => void): Session {
  const life = new LazyAbortController();
  const calls = new Map<string, LazyAbortController>();
  return {
    send,
    calls,
    handshake: undefined,
    get ended() {
      return life.signal;
    },
    end() {
      life.abort();
      for (const call of calls.values()) call.abort();
    },
  };
}

/** Stops the call of that id if it still runs; it is then not answered. */
export const cancel = (session: Session, id: Id) => session.calls.get(idKey(id))?.abort();

// --- internal ---

// Without a reason of ours, abort() makes an exception with a stack trace, for every request over HTTP.
const REASON = 'the answer is no longer wanted';
