/** How long a modern client may keep a result. What is served is this user's own, so it is never shared. */

/** For lists that are announced when they change. */
export const CACHE_BRIEFLY = { ttlMs: 1000, cacheScope: 'private' } as const;

/** For what files contain: it may change at any time. */
export const NO_CACHE = { ttlMs: 0, cacheScope: 'private' } as const;
