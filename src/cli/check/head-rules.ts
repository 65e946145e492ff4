/**
 * The rules for the front matter of a SKILL.md as a block: where it begins and ends, and whether it is YAML.
 * Leaves alone: what the fields say (field-rules.ts), what is tolerated (skills/front-matter.ts).
 */
import { messageOf } from '../../log.ts';
import { cutHead, findHead, readHead } from '../../skills/front-matter.ts';
import { readFrontMatter } from '../../skills/front-matter-values.ts';
import { parseYaml } from '../../skills/front-matter-yaml.ts';
import { applyEdits, type TextEdit } from '../text-edits.ts';
import { checkFields } from './field-rules.ts';
import { lineStarts } from './lines.ts';
import type { Finding } from './rules.ts';
import { entriesBelow, entriesIn, isOneLine, quote, type YamlEntry } from './yaml-entries.ts';

/** `directory`: the name of the directory that the file is in. */
export async function checkHead(text: string, directory: string): Promise<readonly Finding[]> {
  const bytes = Buffer.from(text);
  const block = cutHead(bytes);
  const head = findHead(text);
  const dashes = head ? text.lastIndexOf('---', head.start - 1) : 0;
  if (typeof block !== 'string' || head?.end === undefined)
    return [{ rule: 'front-matter', at: dashes, message: typeof block === 'string' ? NOT_CLOSED : block.why }];
  const entries = entriesIn(text, head.start, head.end);
  const place = { text, bytes, block, dashes, start: head.start, end: head.end, body: head.body, entries };
  const { fields, findings } = await readFields(place);
  const found = [...checkFences(place), ...findings, ...(fields ? checkFields(fields, { ...place, directory }) : [])];
  const reading = await readHead(bytes);
  // Whatever the other rules overlook: the server has the last word.
  if (reading.kind === 'unusable' && !found.some(({ rule }) => SAYS_WHY.has(rule)))
    found.push({ rule: 'loads', at: dashes, message: `skillwire does not load it: ${reading.why}` });
  return found;
}

// --- internal ---

const NOT_CLOSED = 'front matter is not closed';
const SAYS_WHY: ReadonlySet<Finding['rule']> = new Set(['yaml', 'name', 'description']);

interface Block {
  readonly text: string;
  readonly bytes: Buffer;
  /** The lines between the dashes, with LF line endings. */
  readonly block: string;
  /** Offsets in the text: of the opening dashes, of the block, of the closing dashes, of what comes after them. */
  readonly dashes: number;
  readonly start: number;
  readonly end: number;
  readonly body: number;
  readonly entries: readonly YamlEntry[];
}

function checkFences({ text, dashes, start, end, body }: Block): readonly Finding[] {
  const findings: Finding[] = [];
  const fixed = (edits: readonly TextEdit[]) => ({ by: 'fix', edits }) as const;
  const mark = text.startsWith('\ufeff') ? 1 : 0;
  if (mark > 0) {
    const message = 'it starts with a byte order mark, and many clients do not find the front matter behind it';
    findings.push({ rule: 'byte-order-mark', at: 0, message, fix: fixed([{ start: 0, end: mark, text: '' }]) });
  }
  const before = text.slice(mark, dashes);
  if (before !== '') {
    const fix = before.trim() === '' ? fixed([{ start: mark, end: dashes, text: '' }]) : undefined;
    const message = 'front matter must start in the first line; most clients do not find it here';
    findings.push({ rule: 'front-matter', at: dashes, message, fix });
  }
  if (text.startsWith('...', end))
    findings.push({ rule: 'front-matter', at: end, message: 'front matter must end with ---, not with ...' });
  for (const [from, to] of [
    [dashes + 3, start],
    [end + 3, body],
  ] as const) {
    const blanks = /^[ \t]+/.exec(text.slice(from, to))?.[0].length ?? 0;
    const message = 'spaces or tabs after the dashes: some clients do not find the front matter';
    const fix = fixed([{ start: from, end: from + blanks, text: '' }]);
    if (blanks > 0) findings.push({ rule: 'fence', at: from, message, fix });
  }
  // Not mended: the file would have two kinds of line endings then, and Git may put them there on Windows.
  const message = 'front matter has CR or CRLF line endings; some clients do not find it';
  const first = text.slice(dashes, body).indexOf('\r');
  if (first !== -1) findings.push({ rule: 'line-endings', at: dashes + first, message });
  return findings;
}

interface FieldReading {
  readonly fields: Readonly<Record<string, unknown>> | undefined;
  readonly findings: readonly Finding[];
}

/** The fields; of a block that is not YAML those two that skillwire reads leniently, if it does. */
async function readFields(head: Block): Promise<FieldReading> {
  const { block, text, start, end } = head;
  // Between the dashes as they should be: what is wrong with those is reported already.
  const reading = await readFrontMatter(Buffer.from(`---\n${block}---\n`));
  if (reading.kind === 'read') return { fields: reading.fields, findings: [] };
  // js-yaml takes a tab for an indentation of no width; other parsers refuse it.
  const tab = /^\t+\S/m.exec(text.slice(start, end));
  if (tab)
    return {
      fields: undefined,
      findings: [{ rule: 'yaml', at: start + tab.index, message: 'YAML does not allow tabs as indentation' }],
    };
  try {
    const fields = await parseYaml(block);
    return { fields, findings: [{ rule: 'yaml-portable', at: start, message: reading.why }] };
  } catch (error) {
    return readFaulty(head, error);
  }
}

async function readFaulty(head: Block, error: unknown): Promise<FieldReading> {
  const lenient = await readHead(head.bytes);
  const edits = await colonEdits(head);
  const reason = edits ? 'a value with ": " in it needs quotes' : property(error, 'reason');
  const why = typeof reason === 'string' ? `front matter is not valid YAML: ${reason}` : messageOf(error);
  const saved =
    lenient.kind === 'read'
      ? 'skillwire reads name and description leniently, other clients may not load it'
      : 'it cannot be loaded';
  const message = `${why}; ${saved}`;
  const fix = edits && ({ by: 'fix', edits } as const);
  const fields = lenient.kind === 'read' ? { name: lenient.name, description: lenient.description } : undefined;
  return { fields, findings: [{ rule: 'yaml', at: placeOf(error, head), message, fix }] };
}

/** Where the parser stopped, as an offset. */
function placeOf(error: unknown, { text, start, body }: Block): number {
  // The parser is past it when it tells.
  const unprintable = text
    .slice(start, body)
    .search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]/);
  if (unprintable !== -1) return start + unprintable;
  const mark = property(error, 'mark');
  const [line, column] = [property(mark, 'line'), property(mark, 'column')];
  if (typeof line !== 'number' || typeof column !== 'number') return start;
  const starts = lineStarts(text.slice(start, body));
  const lineAt = (index: number) => start + (starts[index] ?? 0);
  // `parseYaml` puts a line before the block.
  let at = Math.max(0, line - 1);
  // The parser notices that a line is not an entry when it comes to the next one.
  if (/^can not read a block mapping entry/.test(String(property(error, 'reason')))) {
    do at--;
    while (at > 0 && text.slice(lineAt(at), lineAt(at + 1)).trim() === '');
    return lineAt(at);
  }
  return lineAt(at) + column;
}

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** Quotes around unquoted values with a colon and a blank, if they make the block valid. */
async function colonEdits({ text, entries }: Block): Promise<readonly TextEdit[] | undefined> {
  const all = entries.flatMap((entry) => [entry, ...entriesBelow(text, entry)]);
  const edits = all.filter(isOneLine).flatMap(({ start, end }) => {
    const value = text.slice(start, end);
    return COLON_VALUE.test(value) && !value.includes(' #') ? [{ start, end, text: quote(value) }] : [];
  });
  const block = cutHead(Buffer.from(applyEdits(text, edits)));
  try {
    if (edits.length === 0 || typeof block !== 'string') return undefined;
    await parseYaml(block);
    return edits;
  } catch {
    return undefined; // Something else is wrong too, which needs judgement.
  }
}

// A value that begins as unquoted text does.
const COLON_VALUE = /^[^\s"'[\]{}|>&*!%@`#,?-].*:(?: |$)/;
