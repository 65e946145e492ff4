/**
 * The sessions of one endpoint, by their ids.
 * Owns: ids, how many there may be, how long an idle one is kept. Leaves alone: what a session holds.
 * Always true: an id cannot be guessed; a session in use is neither dropped nor expired.
 */
import { randomUUID } from 'node:crypto';

export interface SessionEntry {
  /** Something is being answered, or a stream is open. */
  isBusy(): boolean;
  /** The session is over; called once, when it leaves the table. */
  leave(): void;
}

export interface SessionTable<T extends SessionEntry> {
  readonly size: number;
  /** Takes a session in, in place of the one that has been idle longest if need be; undefined when all are in use. */
  add(entry: T): string | undefined;
  /** Finds a session and counts that as use of it. */
  use(id: string): T | undefined;
  remove(id: string): boolean;
  values(): Iterable<T>;
  /** Drops what has been idle too long. */
  sweep(): void;
}

export interface SessionLimits {
  readonly most: number;
  readonly idleMs: number;
}

// Agents sit idle while their user thinks or lunches; a client whose session is gone gets 404 and opens another.
export const SESSION_LIMITS: SessionLimits = { most: 1000, idleMs: 30 * 60_000 };

export function createSessionTable<T extends SessionEntry>(
  { most, idleMs }: SessionLimits = SESSION_LIMITS,
  now: () => number = () => performance.now(),
): SessionTable<T> {
  // A Map keeps the order of insertion, and use inserts anew: the first is the one unused longest.
  const tenants = new Map<string, { readonly entry: T; readonly usedAt: number }>();

  function remove(id: string): boolean {
    const found = tenants.get(id);
    tenants.delete(id);
    found?.entry.leave();
    return found !== undefined;
  }

  function dropIdlest(): boolean {
    for (const [id, { entry }] of tenants) if (!entry.isBusy()) return remove(id);
    return false;
  }

  return {
    get size() {
      return tenants.size;
    },
    add(entry) {
      if (tenants.size >= most && !dropIdlest()) return undefined;
      const id = randomUUID();
      tenants.set(id, { entry, usedAt: now() });
      return id;
    },
    use(id) {
      const found = tenants.get(id);
      if (!found) return undefined;
      tenants.delete(id);
      tenants.set(id, { entry: found.entry, usedAt: now() });
      return found.entry;
    },
    remove,
    values: () => [...tenants.values()].map(({ entry }) => entry),
    sweep() {
      const oldest = now() - idleMs;
      for (const [id, { entry, usedAt }] of tenants) {
        if (usedAt > oldest) return;
        if (!entry.isBusy()) remove(id);
      }
    },
  };
}
