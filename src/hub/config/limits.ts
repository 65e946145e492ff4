/** Limits of configuration files, and default timeouts, each with its reason. */

/** Milliseconds that a call may go without response or progress. Long calls are real, and clients have their own limits. */
export const DEFAULT_CALL_MS = 300_000;
/** Milliseconds for connecting, and for each list. The first start by npx downloads the server. */
export const DEFAULT_CONNECT_MS = 60_000;

/** Bytes of the user's files and of those given with --config. Some agents keep their history in them. */
export const MAX_FILE = 64 * 1024 * 1024;
/** Bytes of a project's file, which may come from a stranger and is read often. */
export const MAX_PROJECT_FILE = 4 * 1024 * 1024;
/** Bytes of the record of trusted files, which has one line per project. */
export const MAX_TRUST_RECORD = 4 * 1024 * 1024;
/** Milliseconds after which the lock of the record counts as left behind: one is held for some milliseconds. */
export const STALE_LOCK_MS = 3000;
/** Milliseconds between two attempts to take it. */
export const LOCK_LOOK_MS = 20;

/** Servers of one file. People have a few dozen, and each is a process. */
export const MAX_SERVERS = 500;
/** Characters of a server's name, which starts the name of each of its tools. */
export const MAX_SERVER_NAME = 64;
/** Characters of one entry after expansion. Linux gives a program about twice this for arguments and environment. */
export const MAX_ENTRY = 1024 * 1024;
/** Characters of one text in `include` or `exclude`. The parser of patterns throws at 64 KiB. */
export const MAX_PATTERN = 10_000;
/** Texts in `include` or `exclude`: each is tried on each tool. */
export const MAX_PATTERNS = 1000;
/** Characters of the name of a field or a variable in a message. */
export const MAX_NAME_SHOWN = 100;
