/** The four kinds of text in TOML: in double or single quotes, on one line or on several. */
import type { Scanner } from './scanner.ts';

/** Reads the text in quotes that begins here. */
export function readTomlString(scanner: Scanner, mayHaveLines: boolean): string {
  const { at: start, next: quote } = scanner;
  const hasLines = mayHaveLines && scanner.skip(quote.repeat(3));
  if (hasLines) scanner.pass(/\r?\n/y);
  else scanner.skip(quote);
  const end = hasLines ? quote.repeat(3) : quote;
  // Up to two more quotes before the end belong to the text.
  const raw =
    readUntil(scanner, end, start) + ((hasLines && scanner.take(quote === '"' ? /"{1,2}/y : /'{1,2}/y)) || '');
  return quote === '"' ? unescaped(scanner, raw, start) : raw;
}

// --- internal ---

/** Gives what is before the end, and goes past it. */
function readUntil(scanner: Scanner, end: string, start: number): string {
  const { text, at: first } = scanner;
  const hasEscapes = end.startsWith('"');
  for (let at = first; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\n' && end.length === 1) break;
    if (char === '\\' && hasEscapes) at++;
    else if (end.startsWith(char) && text.startsWith(end, at)) {
      scanner.at = at + end.length;
      return text.slice(first, at);
    }
  }
  return scanner.fail('the text in quotes has no end', start);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['t', '\t'],
  ['n', '\n'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\u001b'],
  ['"', '"'],
  ['\\', '\\'],
]);

function unescaped(scanner: Scanner, raw: string, start: number): string {
  if (!raw.includes('\\')) return raw;
  const invalid = () => scanner.fail('the text in quotes has an escape that is not valid', start);
  const codePoint = (hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : invalid();
  };
  return raw.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|[ \t]*\r?\n\s*|([\s\S]))/g,
    (_all, two?: string, four?: string, eight?: string, char?: string) => {
      const hex = two ?? four ?? eight;
      if (hex !== undefined) return codePoint(hex);
      // A backslash at the end of a line takes the break and the indentation away.
      return char === undefined ? '' : (ESCAPES.get(char) ?? invalid());
    },
  );
}
