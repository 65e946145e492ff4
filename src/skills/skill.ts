/**
 * From the text of a SKILL.md to its name and description.
 * Owns: where front matter begins and ends, how forgiving we are. Leaves alone: files (scan.ts), YAML (front-matter).
 * Always true: `readHead` never throws, costs time linear in the block, and keeps nothing of the YAML but text.
 */
import * as v from 'valibot';

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

// The largest real block is a few KiB; the YAML reader is slow on long runs of blanks, so it never sees one.
export const MAX_HEAD = 32 * 1024;
const LONG_BLANK = /[ \t\n]{1000}/;

export async function readHead(text: string): Promise<HeadReading> {
  const block = cutHead(text);
  if (typeof block !== 'string') return { kind: 'unusable', why: block.why };
  const plain = readPlainHead(block);
  if (plain) return accept(plain, undefined);
  try {
    return accept(textFields(await parseYaml(block), block), undefined);
  } catch (error) {
    const why = firstLine(error);
    const lenient = await readLenientHead(block);
    const reading = accept(
      lenient,
      `front matter is not valid YAML (${why}); name and description were read leniently`,
    );
    return reading.kind === 'read' ? reading : { kind: 'unusable', why: `front matter is not valid YAML: ${why}` };
  }
}

/** The lines between the first `---` and the next, with LF endings; or why there are none. */
export function cutHead(text: string): string | { readonly why: string } {
  const start = HEAD_START.exec(text);
  if (!start) return { why: 'there is no front matter' };
  // A character more than the cap, so that a block that just fits is still seen to end.
  const rest = text.slice(start[0].length, start[0].length + MAX_HEAD + 1).replace(/\r\n?/g, '\n');
  const end = HEAD_END.exec(rest);
  if (!end) {
    return {
      why: rest.length > MAX_HEAD ? `front matter is over ${MAX_HEAD} characters` : 'front matter is not closed',
    };
  }
  const block = rest.slice(0, end.index);
  return LONG_BLANK.test(block) ? { why: 'front matter has over 1000 blanks in a row' } : block;
}

// --- internal ---

// A byte order mark, blank lines, then three dashes alone on a line. The blank part is capped: it is scanned before any cap.
const HEAD_START = /^\ufeff?(?:[ \t]{0,80}\r?\n){0,20}---[ \t]*(?:\r\n|\r|\n)/;
const HEAD_END = /^(?:---|\.\.\.)[ \t]*$/m;

type Fields = Readonly<Record<'name' | 'description', unknown>>;

function accept(fields: Fields, note: string | undefined): HeadReading {
  const parsed = v.safeParse(SkillHead, fields);
  if (parsed.success) return { kind: 'read', head: parsed.output, note };
  return {
    kind: 'unusable',
    why: parsed.issues.map((issue) => issue.message).join('; '),
  };
}

// `key: value` with a value that YAML reads as exactly that text. Anything subtler (quotes, flow, blocks, anchors,
// comments, indentation) goes to the YAML reader, whose loading and running costs more than all the rest of a scan.
const PLAIN_LINE = /^([A-Za-z][\w-]*): +([\p{L}\d](?:[^\n\t:#]|:(?=[^ \n])|(?<! )#)*)$/u;
const NOT_TEXT = /^(?:null|~)$/i;

function readPlainHead(block: string): Fields | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    if (line === '') continue;
    const [, key, value] = PLAIN_LINE.exec(line) ?? [];
    if (key === undefined || value === undefined || fields.has(key) || CONTROL.test(value)) return undefined;
    const text = value.trimEnd();
    if (NOT_TEXT.test(text)) return undefined;
    fields.set(key, text);
  }
  return { name: fields.get('name'), description: fields.get('description') };
}

// What YAML calls non-printable, lone surrogates included.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\ufeff\ufffe\uffff\ud800-\udfff]/u;

async function parseYaml(block: string): Promise<Readonly<Record<string, unknown>>> {
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

function textFields(attributes: Readonly<Record<string, unknown>>, block: string): Fields {
  return {
    name: textField(attributes, block, 'name'),
    description: textField(attributes, block, 'description'),
  };
}

/** The field as text; a bare date, number or boolean stays what its author wrote. */
function textField(attributes: Readonly<Record<string, unknown>>, block: string, key: string): unknown {
  const value = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  if (value === undefined || value === null || typeof value === 'string') return value;
  if (typeof value === 'object' && !(value instanceof Date)) return undefined;
  return lineValue(block, key)?.replace(/\s+#.*$/, '');
}

/** What a line scan can still make out of a block that is not YAML: quotes taken off, continuation lines joined. */
async function readLenientHead(block: string): Promise<Fields> {
  const quoted = quoteScalars(block);
  try {
    const fields = textFields(await parseYaml(quoted), quoted);
    if (accept(fields, undefined).kind === 'read') return fields;
  } catch {
    // Still no YAML: the line scan below needs none.
  }
  return {
    name: lineValue(block, 'name'),
    description: lineValue(block, 'description'),
  };
}

/** Every plain top-level `key: value` with its value in quotes, so that a colon or bracket in it is only text. */
function quoteScalars(block: string): string {
  return block.replace(/^([A-Za-z][\w-]*):[ \t]+(\S.*)$/gm, (line, key: string, value: string) => {
    if (/^(?:["'|>]|[[{].*[\]}]\s*$)/.test(value)) return line;
    return `${key}: ${JSON.stringify(value.trimEnd())}`;
  });
}

function lineValue(block: string, key: string): string | undefined {
  const lines = block.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`${key}:`));
  if (at === -1) return undefined;
  const first = (lines[at] ?? '').slice(key.length + 1).trim();
  const rest = lines.slice(at + 1);
  const stop = rest.findIndex((line) => /^\S/.test(line));
  const more = (stop === -1 ? rest : rest.slice(0, stop)).map((line) => line.trim());
  const head = /^[|>][+-]?\d*$/.test(first) ? '' : first;
  const text = [head, ...more].filter((part) => part !== '').join(' ');
  const quoted = /^(["'])(.*)\1$/s.exec(text);
  return quoted?.[2] ?? text;
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? message;
}
