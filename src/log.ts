/**
 * The log.
 * Owns: levels and escaping. Leaves alone: the stream, which is passed in.
 * Always true: an entry is one line; text from outside is escaped; logging never throws.
 */
import { printable } from './text.ts';

const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof LEVELS)[number];

export type Log = Readonly<Record<Level, (text: string) => void>>;

/** `paint` may colour the level in a line. */
export function createLog(
  write: (line: string, level: Level) => void,
  level: Level,
  paint: (level: Level) => string = (own) => own,
): Log {
  const most = LEVELS.indexOf(level);
  const at = (own: Level) => (text: string) => {
    if (LEVELS.indexOf(own) > most) return;
    write(`skillwire: ${own === 'info' ? '' : `${paint(own)}: `}${printable(text)}\n`, own);
  };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** Whatever was thrown, as an error. */
export const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

/** The message alone, for people. */
export const messageOf = (error: unknown) => asError(error).message;

/** With the stack trace, for errors in this program. */
export const stackOf = (error: unknown) => asError(error).stack ?? messageOf(error);
