/**
 * The sessions of legacy clients over streamable HTTP: one session with its streams, and the table of all of them.
 * Owns: ids, how many there may be, how long an idle one is kept, which stream a notification goes to.
 * Leaves alone: responses, which leave on the POST of their request (streamable.ts).
 * Always true: an id cannot be guessed; a session in use is neither dropped nor expired; a notification goes to one stream
 * only, and waits for the next one while there is none.
 */
import { randomUUID } from 'node:crypto';
import { createSession } from '../../protocol/index.ts';
import type { EventStream } from './event-stream.ts';
import { MAX_STREAMS, MAX_WAITING, SESSION_LIMITS } from './limits.ts';

export type HttpSession = ReturnType<typeof createHttpSession>;

export function createHttpSession() {
  const streams = new Set<EventStream>();
  // By what they announce: of several about the same list or resource only the last is sent.
  const waiting = new Map<string, string>();
  let messages = 0;
  const session = createSession((text, mayDrop) => {
    // The newest stream: an older one may be lost already.
    const stream = [...streams].at(-1);
    if (stream) return stream.send(text, mayDrop);
    const { method, params } = JSON.parse(text);
    const key = `${method} ${params?.uri}`;
    waiting.delete(key);
    waiting.set(key, text);
    const [oldest = ''] = waiting.keys();
    if (waiting.size > MAX_WAITING) waiting.delete(oldest);
  });
  return {
    session,
    /** A message is being answered, until `end`. */
    begin: () => void messages++,
    end: () => void messages--,
    attach(stream: EventStream): void {
      streams.add(stream);
      for (const text of waiting.values()) stream.send(text);
      waiting.clear();
      const [oldest = stream] = streams;
      if (streams.size <= MAX_STREAMS) return;
      streams.delete(oldest);
      oldest.end();
    },
    detach: (stream: EventStream) => void streams.delete(stream),
    isBusy: () => messages > 0 || streams.size > 0,
    /** Ends the session and its streams. */
    close(): void {
      session.end();
      for (const stream of streams) stream.end();
    },
  };
}

export function createSessionTable<T extends Pick<HttpSession, 'isBusy' | 'close'>>(
  { most, idleMs } = SESSION_LIMITS,
  now: () => number = () => performance.now(),
) {
  // A Map keeps the order of insertion, and `use` inserts again: the first one has been unused longest.
  const entries = new Map<string, { readonly session: T; readonly usedAt: number }>();

  /** Closes a session and forgets it. */
  function remove(id: string): void {
    const found = entries.get(id);
    entries.delete(id);
    found?.session.close();
  }

  /** Removes up to `count` sessions that were not used after `time`, those idle longest first. */
  function removeUnused(time: number, count: number): void {
    for (const [id, { session, usedAt }] of entries) {
      if (usedAt > time || count === 0) return;
      if (session.isBusy()) continue;
      remove(id);
      count--;
    }
  }

  return {
    get size(): number {
      return entries.size;
    },
    /** Adds a session, in place of the one idle longest if the table is full; undefined when all are in use. */
    add(session: T): string | undefined {
      if (entries.size >= most) removeUnused(now(), 1);
      if (entries.size >= most) return undefined;
      const id = randomUUID();
      entries.set(id, { session, usedAt: now() });
      return id;
    },
    /** Finds a session and counts that as use of it. */
    use(id: string): T | undefined {
      const session = entries.get(id)?.session;
      entries.delete(id);
      if (session) entries.set(id, { session, usedAt: now() });
      return session;
    },
    remove,
    removeIdle: () => removeUnused(now() - idleMs, Number.POSITIVE_INFINITY),
    closeAll(): void {
      for (const { session } of entries.values()) session.close();
    },
  };
}
