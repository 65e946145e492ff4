/** Limits and timeouts for what upstream servers list, each with its reason. Connections have their own (connection/). */

/** Items of one list: a hundred times what the largest real servers have. */
export const MAX_ITEMS = 10_000;
/** Pages of one list. */
export const MAX_PAGES = 1000;
/** Bytes of one list: ten thousand definitions of ordinary size. A page may have 32 MiB, so a limit on items is not enough. */
export const MAX_LIST_BYTES = 8 * 1024 * 1024;
/** Bytes of one item. A larger one is left out, so that it does not use up the limit of the list. */
export const MAX_ITEM_BYTES = 1024 * 1024;
/** Characters of a cursor. The cursors of a list are kept until it ends, to detect repeated pages. */
export const MAX_CURSOR = 4096;
/**
 * Milliseconds that a listing waits for the lists besides the tools, which are served when they come; and the time for
 * tools that a server does not announce.
 */
export const OTHER_LISTS_MS = 3000;

/** Characters of a tool's or skill's name. The protocol recommends less than this; no model API accepts half of it. */
export const MAX_NAME = 128;
/** Characters of a title, which is one line in a list for people. */
export const MAX_TITLE = 256;
/** Characters of a description. The longest of real tools have some ten thousand; every conversation pays for them. */
export const MAX_DESCRIPTION = 32_768;
/** Characters of a URI. Browsers and servers stop at 2 to 8 thousand. */
export const MAX_URI = 4096;
/** Levels of a tool's schema. Real ones have some ten; compilers of schemas are recursive, and so is our check. */
export const MAX_SCHEMA_DEPTH = 64;
/** Files of one skill. Hosts must accept 512; some real skills have twice that. */
export const MAX_SKILL_FILES = 4096;

/** Resource templates of one server. Real ones have a few. At the next limits too, one URI takes about 0.15 s (measured). */
export const MAX_TEMPLATES = 100;
export const MAX_TEMPLATE = 1024; // Characters of a template. Real ones have a hundred.
export const MAX_EXPRESSIONS = 10; // Of a template: the time of a match grows with them.
export const MAX_MATCHED_URI = 2048; // Characters of a URI that is matched: so does it with these.

/** Problems that are reported of one list: a server with ten thousand bad items must not fill the log. */
export const MAX_FAULTS = 20;
/** Characters of one problem: a line for people. */
export const MAX_FAULT = 400;
export const MAX_QUOTED_NAME = 60; // Characters of a name in it, so that the rest has room.
/** Characters of a reason or log line that a server causes, before secrets are removed: finding them takes time. */
export const MAX_LOGGED = 64 * 1024;
export const MAX_REASON = 1000; // Characters of a reason after that.

/** Milliseconds between two listings at least: changes often come in a burst. */
export const MIN_RELIST_MS = 500;
export const MAX_RELIST_MS = 8000; // The time doubles up to this while a server keeps announcing changes.
/** Milliseconds between two listings of a server that announces nothing: its `ttlMs`, but not less than this. */
export const MIN_TTL_MS = 60_000;

/** Milliseconds between two attempts to connect, doubled each time. */
export const MIN_BACKOFF_MS = 500;
/** The same at most, also between two tries of a list that fails, and of notifications that stop. */
export const MAX_BACKOFF_MS = 60_000;
/** Milliseconds of being ready after which the backoff starts again from its minimum. */
export const STABLE_MS = 60_000;
/** Milliseconds for which a disconnected server stays listed: longer than a restart takes. */
export const KEEP_LISTED_MS = 10_000;
/** Milliseconds that a call waits for a server that is about to be tried again. */
export const CALL_WAIT_MS = 5000;

/** Milliseconds for the response to a health check. */
export const PING_MS = 10_000;
/** Milliseconds until notifications that stopped are asked for again, doubled for each time in a row that they stopped early. */
export const MIN_REOPEN_MS = 1000;
/** Milliseconds that the first listing waits for notifications to begin. After that it is made again when they begin. */
export const FIRST_STREAM_MS = 300;
/** Milliseconds after which they have not stopped early. Shorter than any proxy keeps a quiet connection. */
export const LASTING_MS = 10_000;

/** Progress reports of one call that a client gets in a second. A person cannot read more. */
export const MAX_PROGRESS_PER_SECOND = 20;

/** Log messages of one server that clients get in a second: a burst of debug messages. */
export const MAX_MESSAGES_PER_SECOND = 50;
export const MAX_MESSAGE_DATA = 16 * 1024; // Characters of one: a stack trace. 800 kB in a second slow no client down.

/** Resources of one server that are subscribed to, by all clients together: as many as one client may have. */
export const MAX_FOLLOWED = 1000;
/** Milliseconds for a server to accept a subscription. The client's own subscription is accepted then at the latest. */
export const SUBSCRIBE_MS = 3000;

/** Values of one completion. The limit of the protocol: clients refuse a result with more. */
export const MAX_VALUES = 100;

/** Milliseconds for reading one SKILL.md. A search reads many, one after the other. */
export const READ_SKILL_MS = 10_000;
/** Bytes of upstream skill texts that are kept for searches, all servers together. */
export const MAX_SKILL_TEXTS = 16 * 1024 * 1024;
