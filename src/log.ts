/**
 * Lines for people, on stderr.
 * Owns: levels and escaping. Leaves alone: the stream, which is passed in.
 * Always true: a log line is one line; nothing from outside reaches a terminal unescaped; logging never throws.
 */

export const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof LEVELS)[number];

export type Log = Readonly<Record<Level, (text: string) => void>>;

/** `paint` may colour the word that says how bad a line is. */
export function createLog(
  write: (line: string) => void,
  level: Level,
  paint: (level: Level) => string = (own) => own,
): Log {
  const most = LEVELS.indexOf(level);
  const at = (own: Level) => (text: string) => {
    if (LEVELS.indexOf(own) <= most) write(`skillwire: ${own === 'info' ? '' : `${paint(own)}: `}${printable(text)}\n`);
  };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** One line without control, direction-changing or line-separating characters: safe for a terminal, a header, a log. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => ESCAPES.get(char) ?? `\\u${hex(char)}`);
}

/** A name that looks the same wherever it is shown: on one line, without what `printable` or XML would have to replace. */
export function speakable(name: string): string {
  return name
    .replace(/\s+/g, ' ')
    .replace(UNPRINTABLE, '')
    .replace(/[\ufffe\uffff]/g, '')
    .trim();
}

/** An error as a person wants it: the message alone. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whatever was thrown, as an error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** An error that is our own fault, whole: with the way to where it happened. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

// --- internal ---

// C0, DEL and C1 drive terminals; U+2028/9 break lines; the bidi controls reorder what is read.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', ' '],
]);

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, '0');
}
