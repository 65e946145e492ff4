/** Limits of the arguments and the results of the server's own tools. */

/** A provider, a plugin and a name, each as long as a path may be. Longer texts cost time to compare and match nothing. */
export const LONGEST_SKILL_NAME = 4096;
/** Characters of a query; several sentences. */
export const LONGEST_QUERY = 500;
/** Of a query: comparing takes time that grows with the length of a word as well as of a text. */
export const LONGEST_WORD = 100;
/** Of a query: each word is looked for in every text. */
export const MOST_WORDS = 50;
/** Results of one search: the contract's number. */
export const MOST_RESULTS = 25;
/** The same when the client does not say how many it wants. */
export const DEFAULT_LIMIT = 10;
/** Lines of a list in a text result; the structured result has all items. */
export const MOST_LINES = 50;
/** Characters of skill texts in one result. A client that wants more gives a query. */
export const MAX_BODIES = 16 * 1024 * 1024;
