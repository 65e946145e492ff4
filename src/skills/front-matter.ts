/**
 * From the text of a SKILL.md to its name and description.
 * Owns: where front matter begins and ends, how forgiving we are. Leaves alone: files (scan.ts), YAML (front-matter).
 * Always true: `readHead` never throws, costs time linear in the block, and keeps nothing of the YAML but text.
 */
import * as v from 'valibot';
import type { Problem } from '../model.ts';
import { MAX_BLANK, MAX_HEAD } from './limits.ts';

/** The front matter of a SKILL.md. Unknown keys are kept out, not refused: other agents have their own. */
export const SkillHead = v.object({
  name: v.pipe(v.string('name is missing'), v.trim(), v.nonEmpty('name is empty')),
  description: v.pipe(v.string('description is missing'), v.trim(), v.nonEmpty('description is empty')),
});
export type SkillHead = v.InferOutput<typeof SkillHead>;

export type HeadReading =
  | {
      readonly kind: 'read';
      readonly head: SkillHead;
      readonly note: string | undefined;
    }
  | { readonly kind: 'unusable'; readonly why: string };

/** At once when it can be told at once, which for thousands of files is worth much. */
export function readHead(text: string): HeadReading | Promise<HeadReading> {
  const block = cutHead(text);
  if (typeof block !== 'string') return { kind: 'unusable', why: block.why };
  const plain = readPlainHead(block);
  return plain ? accept(plain, undefined) : readIntricateHead(block);
}

/** The lines between the first `---` and the next, with LF endings; or why there are none. */
export function cutHead(text: string): string | { readonly why: string } {
  const start = HEAD_START.exec(text)?.[0].length;
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

/** What the Agent Skills rules have against a name. It loads all the same: a fifth of all public skills break them. */
export function remarkOn(name: string, directory: string): Omit<Problem, 'where'> | undefined {
  if (!VALID_NAME.test(name)) return { what: `name "${name}" is not 1 to 64 of a-z, 0-9 and single -`, mild: true };
  return name === directory ? undefined : { what: `name "${name}" differs from its directory`, mild: true };
}

/** Where the text behind the front matter begins; 0 when there is none. */
export function bodyStart(text: string): number {
  const start = HEAD_START.exec(text)?.[0].length;
  const end = start === undefined ? undefined : headEnd(text, start);
  if (!end) return 0;
  const after = end.at + end.length;
  return after + (/^(?:\r\n|\r|\n)/.exec(text.slice(after, after + 2))?.[0].length ?? 0);
}

export type Fields = Readonly<Record<'name' | 'description', unknown>>;

/**
 * A block of nothing but `key: value` lines, texts below `key: |` or `key: >`, and such lines below `key:`, where YAML
 * reads exactly the same; undefined for any other. Seven of ten public skills are like that, and the YAML
 * reader costs more than all the rest of a scan.
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

/** Name and description as YAML has them; throws when the block is no YAML mapping. */
export async function readYamlHead(block: string): Promise<Fields> {
  const attributes = await parseYaml(block);
  return { name: textField(attributes, block, 'name'), description: textField(attributes, block, 'description') };
}

/** The block as js-yaml reads it; throws when it is not a mapping. */
export async function parseYaml(block: string): Promise<Readonly<Record<string, unknown>>> {
  // Loaded when first needed: it takes longer to load than a hundred plain skills take to scan.
  const module = await import('front-matter');
  // Its types describe a default export that its CommonJS form does not have under Node's resolution.
  const frontMatter = module.default as unknown as typeof module.default.default;
  const { attributes } = frontMatter<unknown>(`---\n${block}${block.endsWith('\n') ? '' : '\n'}---\n`);
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
    throw new Error('front matter is not a mapping');
  }
  return attributes as Readonly<Record<string, unknown>>;
}

// --- internal ---

// A byte order mark; lines that are blank, a comment or the opening of a code fence around the whole file; then three
// dashes alone on a line. The part before the dashes is capped: it is looked at before anything else is.
const HEAD_START =
  /^\ufeff?(?:(?:[ \t]{0,80}|<!--[^\n]{0,200}-->[ \t]{0,80}|```[a-z]{0,20})(?:\r\n|\r|\n)){0,20}---[ \t]*(?:\r\n|\r|\n)/;
const HEAD_END = /[\r\n]((?:---|\.\.\.)[ \t]*)(?=[\r\n]|$)/;

/** The line that closes the block which begins at `start`. */
function headEnd(text: string, start: number): { readonly at: number; readonly length: number } | undefined {
  // From the line break before the block, which may be empty, to a line more than the cap: the end of one that just fits.
  const end = HEAD_END.exec(text.slice(start - 1, start + MAX_HEAD + 5));
  if (!end || end.index > MAX_HEAD) return undefined;
  return { at: start + end.index, length: end[1]?.length ?? 0 };
}

async function readIntricateHead(block: string): Promise<HeadReading> {
  try {
    return accept(await readYamlHead(block), undefined);
  } catch (error) {
    const why = firstLine(error);
    const note = `front matter is not valid YAML (${why}); name and description were read leniently`;
    const reading = accept(await readLenientHead(block), note);
    return reading.kind === 'read' ? reading : { kind: 'unusable', why: `front matter is not valid YAML: ${why}` };
  }
}

function accept({ name, description }: Fields, note: string | undefined): HeadReading {
  // The schema has the words for what is wrong; for the many that are right it is slow.
  if (typeof name === 'string' && typeof description === 'string' && name.trim() !== '' && description.trim() !== '') {
    return { kind: 'read', head: { name: name.trim(), description: description.trim() }, note };
  }
  const { issues } = v.safeParse(SkillHead, { name, description });
  return { kind: 'unusable', why: issues?.map((issue) => issue.message).join('; ') ?? 'it has no text' };
}

// Not the words that are no text to YAML: `True` and `true` would be one key.
const KEY_LINE = /^(?!(?:true|false|null):)([A-Z][\w-]{0,100}):(?: +(.*))?$/i;
// Begins with a letter or digit, or beyond ASCII, where YAML has no signs of its own; and nothing in it ends it.
const PLAIN_SCALAR = /^(?!null$)[A-Z\d\u00a1-\uffff](?!.*(?:: |:$| #))/i;
const QUOTED_SCALAR = /^(?:"([^"\\]*)"|'([^']*)')$/;
// What YAML calls non-printable, and every blank but the common one: to JavaScript they are blanks all, to YAML text.
const STRANGE =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\ufffe\uffff]/;

/** The text of a value on one line, in quotes without escapes or in none. */
function plainScalar(value: string): string | undefined {
  const text = value.trimEnd();
  if (PLAIN_SCALAR.test(text)) return text;
  const [, double, single] = QUOTED_SCALAR.exec(text) ?? [];
  return double ?? single;
}

/** The text of a value that stands on equally indented lines below its key, without blank ones between. */
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

/** The field as text; a bare date, number or boolean stays what its author wrote. */
function textField(attributes: Readonly<Record<string, unknown>>, block: string, key: string): unknown {
  const value = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  if (value === undefined || value === null || typeof value === 'string') return value;
  if (typeof value === 'object' && !(value instanceof Date)) return undefined;
  const written = fieldLines(block, key);
  return written ? asWritten(written).split(' #', 1)[0] : String(value);
}

/** Each of the two fields for itself, so that a fault in one, or in a third, does not touch the other. */
async function readLenientHead(block: string): Promise<Fields> {
  return { name: await readField(block, 'name'), description: await readField(block, 'description') };
}

async function readField(block: string, key: string): Promise<unknown> {
  const lines = fieldLines(block, key);
  if (!lines) return undefined;
  const source = lines.join('\n');
  try {
    return textField(await parseYaml(source), source, key);
  } catch {
    const written = writtenValue(lines);
    // Most often a colon in a value that should have been quoted. Where the end of a value is missing, all else would
    // be a guess.
    return isClosed(written) ? unquoted(written) : undefined;
  }
}

/** The line that begins with the key, and the indented ones that follow it. */
function fieldLines(block: string, key: string): readonly string[] | undefined {
  const lines = block.split('\n');
  // Markdown editors turn the first line of a block into a heading; a plain key is better evidence.
  const at = [`${key}:`, `# ${key}:`, `## ${key}:`]
    .map((start) => lines.findIndex((line) => line.startsWith(start)))
    .find((found) => found !== -1);
  if (at === undefined) return undefined;
  const [first = '', ...rest] = lines.slice(at);
  const stop = rest.findIndex((line) => /^\S/.test(line));
  return [first.replace(/^#+ /, ''), ...(stop === -1 ? rest : rest.slice(0, stop))];
}

/** The value without its key and block mark, its lines joined by blanks. */
function writtenValue([first = '', ...more]: readonly string[]): string {
  const start = first.slice(first.indexOf(':') + 1).trim();
  const parts = [/^[|>][+-]?\d?$/.test(start) ? '' : start, ...more.map((line) => line.trim())];
  return parts.filter((part) => part !== '').join(' ');
}

const asWritten = (lines: readonly string[]) => unquoted(writtenValue(lines));

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value;
}

/** Whether the quote or bracket that a value begins with, if any, has its end in it. */
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

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? message;
}
