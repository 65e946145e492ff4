/**
 * Lines for people, on stderr.
 * Owns: levels and escaping. Leaves alone: the stream, which is passed in.
 * Always true: a log line is one line; nothing from outside reaches a terminal unescaped; logging never throws.
 */
import { printable } from './text.ts';

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
