/**
 * The sessions of legacy clients over streamable HTTP: one session with its streams, and the table of all of them.
 * Owns: ids, how many there may be, how long an idle one is kept, which stream a notification goes to.
 * Leaves alone: responses, which leave on the POST of their request (post-response.ts).
 * Always true: an id cannot be guessed; a session in use is neither dropped nor expired; a notification goes to one stream
 * only, and waits for the next one while there is none.
 */
import { randomUUID } from 'node:crypto';
import { createSession, type Session } from '../../protocol/index.ts';
import type { EventStream } from './event-stream.ts';
import { MAX_STREAMS, MAX_WAITING, SESSION_LIMITS } from './limits.ts';

export interface HttpSession {
  readonly session: Session;
  /** A message is being answered, until `end`. */
  begin(): void;
  end(): void;
  attach(stream: EventStream): void;
  detach(stream: EventStream): void;
  /** A message is being answered, or a stream is open. */
  isBusy(): boolean;
  /** Ends the session and its streams. */
  close(): void;
}

export function createHttpSession(): HttpSession {
  const streams: EventStream[] = [];
  // By what they announce: of several about the same list or resource only the last is sent.
  const waiting = new Map<string, string>();
  let messages = 0;
  const session = createSession((text) => {
    // The newest stream: an older one may be lost already.
    const stream = streams.at(-1);
    if (stream) return stream.send(text);
    const { method, params } = JSON.parse(text);
    const key = `${method} ${params?.uri}`;
    waiting.delete(key);
    waiting.set(key, text);
    const [oldest] = waiting.keys();
    if (waiting.size > MAX_WAITING && oldest !== undefined) waiting.delete(oldest);
  });
  return {
    session,
    begin: () => void messages++,
    end: () => void messages--,
    attach(stream) {
      streams.push(stream);
      for (const text of waiting.values()) stream.send(text);
      waiting.clear();
      if (streams.length > MAX_STREAMS) streams.shift()?.end();
    },
    detach(stream) {
      const at = streams.indexOf(stream);
      if (at !== -1) streams.splice(at, 1);
    },
    isBusy: () => messages > 0 || streams.length > 0,
    close() {
      session.end();
      for (const stream of streams.splice(0)) stream.end();
    },
  };
}

export interface SessionTable<T> {
  readonly size: number;
  /** Adds a session, in place of the one idle longest if the table is full; undefined when all are in use. */
  add(session: T): string | undefined;
  /** Finds a session and counts that as use of it. */
  use(id: string): T | undefined;
  /** Closes a session and forgets it. */
  remove(id: string): boolean;
  /** Removes the sessions that have been idle too long. */
  removeIdle(): void;
  closeAll(): void;
}

export function createSessionTable<T extends Pick<HttpSession, 'isBusy' | 'close'>>(
  { most, idleMs } = SESSION_LIMITS,
  now: () => number = () => performance.now(),
): SessionTable<T> {
  // A Map keeps the order of insertion, and `use` inserts again: the first one has been unused longest.
  const entries = new Map<string, { readonly session: T; readonly usedAt: number }>();

  function remove(id: string): boolean {
    const found = entries.get(id);
    entries.delete(id);
    found?.session.close();
    return found !== undefined;
  }

  function removeIdlest(): boolean {
    for (const [id, { session }] of entries) if (!session.isBusy()) return remove(id);
    return false;
  }

  return {
    get size() {
      return entries.size;
    },
    add(session) {
      if (entries.size >= most && !removeIdlest()) return undefined;
      const id = randomUUID();
      entries.set(id, { session, usedAt: now() });
      return id;
    },
    use(id) {
      const found = entries.get(id);
      if (!found) return undefined;
      entries.delete(id);
      entries.set(id, { session: found.session, usedAt: now() });
      return found.session;
    },
    remove,
    removeIdle() {
      const oldest = now() - idleMs;
      for (const [id, { session, usedAt }] of entries) {
        if (usedAt > oldest) return;
        if (!session.isBusy()) remove(id);
      }
    },
    closeAll() {
      for (const { session } of entries.values()) session.close();
    },
  };
}
