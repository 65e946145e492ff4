/** A program and its commands, as tables: running them, help and README are read off these. */
import type { OptionTable } from './options.ts';
import type { Syntax, Values } from './parse.ts';

export interface Program {
  readonly name: string;
  readonly about: string;
  /** The first one is the default. */
  readonly commands: readonly Command[];
}

export interface Command<T extends OptionTable = OptionTable> extends Syntax {
  readonly options: T;
  /** One sentence or two. */
  readonly help: string;
  readonly examples: readonly string[];
  /** A number is the exit code. */
  run(values: Values<T>, words: readonly string[]): Promise<unknown>;
}
