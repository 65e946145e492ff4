/**
 * Our entry in the text of a client's configuration: put there, or taken out.
 * Owns: when the entry counts as there already, and restoring the text from before it.
 * Leaves alone: the syntax (edit-json.ts, edit-toml.ts), the file (client-file.ts).
 * Always true: nothing but our entry changes, for the new text is parsed and compared; text that cannot be parsed throws.
 */
import { isDeepStrictEqual } from 'node:util';
import { parseJsonc } from '../../files/jsonc.ts';
import { parseToml } from '../../files/toml.ts';
import { isObject } from '../../protocol/index.ts';
import { type ClientEntry, ENTRY_KEYS, ENTRY_NAME, type SetupClient } from './clients.ts';
import { removeMember, setMembers } from './edit-json.ts';
import { removeTable, setTable } from './edit-toml.ts';

type Place = Pick<SetupClient, 'format' | 'servers'>;

/** The text with the entry; the same text when it has it already. An empty text is that of a new file. */
export function withEntry({ format, servers }: Place, text: string, entry: ClientEntry): string {
  const { parse, set } = FORMATS[format];
  const before = parse(text);
  const known = entryIn(before, servers);
  // The user's own keys, such as variables for the program, stay.
  const own = isObject(known) ? Object.entries(known).filter(([key]) => !ENTRY_KEYS.includes(key)) : [];
  const wanted = { ...entry, ...Object.fromEntries(own) };
  if (isDeepStrictEqual(known, wanted)) return text;
  const after = set(text, [servers, ENTRY_NAME], wanted);
  return checked(parse(after), { ...before, [servers]: { ...Object(before[servers]), [ENTRY_NAME]: wanted } }, after);
}

/** Whether the text has this entry, another one of ours, or none. */
export function entryState(place: Place, text: string, entry: ClientEntry): 'there' | 'differs' | 'missing' {
  if (entryIn(FORMATS[place.format].parse(text), place.servers) === undefined) return 'missing';
  return withEntry(place, text, entry) === text ? 'there' : 'differs';
}

/**
 * The text without the entry; the same text when it has none. `backup`: an older text, which is given when it is exactly
 * what the entry was added to. Undefined: the text is that of a new file, with nothing but the entry.
 */
export function withoutEntry({ format, servers }: Place, text: string, backup: string | undefined): string | undefined {
  const { parse, set, remove } = FORMATS[format];
  const before = parse(text);
  const known = entryIn(before, servers);
  if (known === undefined) return text;
  const addedTo = (old: string) => {
    try {
      return (
        isObject(known) && entryIn(parse(old), servers) === undefined && set(old, [servers, ENTRY_NAME], known) === text
      );
    } catch {
      return false; // The backup has a fault of its own.
    }
  };
  if (backup !== undefined && addedTo(backup)) return backup;
  if (addedTo('')) return undefined;
  const after = remove(text, [servers, ENTRY_NAME]);
  const { [ENTRY_NAME]: _removed, ...others } = Object(before[servers]);
  // The last table of TOML takes the table of servers with it.
  return checked({ [servers]: {}, ...parse(after) }, { ...before, [servers]: others }, after);
}

// --- internal ---

const FORMATS = {
  json: { parse: (text: string) => parseObject(text, true), set: setMembers, remove: removeMember },
  jsonc: { parse: (text: string) => parseObject(text, false), set: setMembers, remove: removeMember },
  toml: { parse: (text: string): ClientEntry => parseToml(text).value, set: setTable, remove: removeTable },
} as const;

/** Where there is no object at all, setting a member finds that out and says where. */
function parseObject(text: string, isStrict: boolean): ClientEntry {
  const value = text.trim() === '' ? {} : parseJsonc(text, { isStrict }).value;
  return isObject(value) ? value : {};
}

function entryIn(value: ClientEntry, servers: string): unknown {
  const entries = Object.hasOwn(value, servers) ? value[servers] : undefined;
  return isObject(entries) && Object.hasOwn(entries, ENTRY_NAME) ? entries[ENTRY_NAME] : undefined;
}

/** Equal keys twice, for example, make a text that cannot be changed in one place. */
function checked(value: unknown, expected: unknown, text: string): string {
  if (!isDeepStrictEqual(value, expected))
    throw new Error('it is written in a form that setup cannot edit; change it by hand');
  return text;
}
