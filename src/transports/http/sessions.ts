/**
 * The sessions of legacy clients over HTTP: one session with its stream, and a table of them.
 * Owns: ids, how many there may be, how long an idle one is kept, how many requests of one run at once, where a notification
 * goes that belongs to no request. Leaves alone: replies (streamable.ts, sse.ts).
 * Always true: an id cannot be guessed; a session with an open stream or a running call does not expire, and is the
 * last to go when there are too many.
 */
import { randomUUID } from 'node:crypto';
import { MAX_RUNNING, MAX_SESSIONS, MAX_WAITING, SESSION_IDLE_MS } from '../../limits.ts';
import { createSession, type Incoming } from '../../protocol/index.ts';
import { Refusal } from './request.ts';
import type { EventStream } from './streams.ts';

export type HttpSession = ReturnType<typeof createHttpSession>;

/** `hasRoom`: whether another request may run now; `proceed` is called when that changes. */
export function createHttpSession(hasRoom = () => true) {
  let stream: EventStream | undefined;
  // What waits for the next stream: of several notifications that a list has changed, the last.
  const held = new Map<string, string>();
  const session = createSession((text) => {
    if (stream) stream.send(text);
    else held.set(JSON.parse(text).method, text);
  });
  let running = 0;
  const waiting: (() => void)[] = [];
  const proceed = () => {
    for (; running < MAX_RUNNING && waiting.length > 0 && hasRoom(); running++) waiting.shift()?.();
  };
  return {
    id: randomUUID(),
    session,
    proceed,
    /** Answers a message; `turn` settles when its requests may run. Notifications and open subscriptions do not wait. */
    async inTurn({ isLimited }: Incoming, answer: (turn: Promise<void> | undefined) => Promise<void>): Promise<void> {
      if (!isLimited) return answer(undefined);
      if (waiting.length >= MAX_WAITING) throw new Refusal(503, 'too many requests wait', { 'retry-after': '1' });
      const turn = new Promise<void>((start) => void waiting.push(start));
      proceed();
      await answer(turn);
      await turn; // One whose id is in flight is answered before its turn.
      running--;
      proceed();
    },
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
      // They are cancelled, so nothing runs.
      for (const start of waiting.splice(0)) start();
    },
  };
}

export function createSessionTable<T extends HttpSession>() {
  // A Map keeps the order of insertion, and `use` inserts again: the first one has been idle longest.
  const entries = new Map<string, { readonly httpSession: T; readonly expiry: NodeJS.Timeout }>();

  /** Adds a session. When there are too many, the one that has been idle longest is removed. */
  function add(httpSession: T): void {
    const { id, isBusy } = httpSession;
    if (entries.size >= MAX_SESSIONS) {
      const [oldest = ''] = entries.keys();
      remove([...entries.values()].find((entry) => !entry.httpSession.isBusy())?.httpSession.id ?? oldest);
    }
    const expiry = setTimeout(() => void (isBusy() ? use(id) : remove(id)), SESSION_IDLE_MS).unref();
    entries.set(id, { httpSession, expiry });
  }

  function take(id: string): T | undefined {
    const entry = entries.get(id);
    clearTimeout(entry?.expiry);
    entries.delete(id);
    return entry?.httpSession;
  }

  /** Finds a session and counts that as use of it. */
  function use(id: string): T | undefined {
    const httpSession = take(id);
    if (httpSession) add(httpSession);
    return httpSession;
  }

  /** Closes a session and forgets it. */
  const remove = (id: string) => take(id)?.close();

  return { add, use, remove, closeAll: () => [...entries.keys()].forEach(remove) };
}
