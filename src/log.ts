/**
 * The log.
 * Owns: levels and escaping. Leaves alone: the stream, which is passed in.
 * Always true: an entry is one line; text from outside is escaped; logging never throws.
 */
import { printable } from './text.ts';

export const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof LEVELS)[number];

export type Log = Readonly<Record<Level, (text: string) => void>>;

/** `paint` may colour the level in a line. */
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

/** The message alone, for people. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whatever was thrown, as an error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** With the stack trace, for errors in this program. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
