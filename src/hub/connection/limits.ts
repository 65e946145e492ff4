/** Limits and timeouts of connections to upstream servers, each with its reason. */

/** Bytes of one message. Results hold images and documents, so this is more than a request needs. */
export const MAX_MESSAGE = 32 * 1024 * 1024;
/** Bytes waiting for a process to read its stdin: two of the largest messages. A further request fails at once. */
export const MAX_UNREAD = 2 * MAX_MESSAGE;
/** Bytes of one line on stderr: a line is for people. */
export const MAX_STDERR_LINE = 8 * 1024;
/** The last lines that a server prints are kept, to say why it failed. npm prints some twenty. */
export const MAX_PRINTED_LINES = 50;
export const MAX_PRINTED = 64 * 1024; // Characters of these lines together.

/** Milliseconds between SIGTERM and SIGKILL. */
export const KILL_MS = 1000;
export const KILL_LOOK_MS = 50; // How often we look meanwhile whether a process is left.
/**
 * Milliseconds between SIGTERM and SIGINT. While it installs, npm ignores SIGTERM; when it is killed it leaves a lock that
 * delays the next start by a minute. SIGINT ends it within 0.3 s.
 */
export const INTERRUPT_MS = 500;
/** Milliseconds after an exit in which output that is still in the pipe is read. A grandchild may keep the pipe open. */
export const DRAIN_MS = 200;
/** Milliseconds between the end of a pipe and the end of the connection, in which the exit of the process may be reported. */
export const PIPE_CLOSED_MS = 1000;

/** Characters of a message while nothing but a subscription is pending. Notifications are short; a long one delays all else. */
export const MAX_UNSOLICITED = 1024 * 1024;

/** Responses to requests of a server that are sent at the same time. Over HTTP each takes a connection. */
export const MAX_REPLIES_AT_ONCE = 8;
/** Responses that wait. More than the requests in one chunk (64 KiB) of a pipe, so a server that reads never exceeds it. */
export const MAX_REPLIES_WAITING = 2000;
/** Milliseconds for a server to accept a response or notification of ours over HTTP. */
export const REPLY_MS = 10_000;

/** Lines before the first message. Servers print logs on stdout by mistake; a process that prints only logs is not a server. */
export const MAX_STRANGE_LINES = 100_000;
/** How many of them are logged: a few lines show what is going on. */
export const MAX_STRANGE_LOGGED = 5;

/** Characters of a server's name and version: they are shown to people. */
export const MAX_NAME = 200;
/** Milliseconds without a response to server/discover after which a ping shows whether the server ignores it, as old ones may. */
export const PROBE_MS = 3000;
/** Milliseconds without a response to that ping after which initialize is tried too. Most servers that npx starts are up by then. */
export const SILENCE_MS = 9000;

/** Milliseconds for a server to set its log level. The first call whose client wants log messages waits for it. */
export const LOG_LEVEL_MS = 3000;
/** Milliseconds for the answer to a request that is no longer waited for, but should still take effect. */
export const LATE_MS = 60_000;

/** Redirects that one request follows. */
export const MAX_REDIRECTS = 5;
/** Bytes of a body that is not a message: of an HTTP error that is not JSON, or of the response to a notification. */
export const MAX_OTHER_BODY = 64 * 1024;
/** Milliseconds in which a server may end an exchange that has served its purpose, so that the socket can be reused. */
export const LINGER_MS = 2000;
/** Milliseconds for DELETE of a session at the end. A server that does not get it forgets the session by itself. */
export const DELETE_MS = 1000;

/** Characters of an event id. It becomes a header, and servers accept 8 to 16 KiB of headers in all. */
export const MAX_EVENT_ID = 1024;
/** Milliseconds before a broken stream is resumed, when the server names none. */
export const DEFAULT_RETRY_MS = 1000;
export const MIN_RETRY_MS = 100; // The least, whatever the server names: it must not make us busy.
export const MAX_RETRY_MS = 60_000; // The most: a stream that is not resumed brings no notifications.

/** Parts of a tool's schema that are searched for header annotations. No real schema comes near it. */
export const MAX_SCHEMA_NODES = 20_000;

/**
 * Values in one message: a list of 150,000 tools has 2.4 million, and to parse four million takes 0.4 s. A message of 32 MiB
 * can have 22 million, which would hold every other client and server for seconds.
 */
export const MAX_RESPONSE_VALUES = 4_000_000;
