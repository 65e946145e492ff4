/**
 * Text that a parser reads from left to right, for the formats of configuration files (jsonc.ts, toml.ts).
 * Owns: the position, and the line and column of a fault. Leaves alone: the formats.
 */

/** What is wrong in the text of a file, and where. The message never quotes the text: it may hold secrets. */
export class SyntaxFault extends Error {
  override readonly name = 'SyntaxFault';
  readonly line: number;
  readonly column: number;

  constructor(what: string, text: string, at: number) {
    super(what);
    const before = text.slice(0, at);
    this.line = (before.match(/\r\n?|\n/g)?.length ?? 0) + 1;
    this.column = at - Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r'));
    // A byte order mark has no column.
    if (this.line === 1 && before.startsWith(BYTE_ORDER_MARK)) this.column--;
  }
}

export const BYTE_ORDER_MARK = '\ufeff';

/** Levels of values inside values. Configuration has a handful; a parser that calls itself cannot take any number. */
export const MAX_NESTING = 500;

/** Sets a member of an object. An assignment to `__proto__` would set something else. */
export function define(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

export class Scanner {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
    this.skip(BYTE_ORDER_MARK);
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** The character here; empty at the end. */
  get next(): string {
    return this.text.charAt(this.at);
  }

  /** Goes past this text if it is here. */
  skip(wanted: string): boolean {
    if (!this.text.startsWith(wanted, this.at)) return false;
    this.at += wanted.length;
    return true;
  }

  /** Goes past what a sticky pattern matches here, if it does. */
  pass(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const isHere = pattern.test(this.text);
    if (isHere) this.at = pattern.lastIndex;
    return isHere;
  }

  /** The same, and gives what it has passed; undefined when the pattern does not match. */
  take(pattern: RegExp): string | undefined {
    const start = this.at;
    return this.pass(pattern) ? this.text.slice(start, this.at) : undefined;
  }

  fail(what: string, at = this.at): never {
    throw new SyntaxFault(what, this.text, at);
  }
}
