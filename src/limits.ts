/**
 * Every limit and time-out of the program: name, number, reason. `npm run audit` prints this table. protocol/ has its own
 * few, so that it can be copied alone. Times are in milliseconds.
 */
const KIB = 1024;
const MIB = 1024 * KIB;

// --- finding skills ---
export const MAX_DEPTH = 8; // Levels below a root. A skill is rarely deeper than three; this ends a walk that went astray.
export const MAX_DIRECTORIES = 50_000; // Directories below a root, for the same reason.
export const MAX_SKILL_BYTES = MIB; // Bytes of a SKILL.md: the largest of 8,111 public ones has 0.3 MB.
export const MAX_TEXT_HELD = 256 * MIB; // Bytes of all SKILL.md texts in memory; further skills are left out.
export const MAX_HEAD = 16 * KIB; // Bytes of front matter. The largest real block has a few thousand.
export const MAX_HEAD_DEPTH = 32; // Levels of lists and maps in it: aliases can make endless ones.
export const MAX_BLANK = 200; // White space in a row in it: the YAML package takes quadratic time for that.
export const MAX_NAME = 1000; // Characters of a skill's name. The specification allows 64; names are compared all the time.
export const MAX_JSON_BYTES = 16 * MIB; // Bytes of a JSON file. Some agents keep their history in theirs: megabytes, not more.
export const SLICE_MS = 4; // Work between two turns of the event loop: so long a request may wait for a scan.
export const SETTLE_MS = 250; // A known file that changed this recently may be half written; it is read after one such wait.
export const RECENT_MS = 2000; // One that changed this recently is read again next time: its times may hide a second change.

// --- files of a skill ---
export const MAX_SKILL_FILES = 512; // Files of a skill in `skills/list`: every host of the Skills extension accepts this many.
export const MAX_SKILL_TOTAL = 16 * MIB; // Bytes of these files together, for the same reason.
export const MAX_FILE_BYTES = 16 * MIB; // Bytes of one file by `resources/read` or `skills.read`.
export const MAX_SEGMENTS = 128; // Segments of a skill's URI: a skill is at most 8 levels deep, and each costs a lookup.

// --- filters and names ---
export const MAX_PATTERN = 128; // Characters of a pattern: the time of picomatch grows with them.
export const MAX_MATCHED_NAME = 256; // Characters of a name that is compared with a pattern, for the same reason.
export const MAX_STARS = 4; // Stars and braces of a pattern: the time grows with a power of their number. Four take 0.7 s for the worst name.
export const MAX_SUGGESTIONS = 5; // Suggestions for a misspelt name: more would not help a model to choose.
export const MAX_COMPARED = 100; // Characters of a word that is compared by its edits: the time grows with the square.
export const MAX_EDITS = 6; // Edits between a misspelt word and a suggestion: with more of them, another name was meant.
export const MAX_ECHO = 200; // Characters of a name or path in a message: it may have thousands.

// --- refresh ---
export const REFRESH_MS = 30_000; // Between two timed refreshes: the contract's number.
export const DEBOUNCE_MS = 500; // A burst of changes is over after this; also the least time between two notifications.
export const FIRST_WATCH_MS = 250; // Between first scan and first watches: 10,000 take 130 ms, and the first list goes before.
export const MAX_TIMER_MS = 2 ** 31 - 1; // The longest time that a timer can have.

// --- requests ---
export const MAX_RUNNING = 64; // Requests of one connection that run at once; an agent has a handful. Subscriptions apart.
export const MAX_WAITING = 1000; // Requests that wait for that, whatever their size. Past it nothing is read (HTTP: 503).
export const MAX_UNREAD = 4 * MIB; // Bytes that a client has not read. Past it nothing is read from its pipe, and a stream is dropped.
export const PAGE = 500; // Items of a page. SDK clients stop after 64 pages: this many give them 32,000 items.
export const SKILLS_PAGE = 250; // Entries of a page of `skills/list`, which are larger.
export const MAX_URI = 65_536; // Characters of a URI in a request. Nothing that is listed has a longer one.
export const MAX_QUERY = 500; // Characters of a query, which is compared with every skill.
export const MAX_RESULTS = 25; // Results of one search: the contract's number.
export const DEFAULT_RESULTS = 10; // Results of one search when the client gives no limit.
export const EXCERPT = 160; // Characters of the text around a match: the contract's number.
export const MAX_BODIES = 16 * MIB; // Characters of texts in one `skills.list`. A client that wants more gives a query.
export const MAX_LINES = 50; // Lines of a list in a text; the structured result has all items.
export const MIN_BUDGET = 200; // Characters of a description that a user can ask for. The text around the names has more than half of it.
export const SMALL_BUDGET = 2000; // Characters of a description that lists the skills: Claude Code cuts at 2048.
export const GENERAL_BUDGET = 20_000; // The same where nothing is known of the client: some 60 skills in full.
export const LEAST_ABOUT = 12; // Fewest characters of a skill's description in a compact list. With less room, all are left out.
export const MAX_ABOUT = 160; // Characters of a description in a line of a text: as much as tells what the skill is for.
export const SAFE_NAME = 64; // Characters of a tool's name: what most model APIs take.
export const SHORT_NAME = 45; // The same for hosts that put a prefix before it and limit the whole to 60.

// --- hub: servers and their lists ---
export const MAX_HOPS = 2; // Hubs inside each other. More than this we have not met; a loop ends here.
export const MAX_SERVER_NAME = 64; // Characters of a server's name, which begins the name of each of its tools.
export const MAX_ITEM_NAME = 128; // Characters of an item's own name, of a title, of an introduction. No API takes half of it.
export const MAX_DESCRIPTION = 32 * KIB; // Characters of a description. The longest real ones have some ten thousand.
export const MAX_ITEM_URI = 4096; // Characters of a resource's URI or template. Browsers and servers stop at 2 to 8 thousand.
export const MAX_ITEM_DEPTH = 64; // Levels of an item. Real ones have some ten; compilers of schemas are recursive.
export const MAX_ITEMS = 10_000; // Items and pages of one list: ten times what the largest real servers have.
export const MAX_LIST_LENGTH = 8 * MIB; // Characters of one list, for the same reason.
export const MAX_ITEM_LENGTH = MIB; // Characters of one item, for the same reason.
export const MAX_FAULTS = 20; // Faults that are reported of one list: a server with many must not fill the log.
export const OTHER_LISTS_MS = 1000; // For the other lists when the tools are there: one that hangs must not withhold the tools.
export const RELIST_MS = 60_000; // A list is asked for again without an announced change: the contract's number.
export const BACKOFF_MS = 1000; // Before a server is tried again: at once, then this, doubled up to the next.
export const MAX_BACKOFF_MS = 60_000; // Longest wait between two attempts; also the time of being ready after which failures are forgotten.
export const HEALTH_MS = 30_000; // Between two health checks: the contract's number.
export const CALL_WAIT_MS = 5000; // A call waits this long for an attempt to connect: the contract's number.
export const FIRST_LOAD_MS = 3000; // The first snapshot waits this long for servers that are connecting: the contract's number.
export const MAX_REASON = 3 * KIB; // Characters of the reason for a server's state; it may quote its stderr.
export const CALL_MS = 300_000; // Without an answer or progress. Long calls are real, and clients have limits of their own.

// --- hub: connections ---
export const SILENCE_MS = 3000; // Without an answer to `server/discover`, `initialize` is tried: the contract's number.
export const SETUP_MS = 60_000; // For a request of a handshake, or all pages of a list. npx may have to download the server.
export const TURN_BYTES = 16 * KIB; // Bytes of a program's output that are read in one turn: it may print without end.
export const MAX_REPLIES = 100; // Responses of ours that a server has not taken. Further requests of it are not answered.
export const MAX_PRINTED_LINES = 20; // Of a program's stderr, the reason for its end: the contract's number.
export const MAX_PRINTED = 2 * KIB; // Characters of these lines: the contract's number.
export const EXIT_MS = 1500; // Between the end of a program's stdin and SIGTERM.
export const KILL_MS = 1000; // Between that and SIGKILL: both fit into the last ten seconds.
export const KILL_LOOK_MS = 50; // Between two looks at whether a process of the group is left.
export const DRAIN_MS = 500; // How long a program's output may follow its exit, or its exit the end of its output.
export const REPLY_MS = 10_000; // For a server to answer a health check, or to accept a message of ours over HTTP.
export const IDLE_SOCKET_MS = 4000; // An idle socket is closed: most servers do so after five seconds, perhaps as a call comes.
export const LINGER_MS = 2000; // For a server to end a response that is no longer needed, or a session.
export const MAX_EVENT_ID = 1024; // Characters of an event id. It becomes a header, and servers accept 8 to 16 KiB of them.
export const MIN_RETRY_MS = 100; // Before a broken stream is taken up again, whatever less the server asks for.

// --- http ---
export const REQUEST_MS = 20_000; // For headers and body of a request; with REQUEST_CHECK_MS under the contract's 30 seconds.
export const REQUEST_CHECK_MS = 5000; // Between two checks of that.
export const IDLE_CONNECTION_MS = 65_000; // Longer than the minute of load balancers, so that they close an idle connection and we do not.
export const KEEP_ALIVE_MS = 15_000; // Between two comments on an event stream: proxies close one that is silent for 30 seconds.
export const MAX_SESSIONS = 1000; // Past it the one that was idle longest ends; its client gets 404 and opens another.
export const SESSION_IDLE_MS = 30 * 60_000; // An agent is idle while its user thinks or lunches.

// --- commands, the log, the end ---
export const PROGRESS_MS = 500; // A command that takes longer shows on a terminal what it waits for.
export const SERVERS_MS = 10_000; // For upstream servers of a command: nobody waits longer for a list.
export const DIAGNOSIS_MS = 2 * SETUP_MS; // The same for `doctor`: a server fails by its own time-outs before.
export const MAX_UNREAD_LOG = 256 * KIB; // Bytes of lines that stderr has not taken; further lines are dropped.
export const LAST_MS = 9000; // After the last read: for answers to be made and read. With what follows, the exit is within 10 s.
export const LAST_CALLS_MS = 6000; // Of that, how long calls to upstream servers may take: their processes need the rest to end.
