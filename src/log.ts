/**
 * The log: one line for each entry, at four levels.
 * Leaves alone: the stream, which is passed in. Always true: text from outside is escaped; logging never throws.
 */
import { printable } from './text.ts';

const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof LEVELS)[number];
export type Log = Readonly<Record<Level, (text: string) => void>>;

export function createLog(write: (line: string) => void, level: Level): Log {
  const at = (entry: Level) => (text: string) => {
    if (LEVELS.indexOf(entry) > LEVELS.indexOf(level)) return;
    write(`skillwire: ${entry === 'info' ? '' : `${entry}: `}${printable(text)}\n`);
  };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** The message of whatever was thrown, for people. */
export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** With the stack trace, for errors in this program. */
export const stackOf = (error: unknown) => (error instanceof Error && error.stack) || messageOf(error);
