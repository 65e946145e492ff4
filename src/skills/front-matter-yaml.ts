/**
 * Front matter by a YAML parser, and name and description of a block that is not valid YAML.
 * Owns: which mistakes are tolerated. Leaves alone: where the block begins and ends (front-matter.ts), YAML's grammar (the
 * front-matter package).
 */
import { messageOf } from '../log.ts';

/** `fault`: why the block is not valid YAML, if it is not. */
export type Fields = Readonly<{ name: unknown; description: unknown; fault?: string }>;

/**
 * Loaded on first use: loading it takes longer than scanning a hundred plain skills. Rejects when the program is damaged, or
 * was replaced while it runs, which says nothing about any block.
 */
export async function loadYaml() {
  try {
    return await import('front-matter');
  } catch (error) {
    throw new Error(`the YAML parser of this program cannot be loaded; start it again (${messageOf(error)})`);
  }
}

/** The block as js-yaml reads it; throws when it is not a mapping. */
export async function parseYaml(block: string): Promise<Readonly<Record<string, unknown>>> {
  const module = await loadYaml();
  // Its types describe a default export that its CommonJS form does not have under Node's resolution.
  const frontMatter = module.default as unknown as typeof module.default.default;
  // The package trims the block; the comment keeps the indentation of its first line.
  const { attributes } = frontMatter<unknown>(`---\n#\n${block}${block.endsWith('\n') ? '' : '\n'}---\n`);
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
    throw new Error('front matter is not a mapping');
  }
  return attributes as Readonly<Record<string, unknown>>;
}

/** In a faulty block each field is read on its own: a mistake in one, or in a third, does not affect the other. */
export async function readYamlHead(block: string): Promise<Fields> {
  await loadYaml();
  try {
    const attributes = await parseYaml(block);
    return { name: textField(attributes, block, 'name'), description: textField(attributes, block, 'description') };
  } catch (error) {
    const [name, description] = [await readField(block, 'name'), await readField(block, 'description')];
    return { name, description, fault: firstLineOf(error) };
  }
}

/** The first line of an error: the YAML parser's messages quote the block below it. */
export function firstLineOf(error: unknown): string {
  const [first = ''] = messageOf(error).split('\n', 1);
  return first.replace(/:$/, '');
}

// --- internal ---

/** The field as text; an unquoted date, number or boolean stays as its author wrote it. */
function textField(attributes: Readonly<Record<string, unknown>>, block: string, key: string): unknown {
  const value = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  if (value === undefined || value === null || typeof value === 'string') return value;
  if (typeof value === 'object' && !(value instanceof Date)) return undefined;
  const source = sourceOf(block, key);
  return source === undefined ? String(value) : unquoted(writtenValue(source)).split(' #', 1)[0];
}

async function readField(block: string, key: string): Promise<unknown> {
  const source = sourceOf(block, key);
  if (source === undefined) return undefined;
  try {
    return textField(await parseYaml(source), source, key);
  } catch {
    // The usual mistake is a colon in a value that should be quoted. A value without its end is not guessed.
    const written = writtenValue(source);
    return isClosed(written) ? unquoted(written) : undefined;
  }
}

/** The line that begins with the key, and the indented lines after it. */
function sourceOf(block: string, key: string): string | undefined {
  const after = (start: string) =>
    new RegExp(`(?:^|\\n)${start}(${key}:[^\\n]*(?:\\n(?!\\S)[^\\n]*)*)`).exec(block)?.[1];
  // Markdown editors turn the first line of a block into a heading; a plain key is preferred.
  return after('') ?? after('##? ');
}

/** The value without its key and block indicator, its lines joined by blanks. */
function writtenValue(source: string): string {
  const [first = '', ...more] = source
    .slice(source.indexOf(':') + 1)
    .split('\n')
    .map((line) => line.trim());
  return [/^[|>][+-]?\d?$/.test(first) ? '' : first, ...more].filter((part) => part !== '').join(' ');
}

/** Without the quotes around the whole value. In `"a" and "b"` there are none: the first quote is closed in the middle. */
function unquoted(value: string): string {
  const [, quote = '', inside = value] = /^(["'])(.*)\1$/s.exec(value) ?? [];
  const [before = '', after = ' '] = quote === '' ? [] : inside.split(quote, 2);
  const isClosedInside = before.length < inside.length && /\S$/.test(before) && /^(?:[\s,.;:!?)]|$)/.test(after);
  return isClosedInside ? value : inside;
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
