/**
 * What one connection remembers between messages.
 * Owns: the handshake and the calls in flight. Leaves alone: the bytes (transports), what is announced (subscriptions).
 * Always true: a modern request changes nothing here but `calls`, and that only while it runs.
 */
import type { Id } from './wire.ts';
import { idKey } from './wire.ts';

export interface Client {
  readonly name: string;
  readonly version: string;
}

/** What a legacy client and we agreed on. */
export interface Handshake {
  readonly version: string;
  readonly client: Client | undefined;
  readonly capabilities: object;
}

export interface Session {
  /** Where notices go that answer no request: the pipe, or an HTTP session's stream. */
  readonly outlet: (text: string) => void;
  readonly calls: Map<string, AbortController>;
  /** Fires once, when the connection is gone. */
  readonly ended: AbortSignal;
  handshake: Handshake | undefined;
  end(): void;
}

export function createSession(outlet: (text: string) => void): Session {
  const calls = new Map<string, AbortController>();
  // Made when somebody asks: a session that serves one request over HTTP is made for every request, and few look.
  let life: AbortController | undefined;
  let over = false;
  return {
    outlet,
    calls,
    get ended() {
      life ??= new AbortController();
      if (over) life.abort(GONE);
      return life.signal;
    },
    handshake: undefined,
    end() {
      over = true;
      life?.abort(GONE);
      for (const call of calls.values()) call.abort(GONE);
    },
  };
}

/** Stops the call of that id, if it still runs; it will not be answered. */
export function cancel(session: Session, id: Id): void {
  session.calls.get(idKey(id))?.abort();
}

// --- internal ---

// Without a reason of our own an abort makes an exception with a stack, which costs more than serving a request.
const GONE = 'the connection is gone';
