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

const GONE = 'the connection is gone';

export function createSession(outlet: (text: string) => void): Session {
  const life = new AbortController();
  const calls = new Map<string, AbortController>();
  return {
    outlet,
    calls,
    ended: life.signal,
    handshake: undefined,
    end() {
      // With no reason given an abort makes an exception, stack and all, and that for every request over HTTP.
      life.abort(GONE);
      for (const call of calls.values()) call.abort(GONE);
    },
  };
}

/** Stops the call of that id, if it still runs; it will not be answered. */
export function cancel(session: Session, id: Id): void {
  session.calls.get(idKey(id))?.abort();
}
