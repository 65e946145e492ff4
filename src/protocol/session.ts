/**
 * What one connection remembers between messages.
 * Owns: the handshake and the calls in flight. Leaves alone: the bytes (transports), what is announced (subscriptions).
 * Always true: a modern request changes nothing here but `calls`, and that only while it runs.
 */
import { type Id, idKey } from './json-rpc.ts';

export interface Client {
  readonly name: string;
  readonly version: string;
}

/** What a legacy client and we agreed on. */
export interface Handshake {
  readonly version: string;
  readonly client: Client | undefined;
  readonly capabilities: ReadonlySet<string>;
  readonly extensions: ReadonlySet<string>;
}

export interface Session {
  /** Where notices go that answer no request: the pipe, or an HTTP session's stream. */
  readonly outlet: (text: string) => void;
  readonly calls: Map<string, Running>;
  /** Fires once, when the connection is gone. */
  readonly ended: AbortSignal;
  handshake: Handshake | undefined;
  end(): void;
}

/** A call in flight, and what stops it. An AbortSignal takes half a call's time to make, so most make do without. */
export class Running {
  aborted = false;
  readonly #listeners = new Set<() => void>();
  #control: AbortController | undefined;
  get signal(): AbortSignal {
    this.#control ??= new AbortController();
    if (this.aborted) this.#control.abort(UNWANTED);
    return this.#control.signal;
  }
  addEventListener(_event: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }
  removeEventListener(_event: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }
  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    this.#control?.abort(UNWANTED);
    for (const listener of [...this.#listeners]) listener();
  }
}

/** What an AbortSignal is to those who only listen. */
export type Stop = Readonly<Pick<Running, 'aborted' | 'addEventListener' | 'removeEventListener'>>;

// With no reason given an abort makes an exception, stack and all, and that for every request over HTTP.
const UNWANTED = 'the answer is no longer wanted';

export function createSession(outlet: (text: string) => void): Session {
  const life = new Running();
  const calls = new Map<string, Running>();
  return {
    outlet,
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

/** Stops the call of that id, if it still runs; it will not be answered. */
export const cancel = (session: Session, id: Id) => session.calls.get(idKey(id))?.abort();
