/** Limits of the server's own tools. */

/** A provider, a plugin and a name, each as long as a path may be. Longer texts cost time to compare and match nothing. */
export const LONGEST_SKILL_NAME = 4096;

/** The longest path that most systems accept. */
export const LONGEST_PATH = 4096;

/** The longest file that goes into a model's context in one piece; a resource may be longer. */
export const MAX_READ_BYTES = 4 * 1024 * 1024;

/** Characters of skill texts in one result of `skills.list`. A client that wants more gives a query. */
export const MAX_BODIES = 16 * 1024 * 1024;

/** Characters of a query; several sentences. */
export const LONGEST_QUERY = 500;

/** Comparing takes time that grows with the length of a word as well as of a text. */
export const LONGEST_WORD = 100;

/** Each word is looked for in every text. */
export const MOST_WORDS = 50;

/** Results of one search: the contract's number. */
export const MOST_RESULTS = 25;

/** Lines of a list in a text result; the structured result has all items. */
export const MOST_LINES = 50;

/** Characters of encoded `skill` results that are kept: the few skills that are loaded again and again fit in. */
export const MAX_ENCODED = 4 * 1024 * 1024;
