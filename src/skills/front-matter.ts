/**
 * From the text of a SKILL.md to its name and description.
 * Owns: where front matter begins and ends, and which mistakes in it are tolerated. Leaves alone: files (scan.ts), YAML's
 * grammar (the front-matter package), the types of other fields (front-matter-values.ts).
 * Always true: `readHead` never throws, takes time linear in the block, and keeps only text of the YAML.
 */
import { messageOf } from '../log.ts';
import type { Problem } from '../model.ts';
import { MAX_BLANK, MAX_HEAD } from './limits.ts';

export interface SkillHead {
  readonly name: string;
  readonly description: string;
}

export type HeadReading =
  /** `note`: which mistake was tolerated. */
  | { readonly kind: 'read'; readonly head: SkillHead; readonly note: string | undefined }
  | { readonly kind: 'unusable'; readonly why: string };

/** Synchronous for most files: a promise for each of thousands would slow the scan down. */
export function readHead(text: string): HeadReading | Promise<HeadReading> {
  const block = cutHead(text);
  if (typeof block !== 'string') return { kind: 'unusable', why: block.why };
  const plain = readPlainHead(block);
  return plain ? accept(plain, undefined) : readIntricateHead(block);
}

/** The lines between the first `---` and the next, with LF endings; or the reason why there are none. */
export function cutHead(text: string): string | { readonly why: string } {
  const start = headStart(text);
  if (start === undefined) return { why: 'there is no front matter' };
  const end = headEnd(text, start)?.at;
  if (end === undefined) {
    const tooLong = text.length - start > MAX_HEAD;
    return { why: tooLong ? `front matter has no end within ${MAX_HEAD} characters` : 'front matter is not closed' };
  }
  const block = text.slice(start, end).replace(/\r\n?/g, '\n');
  const runs = block.length < MAX_BLANK ? [] : (block.match(/\s+/g) ?? []);
  return runs.some(({ length }) => length >= MAX_BLANK)
    ? { why: `front matter has over ${MAX_BLANK} blanks in a row` }
    : block;
}

/** A name by the Agent Skills specification. */
export const VALID_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

export const UNLAWFUL = 'its name is not 1 to 64 lower-case letters, digits and single hyphens';

/** A breach of the naming rules. The skill loads all the same: a fifth of all public skills break them. */
export function remarkOn(name: string, directory: string): Omit<Problem, 'where'> | undefined {
  if (!VALID_NAME.test(name)) return { what: `name "${name}" is not 1 to 64 of a-z, 0-9 and single -`, mild: true };
  return name === directory ? undefined : { what: `name "${name}" differs from its directory`, mild: true };
}

/** Where the text after the front matter begins; 0 when there is no front matter. */
export function bodyStart(text: string): number {
  const start = headStart(text);
  const end = start === undefined ? undefined : headEnd(text, start);
  if (!end) return 0;
  const after = end.at + end.length;
  return after + (/^(?:\r\n|\r|\n)/.exec(text.slice(after, after + 2))?.[0].length ?? 0);
}

export type Fields = Readonly<Record<'name' | 'description', unknown>>;

/**
 * Reads a block that has only `key: value` lines, texts below `key: |` or `key: >`, and such lines below `key:`, where
 * the result is the same as YAML's; undefined for any other block. Seven of ten public skills are like that, and the
 * YAML parser takes longer than the rest of a scan.
 */
export function readPlainHead(block: string): Fields | undefined {
  if (STRANGE.test(block) || !block.isWellFormed()) return undefined;
  const fields = new Map<string, string>();
  const lines = block.split('\n');
  for (let at = 0; at < lines.length; ) {
    const line = lines[at++] ?? '';
    if (line === '') continue;
    const [, key, value = ''] = KEY_LINE.exec(line) ?? [];
    if (key === undefined || fields.has(key)) return undefined;
    const from = at;
    while (lines[at]?.startsWith(' ')) at++;
    const text = at === from ? plainScalar(value) : plainBelow(key, value.trimEnd(), lines.slice(from, at));
    if (text === undefined) return undefined;
    fields.set(key, text);
  }
  return { name: fields.get('name'), description: fields.get('description') };
}

/** Name and description by YAML; throws when the block is not a YAML mapping. */
export async function readYamlHead(block: string): Promise<Fields> {
  const attributes = await parseYaml(block);
  return { name: textField(attributes, block, 'name'), description: textField(attributes, block, 'description') };
}

/** The block as js-yaml reads it; throws when it is not a mapping. */
export async function parseYaml(block: string): Promise<Readonly<Record<string, unknown>>> {
  // Loaded on first use: loading it takes longer than scanning a hundred plain skills.
  const module = await import('front-matter');
  // Its types describe a default export that its CommonJS form does not have under Node's resolution.
  const frontMatter = module.default as unknown as typeof module.default.default;
  const { attributes } = frontMatter<unknown>(`---\n${block}${block.endsWith('\n') ? '' : '\n'}---\n`);
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
    throw new Error('front matter is not a mapping');
  }
  return attributes as Readonly<Record<string, unknown>>;
}

/** The first line of an error: the YAML parser's messages quote the block below it. */
export function firstLineOf(error: unknown): string {
  return messageOf(error).split('\n', 1)[0] ?? '';
}

// --- internal ---

// A line before the front matter: blank, a comment, or the opening of a code fence around the whole file. Each pattern
// matches one line at one place, so that no text can be matched in several ways (which takes exponential time).
const LINE_BEFORE = /(?:<!--[^\r\n]{0,200}-->[ \t]{0,80}|```[a-z]{0,20}|[ \t]{0,80})(?:\r\n|\r|\n)/y;
const MOST_LINES_BEFORE = 20;
const OPENING = /---[ \t]*(?:\r\n|\r|\n)/y;
const CLOSING = /[\r\n]((?:---|\.\.\.)[ \t]*)(?=[\r\n]|$)/;

/** Where the first line of the block begins. */
function headStart(text: string): number | undefined {
  let at: number | undefined = text.startsWith('\ufeff') ? 1 : 0;
  for (let lines = 0; at !== undefined && lines <= MOST_LINES_BEFORE; lines++) {
    const start = endOf(OPENING, text, at);
    if (start !== undefined) return start;
    at = endOf(LINE_BEFORE, text, at);
  }
  return undefined;
}

/** Where a sticky pattern that matches at a place ends. */
function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** The line that closes the block which begins at `start`. */
function headEnd(text: string, start: number): { readonly at: number; readonly length: number } | undefined {
  // From the line break before the block, which may be empty, to one line beyond the limit.
  const end = CLOSING.exec(text.slice(start - 1, start + MAX_HEAD + 5));
  if (!end || end.index > MAX_HEAD) return undefined;
  return { at: start + end.index, length: end[1]?.length ?? 0 };
}

async function readIntricateHead(block: string): Promise<HeadReading> {
  try {
    return accept(await readYamlHead(block), undefined);
  } catch (error) {
    const why = firstLineOf(error);
    // Each field on its own, so that a mistake in one, or in a third, does not affect the other.
    const fields = { name: await readField(block, 'name'), description: await readField(block, 'description') };
    const note = `front matter is not valid YAML (${why}); name and description were read leniently`;
    const reading = accept(fields, note);
    return reading.kind === 'read' ? reading : { kind: 'unusable', why: `front matter is not valid YAML: ${why}` };
  }
}

function accept({ name, description }: Fields, note: string | undefined): HeadReading {
  if (isFilled(name) && isFilled(description)) {
    return { kind: 'read', head: { name: name.trim(), description: description.trim() }, note };
  }
  const faults = Object.entries({ name, description })
    .filter(([, value]) => !isFilled(value))
    .map(([field, value]) => `${field} is ${typeof value === 'string' ? 'empty' : 'missing'}`);
  return { kind: 'unusable', why: faults.join('; ') };
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

// Not the words that YAML does not read as text: `True` and `true` would be one key.
const KEY_LINE = /^(?!(?:true|false|null):)([A-Z][\w-]{0,100}):(?: +(.*))?$/i;
// Starts with a letter, a digit or a character beyond ASCII, where YAML has no syntax; contains nothing that ends it.
const PLAIN_SCALAR = /^(?!null$)[A-Z\d\u00a1-\uffff](?!.*(?:: |:$| #))/i;
const QUOTED_SCALAR = /^(?:"([^"\\]*)"|'([^']*)')$/;
// Characters that YAML does not allow, and white space that is white space to JavaScript but text to YAML.
const STRANGE =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\ufffe\uffff]/;

/** A value on one line, unquoted or in quotes without escapes. */
function plainScalar(value: string): string | undefined {
  const text = value.trimEnd();
  if (PLAIN_SCALAR.test(text)) return text;
  const [, double, single] = QUOTED_SCALAR.exec(text) ?? [];
  return double ?? single;
}

/** A value on equally indented lines below its key, without blank lines. */
function plainBelow(key: string, value: string, lines: readonly string[]): string | undefined {
  const indent = lines[0]?.search(/\S/) ?? 0;
  if (!lines.every((line) => line.search(/\S/) === indent)) return undefined;
  const texts = lines.map((line) => line.slice(indent));
  if (/^[|>][-+]?$/.test(value)) return texts.join(value[0] === '|' ? '\n' : ' ');
  if (value !== '' || key === 'name' || key === 'description') return undefined;
  const entries = texts.map((text) => KEY_LINE.exec(text) ?? []);
  const keys = new Set(entries.map(([, inner]) => inner));
  const plain = entries.every(([, , inner = '']) => plainScalar(inner) !== undefined);
  return plain && keys.size === entries.length ? '' : undefined;
}

/** The field as text; an unquoted date, number or boolean stays as its author wrote it. */
function textField(attributes: Readonly<Record<string, unknown>>, block: string, key: string): unknown {
  const value = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  if (value === undefined || value === null || typeof value === 'string') return value;
  if (typeof value === 'object' && !(value instanceof Date)) return undefined;
  const lines = fieldLines(block, key);
  return lines ? unquoted(writtenValue(lines)).split(' #', 1)[0] : String(value);
}

async function readField(block: string, key: string): Promise<unknown> {
  const lines = fieldLines(block, key);
  if (!lines) return undefined;
  const source = lines.join('\n');
  try {
    return textField(await parseYaml(source), source, key);
  } catch {
    // The usual mistake is a colon in a value that should be quoted. A value without its end is not guessed.
    const written = writtenValue(lines);
    return isClosed(written) ? unquoted(written) : undefined;
  }
}

/** The line that begins with the key, and the indented lines after it. */
function fieldLines(block: string, key: string): readonly string[] | undefined {
  const lines = block.split('\n');
  // Markdown editors turn the first line of a block into a heading; a plain key is preferred.
  const at = [`${key}:`, `# ${key}:`, `## ${key}:`]
    .map((start) => lines.findIndex((line) => line.startsWith(start)))
    .find((found) => found !== -1);
  if (at === undefined) return undefined;
  const [first = '', ...rest] = lines.slice(at);
  const stop = rest.findIndex((line) => /^\S/.test(line));
  return [first.replace(/^#+ /, ''), ...(stop === -1 ? rest : rest.slice(0, stop))];
}

/** The value without its key and block indicator, its lines joined by blanks. */
function writtenValue([first = '', ...more]: readonly string[]): string {
  const start = first.slice(first.indexOf(':') + 1).trim();
  const parts = [/^[|>][+-]?\d?$/.test(start) ? '' : start, ...more.map((line) => line.trim())];
  return parts.filter((part) => part !== '').join(' ');
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value;
}

/** Whether the quote or bracket at the start of a value, if any, is closed in it. */
function isClosed(value: string): boolean {
  if (value.startsWith('"')) return /^"(?:[^"\\]|\\.)*"/s.test(value);
  if (value.startsWith("'")) return /^'(?:[^']|'')*'(?!')/.test(value);
  if (!/^[[{]/.test(value)) return true;
  let depth = 0;
  for (const [sign] of value.matchAll(/[[\]{}]/g)) {
    depth += sign === '[' || sign === '{' ? 1 : -1;
    if (depth === 0) return true;
  }
  return false;
}
