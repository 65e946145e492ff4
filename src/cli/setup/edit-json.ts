/**
 * Changes one member of a JSON file that a person keeps, and nothing else in its text.
 * Owns: where the new text goes and how it is laid out: indentation, line breaks and trailing commas as in the file.
 * Leaves alone: the syntax (files/jsonc.ts), reading and writing files (client-file.ts).
 * Always true: the time is linear in the length of the text; comments stay, except inside the member and behind it on its
 * last line.
 */
import { isDeepStrictEqual } from 'node:util';
import { type MemberPlace, type ObjectPlace, parseJsonc } from '../../files/jsonc.ts';
import { BYTE_ORDER_MARK, Scanner, SyntaxFault } from '../../files/scanner.ts';
import { isObject } from '../../protocol/index.ts';
import { applyEdits, erase, insert, newlineOf, startOfLine, type TextEdit } from '../text-edits.ts';

/** The text with the member at `path` set to `value`. Objects that are missing on the way are made. */
export function setMember(text: string, path: readonly string[], value: unknown): string {
  if (text.trim() === '') {
    const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
    return `${mark}${print(nested(path, value), '', PLAIN)}${PLAIN.newline}`;
  }
  const { parent, member, missing, around, style } = find(text, path);
  if (member) {
    const printed = print(value, indentationOf(text, member), style);
    return applyEdits(text, [{ start: member.valueStart, end: member.end, text: printed }]);
  }
  const [key = '', ...rest] = missing;
  const name = JSON.stringify(key);
  const addition = (indentation: string | undefined) => `${name}: ${print(nested(rest, value), indentation, style)}`;
  const last = parent.members.at(-1);
  return applyEdits(
    text,
    last ? insertAfter(text, last, addition, style) : insertInto(text, parent, around, addition, style),
  );
}

/** The text with an object at `path` that has exactly the members of `entry`. Members that are equal already keep their text. */
export function setMembers(text: string, path: readonly string[], entry: Readonly<Record<string, unknown>>): string {
  const known = text.trim() === '' ? undefined : valueAt(parseJsonc(text).value, path);
  if (!isObject(known)) return setMember(text, path, entry);
  const changed = Object.entries(entry).filter(([key, value]) => !isDeepStrictEqual(ownValue(known, key), value));
  const spare = Object.keys(known).filter((key) => !Object.hasOwn(entry, key));
  // First what is new: an object that becomes empty meanwhile would lose its layout.
  const added = changed.reduce((now, [key, value]) => setMember(now, [...path, key], value), text);
  return spare.reduce((now, key) => removeMember(now, [...path, key]), added);
}

/** The text without the member at `path`; the same text when there is none. */
export function removeMember(text: string, path: readonly string[]): string {
  const { parent, member } = find(text, path);
  return member ? applyEdits(text, removal(text, parent, member)) : text;
}

// --- internal ---

const ownValue = (value: unknown, key: string) =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
const valueAt = (value: unknown, path: readonly string[]) => path.reduce(ownValue, value);

interface Style {
  readonly newline: string;
  /** One level of indentation. */
  readonly unit: string;
}

const PLAIN: Style = { newline: '\n', unit: '  ' };

/** Gives the text of a new member. `indentation`: that of its line; undefined when it shares one with others. */
type Addition = (indentation: string | undefined) => string;

/** `missing`: the last keys of the path, from the first one that is in none of the objects or is that of the member. */
function find(text: string, path: readonly string[]) {
  const { objects } = parseJsonc(text, { path });
  const depth = Math.min(objects.length, path.length) - 1;
  const parent = objects[depth];
  if (!parent) throw new SyntaxFault('expected an object', text, 0);
  const missing = path.slice(depth);
  const member = parent.members.findLast(({ key }) => key === missing[0]);
  if (member && missing.length > 1) throw new SyntaxFault('expected an object', text, member.valueStart);
  const first = objects[0]?.members[0];
  const style = { newline: newlineOf(text), unit: (first && indentationOf(text, first)) || PLAIN.unit };
  return { parent, member, missing, around: objects[depth - 1], style };
}

const nested = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight((inner: unknown, key) => ({ [key]: inner }), value);

function print(value: unknown, indentation: string | undefined, { unit, newline }: Style): string {
  if (indentation === undefined) return JSON.stringify(value);
  return JSON.stringify(value, undefined, unit).replaceAll('\n', newline + indentation);
}

function insertAfter(text: string, last: MemberPlace, addition: Addition, { newline }: Style): readonly TextEdit[] {
  const indentation = indentationOf(text, last);
  if (indentation === undefined) return [insert(last.end, `, ${addition(undefined)}`)];
  const line = newline + indentation + addition(indentation);
  // A comment behind the last member stays on its line.
  if (last.comma !== undefined) return [insert(endOfLine(text, last.comma + 1), `${line},`)];
  return [insert(last.end, ','), insert(endOfLine(text, last.end), line)];
}

function insertInto(
  text: string,
  { start, end }: ObjectPlace,
  around: ObjectPlace | undefined,
  addition: Addition,
  { newline, unit }: Style,
): readonly TextEdit[] {
  const isOnSharedLine = around?.members.some((one) => indentationOf(text, one) === undefined) ?? false;
  if (isOnSharedLine) return [insert(start + 1, addition(undefined))];
  const outer = /^[ \t]*/.exec(text.slice(startOfLine(text, start)))?.[0] ?? '';
  const line = newline + outer + unit + addition(outer + unit);
  // Comments in the object stay, before the member.
  const inside = start + 1 + text.slice(start + 1, end).trimEnd().length;
  return [{ start: inside, end, text: line + newline + outer }];
}

function removal(text: string, { start, end, members }: ObjectPlace, member: MemberPlace): readonly TextEdit[] {
  const behind = member.comma === undefined ? member.end : member.comma + 1;
  const rest = text.slice(start + 1, member.start) + text.slice(behind, end);
  if (rest.trim() === '') return [erase(start + 1, end)];
  // Without a comma behind this member, that of the member before is left over.
  const spare = member.comma === undefined ? members[members.indexOf(member) - 1]?.comma : undefined;
  const lineEnd = endOfLine(text, behind);
  if (indentationOf(text, member) !== undefined && /[\r\n]/.test(text.charAt(lineEnd))) {
    const line = erase(endOfLineBefore(text, member.start), lineEnd);
    return spare === undefined ? [line] : [erase(spare, spare + 1), line];
  }
  if (spare !== undefined) {
    // A comment between the two stays.
    const isNext = text.slice(spare + 1, member.start).trim() === '';
    return isNext ? [erase(spare, member.end)] : [erase(spare, spare + 1), erase(member.start, member.end)];
  }
  const blanks = /^[ \t]*/.exec(text.slice(behind))?.[0] ?? '';
  return [erase(member.start, behind + blanks.length)];
}

/** The white space before it on its line; undefined when something else is there too. */
function indentationOf(text: string, { start }: MemberPlace): string | undefined {
  return /^[ \t]*$/.exec(text.slice(startOfLine(text, start), start))?.[0];
}

/** Before the line break. */
function endOfLineBefore(text: string, at: number): number {
  const end = startOfLine(text, at) - 1;
  return text.charAt(end - 1) === '\r' ? end - 1 : end;
}

/** Behind the blanks and comments that follow on the line. */
function endOfLine(text: string, at: number): number {
  const scanner = new Scanner(text);
  scanner.at = at;
  for (;;) {
    scanner.take(/[ \t]+/y);
    if (scanner.skip('//')) scanner.take(/[^\r\n]*/y);
    else if (scanner.take(/\/\*[^\r\n]*?\*\//y) === undefined) return scanner.at;
  }
}
