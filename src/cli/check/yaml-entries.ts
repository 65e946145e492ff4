/**
 * Where the keys and values of front matter stand in its source, and how a value is written as YAML.
 * Leaves alone: what the values are (skills/front-matter-values.ts).
 * Always true: it takes time linear in the source; a key in a form that it does not know is missing, never misplaced.
 */

export interface YamlEntry {
  readonly key: string;
  /** Offsets in the text: of the key, and of the value on the line of its key, which may be empty. */
  readonly at: number;
  readonly start: number;
  readonly end: number;
  /** The end of the last line that belongs to the entry. */
  readonly last: number;
}

/** The entries of the mapping whose source is between two offsets of a text. */
export function entriesIn(text: string, from: number, to: number): readonly YamlEntry[] {
  const entries: YamlEntry[] = [];
  let indent: number | undefined;
  for (const { 1: line = '', index } of text.slice(from, to).matchAll(LINE)) {
    const content = line.trimEnd();
    const own = content.search(/\S/);
    if (own === -1 || content[own] === '#') continue;
    indent ??= own;
    const at = from + index + own;
    const last = from + index + content.length;
    const found = own === indent ? KEY.exec(content.slice(own)) : null;
    const key = found?.[1] ?? found?.[2] ?? found?.[3];
    if (key !== undefined) entries.push({ key, at, start: last - (found?.[4] ?? '').length, end: last, last });
    else {
      const before = entries.pop();
      if (before) entries.push({ ...before, last });
    }
  }
  return entries;
}

/** The entries of the mapping that is the value of an entry, when each has a line of its own. */
export function entriesBelow(text: string, { start, end, last }: YamlEntry): readonly YamlEntry[] {
  return start === end ? entriesIn(text, end, last) : [];
}

/** Whether the value is on the line of its key as a whole. */
export const isOneLine = ({ end, last }: YamlEntry) => end === last;

/** The end of a value on one line, without the comment after it. */
export function endOfValue(text: string, { start, end }: YamlEntry): number {
  const value = text.slice(start, end);
  const [quoted] = QUOTED.exec(value) ?? [];
  if (quoted !== undefined) return start + quoted.length;
  const comment = value.indexOf(' #');
  return comment === -1 ? end : start + value.slice(0, comment).trimEnd().length;
}

/** A text of one line as a YAML value. */
export function quote(text: string): string {
  return /["\\]/.test(text) ? `'${text.replaceAll("'", "''")}'` : `"${text}"`;
}

/** The same, without quotes when every YAML parser takes it for text. */
export function plainOrQuoted(text: string): string {
  return PLAIN.test(text) && !NOT_TEXT.test(text) ? text : quote(text);
}

// --- internal ---

const LINE = /([^\r\n]*)(?:\r\n|[\r\n]|$)/g;
// A key of usual length. The value begins behind the colon and blanks.
const KEY = /^(?:"([^"\\]{1,200})"|'([^']{1,200})'|([^\s:"'#&*!|>%@`[\]{},?-][^:]{0,200}?))[ \t]*:(?:[ \t]+(.*))?$/;
const QUOTED = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/;
const PLAIN = /^[A-Za-z](?:[\w()*./@ -]|:(?! |$))*$/;
const NOT_TEXT = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
