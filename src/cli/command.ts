/** A program and its commands, as tables: running them, help and README are read off these. */
import type { OptionTable } from './options.ts';
import type { Syntax, Values } from './parse.ts';

export interface Program {
  readonly name: string;
  readonly about: string;
  /** The one that is meant when none is named. */
  readonly main: Command;
  /** All, the main one first. Loaded when the main one is not enough: most starts name no command. */
  commands(): Promise<readonly Command[]>;
}

export interface Command<T extends OptionTable = OptionTable> extends Syntax {
  readonly options: T;
  /** One sentence or two. */
  readonly help: string;
  readonly examples: readonly string[];
  /** A number is the exit code. */
  run(values: Values<T>, words: readonly string[]): Promise<unknown>;
}

/** Derives the type of the values from the table of options. */
export function command<const T extends OptionTable>(one: Command<T>): Command {
  return one;
}
