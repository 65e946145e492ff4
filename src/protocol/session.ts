/**
 * What one connection remembers between messages.
 * Owns: the handshake and the calls in flight. Leaves alone: the bytes (transports), subscriptions (methods).
 * Always true:
 * - a call is wanted as long as its controller is in `calls`; cancelling takes it out and frees its id at once;
 * - a modern request changes nothing here except `calls`, and that only while it runs.
 */
import type { Id } from './json-rpc.ts';

export interface Client {
  readonly name: string;
  readonly version: string;
}

/** The client that sent a request. */
export interface Peer {
  readonly client: Client | undefined;
  /** Of the protocol; undefined for a legacy client that has not shaken hands. */
  readonly version: string | undefined;
  /** It accepts structured content that is not an object. */
  readonly anyStructure: boolean;
  /** The headers of its request, where they must repeat parts of it: a source may check those that its tools ask for. */
  readonly readHeader?: ReadHeader | undefined;
}

/** An HTTP header of a message, by its name in any case, as it was sent. */
export type ReadHeader = (name: string) => string | undefined;

export interface Session {
  /** Sends a notification that belongs to no request: to the pipe, or to a stream of the HTTP session. */
  readonly send: (text: string) => void;
  /** Those in flight. */
  readonly calls: Map<Id, AbortController>;
  /** What a legacy client and this server agreed on. */
  handshake: Peer | undefined;
  /** Fires once, when the connection is gone. */
  readonly ended: AbortSignal;
  /** Cancels every call. */
  readonly end: () => void;
}

// Without a reason of ours, abort() makes an exception with a stack trace each time.
const REASON = 'the answer is no longer wanted';

export function createSession(send: Session['send']): Session {
  const life = new AbortController();
  const calls: Session['calls'] = new Map();
  const end = () => {
    life.abort(REASON);
    for (const id of [...calls.keys()]) cancel({ calls }, id);
  };
  return { send, calls, handshake: undefined, ended: life.signal, end };
}

/** Stops the call of that id if it still runs; it is then not answered. */
export function cancel({ calls }: Pick<Session, 'calls'>, id: Id): void {
  const call = calls.get(id);
  calls.delete(id);
  call?.abort(REASON);
}
