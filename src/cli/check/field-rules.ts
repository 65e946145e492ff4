/**
 * The rules for the fields of front matter: those of the Agent Skills specification, as its reference validator reads them.
 * Leaves alone: how the fields were read (head-rules.ts).
 */
import { VALID_NAME } from '../../skills/front-matter.ts';
import { LONGEST_NAME } from '../../skills/limits.ts';
import { nearest } from '../../skills/nearest.ts';
import { echo, visible, visibleLine } from '../../text.ts';
import type { TextEdit } from '../text-edits.ts';
import { type Finding, LONGEST_COMPATIBILITY, LONGEST_DESCRIPTION, LONGEST_SKILL_NAME, type Rule } from './rules.ts';
import { endOfValue, entriesBelow, isOneLine, plainOrQuoted, quote, type YamlEntry } from './yaml-entries.ts';

/** Where the fields are written. */
interface FieldPlaces {
  readonly text: string;
  /** Offsets of the opening dashes, and of the first line after them. */
  readonly dashes: number;
  readonly start: number;
  readonly entries: readonly YamlEntry[];
  /** The name of the directory that the file is in. */
  readonly directory: string;
}

export function checkFields(fields: Readonly<Record<string, unknown>>, places: FieldPlaces): readonly Finding[] {
  const checks: ReadonlyMap<string, (field: Field) => readonly Finding[]> = new Map(Object.entries(CHECKS));
  const entries = new Map(places.entries.map((entry) => [entry.key, entry]));
  const missing = REQUIRED.filter((key) => !Object.hasOwn(fields, key)).map((key) => missingField(key, places));
  const present = Object.entries(fields).flatMap(([key, value]) =>
    (checks.get(key) ?? checkUnknown)({ key, value, entry: entries.get(key), places }),
  );
  return [...missing, ...present];
}

// --- internal ---

interface Field {
  readonly key: string;
  readonly value: unknown;
  /** Undefined when it is written in a way that cannot be told from other text. */
  readonly entry: YamlEntry | undefined;
  readonly places: FieldPlaces;
}

const REQUIRED = ['name', 'description'] as const;

const CHECKS = {
  name: checkName,
  description: checkDescription,
  license: (field: Field) => textOf(field).findings,
  compatibility: checkCompatibility,
  metadata: checkMetadata,
  'allowed-tools': checkTools,
} satisfies Record<string, (field: Field) => readonly Finding[]>;

function missingField(key: (typeof REQUIRED)[number], { text, dashes, start, directory }: FieldPlaces): Finding {
  const lineBreak = text
    .slice(dashes, start)
    .trimStart()
    .replace(/^-+[ \t]*/, '');
  const line = `${key}: ${plainOrQuoted(directory)}${lineBreak}`;
  const isNamed = key === 'name' && VALID_NAME.test(directory);
  const fix = isNamed ? ({ by: 'fix-names', edits: [{ start, end: start, text: line }] } as const) : undefined;
  return { rule: key, at: dashes, message: `${key} is missing`, fix };
}

const valueAt = ({ entry, places }: Field) => entry?.start ?? places.start;
const keyAt = ({ entry, places }: Field) => entry?.at ?? places.start;

function kindOf(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'boolean' ? 'true or false' : `a ${typeof value}`;
}

interface TextReading {
  /** Undefined when it is a list or a map. */
  readonly text: string | undefined;
  readonly findings: readonly Finding[];
}

/**
 * The field as text, empty for a field without a value. An unquoted number is the text that its author wrote, and a
 * finding. `wrong`: the rule for lists and maps.
 */
function textOf(field: Field, wrong: Rule = 'text-values'): TextReading {
  const { key, value, entry, places } = field;
  if (typeof value === 'string' || value === null) return { text: value ?? '', findings: [] };
  const isScalar = typeof value !== 'object' || value instanceof Date;
  const finding = { rule: isScalar ? 'text-values' : wrong, at: valueAt(field) } as const;
  const message = `${echo(key)} is ${kindOf(value)}, not text`;
  if (!isScalar) return { text: undefined, findings: [{ ...finding, message }] };
  const written = entry && isOneLine(entry) ? places.text.slice(entry.start, endOfValue(places.text, entry)) : '';
  // Only what is surely one whole value.
  const isPlain = entry !== undefined && /^[\w.+:-]+$/.test(written);
  const edit = isPlain && { start: entry.start, end: entry.start + written.length, text: quote(written) };
  const fix = edit ? ({ by: 'fix', edits: [edit] } as const) : undefined;
  const findings = [{ ...finding, message: `${message}; put it in quotes`, fix }];
  return { text: isPlain ? written : String(value), findings };
}

/** Characters, not halves of surrogate pairs. */
const lengthOf = (text: string) => [...text].length;

function checkName(field: Field): readonly Finding[] {
  const { text, findings } = textOf(field, 'name');
  if (text === undefined) return findings;
  const at = valueAt(field);
  const name = text.trim();
  if (name === '') return [{ rule: 'name', at, message: 'name is empty' }];
  const length = lengthOf(name);
  const tooLong: readonly Finding[] =
    length > LONGEST_SKILL_NAME
      ? [{ rule: 'name', at, message: `name has ${length} characters, over ${LONGEST_SKILL_NAME}` }]
      : [];
  // Composing and comparing such a name costs time and says nothing more.
  if (length > LONGEST_NAME) return [...findings, ...tooLong];
  const strange: readonly Finding[] =
    visibleLine(text) === text ? [] : [{ rule: 'invisible', at, message: `name has ${STRANGE}` }];
  return [...findings, ...tooLong, ...strange, ...checkSpelling(name, at), ...checkDirectory(name, field)];
}

const STRANGE = 'spaces around it, line breaks or invisible characters, so the skill is left out of skills/list';

function checkSpelling(name: string, at: number): readonly Finding[] {
  const composed = name.normalize('NFKC');
  const faults = [
    composed !== composed.toLowerCase() ? 'upper-case letters' : '',
    /^-|-$/.test(composed) ? 'a hyphen at its start or end' : '',
    composed.includes('--') ? 'two hyphens in a row' : '',
    /[^\p{L}\p{N}-]/u.test(composed) ? 'characters that are not letters, digits or hyphens' : '',
  ].filter((fault) => fault !== '');
  if (faults.length > 0)
    return [{ rule: 'name-characters', at, message: `name "${echo(name)}" has ${faults.join(' and ')}` }];
  const message = `name "${echo(name)}" has letters beyond a-z, so the skill is left out of skills/list`;
  return /[^\x00-\x7f]/.test(name) ? [{ rule: 'name-ascii', at, message }] : [];
}

function checkDirectory(name: string, { entry, places }: Field): readonly Finding[] {
  const { text, directory } = places;
  if (name.normalize('NFKC') === directory.normalize('NFKC')) return [];
  const message = `name "${echo(name)}" differs from its directory "${echo(directory)}"`;
  const finding = { rule: 'name-directory', at: entry?.start ?? places.start, message } as const;
  if (!entry || !VALID_NAME.test(directory)) return [finding];
  const end = isOneLine(entry) ? endOfValue(text, entry) : entry.last;
  // What follows closing quotes and is not a comment needs judgement.
  if (!/^\s*(?:\s#.*)?$/.test(text.slice(end, entry.last))) return [finding];
  const edits: readonly TextEdit[] = [{ start: entry.start, end, text: plainOrQuoted(directory) }];
  return [{ ...finding, fix: { by: 'fix-names', edits } }];
}

function checkDescription(field: Field): readonly Finding[] {
  const { text, findings } = textOf(field, 'description');
  if (text === undefined) return findings;
  const at = valueAt(field);
  if (text.trim() === '') return [{ rule: 'description', at, message: 'description is empty' }];
  const found = [...findings];
  const length = lengthOf(text);
  const isTooLong = length > LONGEST_DESCRIPTION;
  if (isTooLong)
    found.push({
      rule: 'description',
      at,
      message: `description has ${length} characters, over ${LONGEST_DESCRIPTION}`,
    });
  const message = 'description has invisible characters, so the skill is left out of skills/list';
  if (visible(text) !== text) found.push({ rule: 'invisible', at, message });
  return [...found, ...checkComment(field)];
}

/** In quotes and in a block a number sign is text. */
function checkComment({ entry, places }: Field): readonly Finding[] {
  const written = entry ? places.text.slice(entry.start, entry.last) : '';
  const blank = /^["'|>]/.test(written) ? -1 : written.search(/\s#/);
  if (!entry || blank === -1) return [];
  const message = 'the text after " #" is a comment, not part of the description; put the description in quotes';
  return [{ rule: 'comment', at: entry.start + blank + 1, message }];
}

function checkCompatibility(field: Field): readonly Finding[] {
  const { text, findings } = textOf(field, 'compatibility');
  if (text === '') return [{ rule: 'text-values', at: keyAt(field), message: 'compatibility is empty' }];
  const length = lengthOf(text ?? '');
  if (length <= LONGEST_COMPATIBILITY) return findings;
  const message = `compatibility has ${length} characters, over ${LONGEST_COMPATIBILITY}`;
  return [...findings, { rule: 'compatibility', at: valueAt(field), message }];
}

function checkMetadata(field: Field): readonly Finding[] {
  const { value, entry, places } = field;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date)
    return [{ rule: 'metadata', at: valueAt(field), message: `metadata is ${kindOf(value)}, not a map of texts` }];
  const below = new Map((entry ? entriesBelow(places.text, entry) : []).map((one) => [one.key, one]));
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = below.get(key);
    const place = { ...field, key: `metadata.${key}`, value: inner, entry: own ?? entry };
    if (inner === null)
      return [{ rule: 'metadata', at: keyAt(place), message: `${echo(place.key)} is empty, not text` }];
    const { findings } = textOf(place, 'metadata');
    return own ? findings : findings.map(({ rule, at, message }) => ({ rule, at, message }));
  });
}

function checkTools(field: Field): readonly Finding[] {
  const { value, entry, places } = field;
  const isList = Array.isArray(value);
  if (!isList && typeof value !== 'string') return textOf(field).findings;
  // Commas in parentheses belong to a tool.
  if (!isList && !value.replace(/\([^()]*\)/g, '').includes(',')) return [];
  const tools: readonly unknown[] = isList ? value : value.split(',').map((tool) => tool.trim());
  const message = `allowed-tools is ${isList ? 'a list' : 'separated by commas'}; the specification wants one text with spaces between tools`;
  const finding = { rule: 'allowed-tools', at: valueAt(field), message } as const;
  const isPlain = tools.length > 0 && tools.every((tool) => typeof tool === 'string' && ONE_TOOL.test(tool));
  // Neither a comment nor an anchor may get lost.
  if (!entry || !isPlain || /#|^\s*[&!]/.test(places.text.slice(entry.start, entry.last))) return [finding];
  const start = places.text.indexOf(':', entry.at) + 1;
  const edits: readonly TextEdit[] = [{ start, end: entry.last, text: ` ${plainOrQuoted(tools.join(' '))}` }];
  return [{ ...finding, fix: { by: 'fix', edits } }];
}

// A tool with a space, a comma or parentheses inside could be read as several.
const ONE_TOOL = /^[^\s,()[\]{}"']+(?:\([^\s,()"']*\))?(?<!:)$/;

/** Keys that Claude Code, VS Code and Copilot define besides those of the specification. */
const HOST_KEYS: readonly string[] = [
  ...['when_to_use', 'argument-hint', 'arguments', 'disable-model-invocation', 'user-invocable', 'model'],
  ...['effort', 'context', 'agent', 'hooks', 'paths', 'shell'],
];

function checkUnknown(field: Field): readonly Finding[] {
  if (HOST_KEYS.includes(field.key)) return [];
  const [near] = nearest(field.key, [...Object.keys(CHECKS), ...HOST_KEYS], (one) => [one]);
  const hint = near === undefined ? 'keys of your own belong below metadata' : `did you mean ${near}?`;
  const message = `the specification has no key "${echo(field.key)}"; ${hint}`;
  return [{ rule: 'unknown-key', at: keyAt(field), message }];
}
