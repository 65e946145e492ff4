/**
 * The sessions of one endpoint, by their ids.
 * Owns: ids, how many there may be, how long an idle one is kept. Leaves alone: what a session holds.
 * Always true: an id cannot be guessed; a session in use is neither dropped nor expired.
 */
import { randomUUID } from 'node:crypto';

export interface Tenant {
  /** Something is being answered, or a stream is open. */
  isBusy(): boolean;
  /** The session is over; called once, when it leaves the table. */
  leave(): void;
}

export interface SessionTable<T extends Tenant> {
  readonly size: number;
  /** Takes a session in, in place of the one that has been idle longest if need be; undefined when all are in use. */
  add(tenant: T): string | undefined;
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

export function createSessionTable<T extends Tenant>(
  { most, idleMs }: SessionLimits = SESSION_LIMITS,
  now: () => number = () => performance.now(),
): SessionTable<T> {
  // A Map keeps the order of insertion, and use inserts anew: the first is the one unused longest.
  const tenants = new Map<string, { readonly tenant: T; readonly usedAt: number }>();

  function remove(id: string): boolean {
    const found = tenants.get(id);
    tenants.delete(id);
    found?.tenant.leave();
    return found !== undefined;
  }

  function dropIdlest(): boolean {
    for (const [id, { tenant }] of tenants) if (!tenant.isBusy()) return remove(id);
    return false;
  }

  return {
    get size() {
      return tenants.size;
    },
    add(tenant) {
      if (tenants.size >= most && !dropIdlest()) return undefined;
      const id = randomUUID();
      tenants.set(id, { tenant, usedAt: now() });
      return id;
    },
    use(id) {
      const found = tenants.get(id);
      if (!found) return undefined;
      tenants.delete(id);
      tenants.set(id, { tenant: found.tenant, usedAt: now() });
      return found.tenant;
    },
    remove,
    values: () => [...tenants.values()].map(({ tenant }) => tenant),
    sweep() {
      const oldest = now() - idleMs;
      for (const [id, { tenant, usedAt }] of tenants) {
        if (usedAt > oldest) return;
        if (!tenant.isBusy()) remove(id);
      }
    },
  };
}
