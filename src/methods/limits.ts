/** Limits of requests, lists and notifications. A request beyond one is refused with -32602. */

/** A server's name, a colon and a tool's name of at most 128 characters; nothing that is served has a longer name. */
export const LONGEST_NAME = 4096;
/** Nothing that is listed has a longer URI: those of skills stop at a fifth of it. */
export const LONGEST_URI = 65_536;
/** A cursor is a hash and a name or a URI, in base64. */
export const LONGEST_CURSOR = 100_000;
/** Resources that one client may subscribe to; far more than any client shows, and each is compared at every refresh. */
export const MOST_SUBSCRIPTIONS = 1000;
/** Between two notifications that a list has changed: many clients fetch the whole list after each. */
export const SHORTEST_GAP_MS = 500;
/** Names of clients without a handshake that are kept and logged; a client may give itself a new one with each request. */
export const MOST_CLIENT_NAMES = 100;
/** Items of a page. SDK clients stop after 64 pages: this many give them 32,000 items. */
export const PAGE = 500;
/** Entries of a page of `skills/list`, which are larger: 64 pages are 16,000 skills. */
export const SKILLS_PAGE = 250;
/** Files in a page of `skills/list`. A file takes some 150 bytes, so a page stays around a megabyte. */
export const PAGE_FILES = 8192;

/** How long a modern client may keep a list that is announced when it changes. All that is served is this user's own. */
export const CACHE_BRIEFLY = { ttlMs: 1000, cacheScope: 'private' } as const;

/** The same for what files contain: it may change at any time. */
export const NO_CACHE = { ttlMs: 0, cacheScope: 'private' } as const;
