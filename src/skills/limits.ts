/** Every limit and timeout of skills/, with its reason. The README's table is checked against these. */

const KIB = 1024;
const MIB = 1024 * KIB;

// --- finding skills ---

/** Levels below a root. A skill is rarely deeper than three; eight ends a walk that went astray. */
export const MAX_DEPTH = 8;
/** Directories below a root. */
export const MAX_DIRECTORIES = 50_000;
/** Skill paths in one plugin manifest: each is checked in every refresh, and the largest marketplace names 200. */
export const MOST_NAMED = 2000;

// --- reading a SKILL.md ---

/** A SKILL.md is instructions for a model; the largest of 8,111 public ones has 0.3 MB. */
export const MAX_SKILL_BYTES = MIB;
/** Bytes of front matter. The largest real block is a few KiB. */
export const MAX_HEAD = 32 * KIB;
/** White space in a row in front matter. The YAML parser takes quadratic time for it. */
export const MAX_BLANK = 1000;
/** Characters of a name. The specification allows 64; names are compared, listed and spelled all the time. */
export const LONGEST_NAME = 1000;
/** Bytes of skill texts held in memory. Texts beyond this are read again when asked for. */
export const MAX_TEXT_HELD = 64 * MIB;
/** Time between the two looks at a changed file that must agree before it is read. */
export const SETTLE_MS = 250;
/** Some programs save by deleting a file and writing it again: a missing file gets this long to come back. */
export const ABSENCE_MS = 50;

// --- the files of a skill ---

/** Files of a skill in `skills/list`: every host of the Skills extension accepts this many. */
export const MAX_SKILL_FILES = 512;
export const MAX_SKILL_TOTAL = 16 * MIB; // Bytes of these files together, for the same reason.
/** Directories of a skill in `skills/list`. Links between directories can make more of them than there are. */
export const MAX_SKILL_DIRECTORIES = 2048;
/** One file by `resources/read`. */
export const MAX_FILE_BYTES = 16 * MIB;
/** Larger files count as changed when their times change: reading them costs more than a needless notification. */
export const MAX_COMPARED = MIB;
/** File digests held in memory, some 400 bytes each. */
export const MOST_DIGESTS = 100_000;
/** A read that a change has overtaken is tried again. A program that saves in bursts is done after this. */
export const READ_ATTEMPTS = 5;
export const READ_PAUSE_MS = 60; // Between two attempts: five of them span a burst of saves.

// --- URIs ---

/** Segments of a URI. A skill lies at most 8 levels below its root; each segment costs a lookup. */
export const MOST_SEGMENTS = 128;
/** Characters of a name with a URI. Percent-encoding makes nine of one at most, which leaves room for a path. */
export const LONGEST_ADDRESSED = 512;
/** The longest path of most systems has 4096 bytes; percent-encoding triples it at most. */
export const LONGEST_URI = 3 * 4096;

// --- search ---

/** How long one search waits for upstream servers; a later answer is there for the next search. */
export const UPSTREAM_TEXTS_MS = 2000;
/** Characters of upstream texts that one search keeps, so that an excerpt needs no second request. */
export const MAX_UPSTREAM_TEXTS = 16 * MIB;
/** Skills of one upstream server that a search asks for at a time. */
export const UPSTREAM_LANES = 4;
