/**
 * The sessions of legacy clients over streamable HTTP: one session with its stream, and the table of all of them.
 * Owns: ids, how many there may be, how long an idle one is kept, where a notification goes that belongs to no request.
 * Leaves alone: replies, which leave on the POST of their request (streamable.ts).
 * Always true: an id cannot be guessed; a session with an open stream or a running call does not expire, and is the
 * last to go when there are too many.
 */
import { randomUUID } from 'node:crypto';
import { MAX_SESSIONS, SESSION_IDLE_MS } from '../../limits.ts';
import { createSession } from '../../protocol/index.ts';
import type { EventStream } from './streams.ts';

export type HttpSession = ReturnType<typeof createHttpSession>;

export function createHttpSession() {
  let stream: EventStream | undefined;
  // What waits for the next stream: of several notifications that a list has changed, the last.
  const held = new Map<string, string>();
  const session = createSession((text) => {
    if (stream) stream.send(text);
    else held.set(JSON.parse(text).method, text);
  });
  return {
    id: randomUUID(),
    session,
    /** Sends notifications to this stream from now on. An earlier one is ended: its loss may not have been noticed. */
    attach(next: EventStream): void {
      stream?.end();
      stream = next;
      for (const text of held.values()) next.send(text);
      held.clear();
    },
    detach(gone: EventStream): void {
      if (stream === gone) stream = undefined;
    },
    isBusy: () => stream !== undefined || session.calls.size > 0,
    /** Ends the session and its stream. */
    close(): void {
      session.end();
      stream?.end();
    },
  };
}

export function createSessionTable() {
  // A Map keeps the order of insertion, and `use` inserts again: the first one has been idle longest.
  const entries = new Map<string, { readonly httpSession: HttpSession; readonly expiry: NodeJS.Timeout }>();

  /** Adds a session. When there are too many, the one that has been idle longest is removed. */
  function add(httpSession: HttpSession): void {
    const { id, isBusy } = httpSession;
    if (entries.size >= MAX_SESSIONS) {
      const [oldest = ''] = entries.keys();
      remove([...entries.values()].find((entry) => !entry.httpSession.isBusy())?.httpSession.id ?? oldest);
    }
    const expiry = setTimeout(() => void (isBusy() ? use(id) : remove(id)), SESSION_IDLE_MS).unref();
    entries.set(id, { httpSession, expiry });
  }

  function take(id: string): HttpSession | undefined {
    const entry = entries.get(id);
    clearTimeout(entry?.expiry);
    entries.delete(id);
    return entry?.httpSession;
  }

  /** Finds a session and counts that as use of it. */
  function use(id: string): HttpSession | undefined {
    const httpSession = take(id);
    if (httpSession) add(httpSession);
    return httpSession;
  }

  /** Closes a session and forgets it. */
  const remove = (id: string) => take(id)?.close();

  return { add, use, remove, closeAll: () => [...entries.keys()].forEach(remove) };
}
