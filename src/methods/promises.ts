/**
 * The digests that clients were given, so that none gets other bytes under one of them.
 * Owns: who was promised what. Leaves alone: where digests come from (skills/library.ts).
 * Always true:
 * - a promise holds for the session it was made in, and for no other;
 * - it holds until a newer one is made, its holder is told of a change, or the session ends.
 * A request over HTTP that stands alone is a session of its own: nobody can tell what its sender was promised before.
 * Memory: a URI and a digest, some 300 bytes, for at most MOST_PROMISES; the oldest go first.
 */
import { type Session, SHA256 } from '../protocol/index.ts';

export const MOST_PROMISES = 200_000;

export interface Promises {
  make(session: Session, uri: string, digest: string): void;
  /** The client has been told that this has changed: it knows better than to expect the old bytes. */
  release(session: Session, uri: string): void;
  /** Whether the bytes are those that were promised, or nothing was. */
  allow(session: Session, uri: string, bytes: Uint8Array): Promise<boolean>;
}

export function createPromises(): Promises {
  const held = new Map<Session, Map<string, string>>();
  let count = 0;

  function forget(session: Session): void {
    count -= held.get(session)?.size ?? 0;
    held.delete(session);
  }

  function release(session: Session, uri: string): void {
    if (held.get(session)?.delete(uri)) count--;
  }

  /** Of the session that has been silent about promises for longest. */
  function dropOldest(): void {
    const [[session, promises] = []] = held;
    if (!session || !promises) return;
    const [uri] = promises.keys();
    if (uri === undefined) forget(session);
    else release(session, uri);
  }

  function holdingsOf(session: Session): Map<string, string> {
    const known = held.get(session);
    if (!known) session.ended.addEventListener('abort', () => forget(session), { once: true });
    const promises = known ?? new Map<string, string>();
    held.delete(session);
    held.set(session, promises);
    return promises;
  }

  return {
    make(session, uri, digest) {
      if (session.ended.aborted) return;
      const promises = holdingsOf(session);
      release(session, uri);
      promises.set(uri, digest);
      count++;
      while (count > MOST_PROMISES) dropOldest();
    },
    release,
    async allow(session, uri, bytes) {
      const promised = held.get(session)?.get(uri);
      return promised === undefined || promised === (await digestOf(bytes));
    },
  };
}

// --- internal ---

/** Loaded when first needed: see skills/desk.ts. */
async function digestOf(bytes: Uint8Array): Promise<string> {
  const { createHash } = await import('node:crypto');
  return `${SHA256}${createHash('sha256').update(bytes).digest('hex')}`;
}
