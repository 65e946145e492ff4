/**
 * Which upstream servers there are: entries of `mcpServers`, checked and expanded.
 * Owns: the shape of an entry and what may be wrong with it. Leaves alone: which files it stands in (files.ts).
 * Always true: a bad entry spoils itself and nothing else; every message names the file, the server and the field.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { messageOf } from '../../log.ts';
import { isObject } from '../../protocol/index.ts';
import { type Patterns, splitPatterns } from '../../skills/patterns.ts';
import { shorten } from '../../text.ts';
import type { HttpTarget } from '../connection/http-client.ts';
import type { StdioTarget } from '../connection/stdio.ts';
import { expand, type Variables } from './expand.ts';
import { secretsOf } from './redact.ts';

/** How a server is reached, or why it is not. */
export type Target =
  | ({ readonly kind: 'stdio' } & StdioTarget)
  /** Where streamable HTTP is not served the older SSE is tried. */
  | ({ readonly kind: 'http' } & HttpTarget)
  | ({ readonly kind: 'sse' } & HttpTarget)
  | { readonly kind: 'none'; readonly state: 'disabled' | 'untrusted' | 'failed'; readonly reason: string };

/** One server as it is to be run. */
export interface UpstreamConfig {
  readonly name: string;
  /** The file it stands in, or where else it came from. */
  readonly from: string;
  readonly target: Target;
  /** Milliseconds that one call may go without an answer or progress. */
  readonly timeout: number;
  /** Milliseconds that connecting, and each list after it, may take. */
  readonly connectTimeout: number;
  readonly filter: Patterns;
  readonly secrets: readonly string[];
  /** Equal as long as the server need not be restarted. */
  readonly key: string;
}

/** Long calls are real, and the client in front has limits of its own. This one only bounds what we keep for nobody. */
export const DEFAULT_CALL_MS = 300_000;
/** The first start of a server by npx downloads it. Nobody waits for that: connecting goes on behind everything else. */
export const DEFAULT_CONNECT_MS = 60_000;
/**
 * Characters of one entry, expanded: command, arguments, environment, headers. Linux gives a program about twice this for
 * all of it; and whatever an entry holds is looked for in every line that its server prints.
 */
export const MAX_ENTRY = 1024 * 1024;

/** Of one text in `include` or `exclude`, which may hold many patterns. Their reader throws at 64 KiB. */
export const LONGEST_PATTERN = 10_000;
/** Such texts in one of them: each is tried on each tool. */
export const MOST_PATTERNS = 1000;

const text = v.string('must be text');
const texts = v.record(text, text, 'must be an object of texts');
const pattern = v.pipe(text, v.maxLength(LONGEST_PATTERN, `is over ${LONGEST_PATTERN} characters`));
const list = v.pipe(v.array(pattern), v.maxLength(MOST_PATTERNS, `has over ${MOST_PATTERNS} patterns`));
const patterns = v.optional(v.union([pattern, list], 'must be a pattern or a list of patterns'), []);

const milliseconds = v.pipe(
  v.number('must be a number of milliseconds'),
  v.integer('must be a whole number of milliseconds'),
  v.minValue(1, 'must be at least 1'),
  v.maxValue(2 ** 31 - 1, 'must be less than 2^31'),
);

const common = {
  timeout: v.optional(milliseconds, DEFAULT_CALL_MS),
  connectTimeout: v.optional(milliseconds, DEFAULT_CONNECT_MS),
  disabled: v.optional(v.boolean('must be true or false'), false),
  include: patterns,
  exclude: patterns,
};
const Common = v.object(common);

/** Unknown fields are kept out, not refused: other programs have their own in the same files. */
export const StdioEntry = v.object({
  ...common,
  command: v.pipe(text, v.nonEmpty('is empty')),
  args: v.optional(v.array(text, 'must be a list of texts'), []),
  env: v.optional(texts, {}),
  cwd: v.optional(text),
});

export const RemoteEntry = v.object({
  ...common,
  url: v.pipe(text, v.nonEmpty('is empty')),
  headers: v.optional(texts, {}),
});

const Disabled = v.object({ disabled: v.literal(true) });
const TYPES = ['stdio', 'sse', 'http', 'streamable-http', 'streamableHttp'] as const;
const Kind = v.object({ type: v.optional(v.picklist(TYPES, `must be one of ${TYPES.slice(0, 3).join(', ')}`)) });

/** Where an entry stands and what its texts may refer to. */
export interface EntryContext {
  readonly from: string;
  readonly variables: Variables;
}

/** An entry as it stands in its file, before anything is expanded. */
export type Entry =
  | ({ readonly kind: 'stdio' } & v.InferOutput<typeof StdioEntry>)
  | ({ readonly kind: 'http' | 'sse' } & v.InferOutput<typeof RemoteEntry>)
  /** Whatever else is in it. */
  | { readonly kind: 'disabled' };

/** Throws what is wrong with it, with the field it is in. */
export function readEntry(name: string, entry: unknown): Entry {
  if (v.is(Disabled, entry)) return { kind: 'disabled' };
  checkName(name);
  const { type } = check(Kind, entry);
  const isRemote = type === undefined ? isObject(entry) && 'url' in entry && !('command' in entry) : type !== 'stdio';
  if (!isRemote) return { kind: 'stdio', ...check(StdioEntry, entry) };
  return { kind: type === 'sse' ? 'sse' : 'http', ...check(RemoteEntry, entry) };
}

/** Never throws: what is wrong with an entry is the plan's reason. */
export function parseEntry(name: string, entry: unknown, context: EntryContext): UpstreamConfig {
  try {
    const read = readEntry(name, entry);
    if (read.kind === 'disabled')
      return inactiveConfig(name, context.from, 'disabled', 'disabled in its configuration');
    return read.kind === 'stdio' ? stdioPlan(name, read, context) : remotePlan(name, read, context);
  } catch (error) {
    return inactiveConfig(name, context.from, 'failed', messageOf(error));
  }
}

export function inactiveConfig(
  name: string,
  from: string,
  state: 'disabled' | 'untrusted' | 'failed',
  reason: string,
): UpstreamConfig {
  const target = { kind: 'none', state, reason } as const;
  return finish({ name, from, target, timeout: 0, connectTimeout: 0, filter: NO_FILTER, secrets: [] });
}

// --- internal ---

const NO_FILTER: Patterns = { include: [], exclude: [] };
// It becomes the front of every tool's name, and a colon ends it there.
export const LONGEST_NAME = 64;
// Of the name of a field in a message: names are from outside, and a message is for reading.
const LONGEST_FIELD = 100;

function checkName(name: string): void {
  if (name === '') throw new Error('a server without a name');
  if (name.length > LONGEST_NAME) throw new Error(`its name is over ${LONGEST_NAME} characters`);
  if (/[:\p{C}\p{Z}/]/u.test(name)) throw new Error('its name holds a colon, slash, blank or control character');
}

function stdioPlan(
  name: string,
  entry: Extract<Entry, { kind: 'stdio' }>,
  { from, variables }: EntryContext,
): UpstreamConfig {
  const { command, args, env, cwd } = entry;
  const filling = createFilling(variables);
  for (const variable of Object.keys(env)) checkVariable(variable);
  const target = {
    kind: 'stdio',
    command: filling.text('command', command),
    args: args.map((arg, at) => filling.text(`args[${at}]`, arg)),
    env: filling.texts('env', env),
    cwd: resolve(variables.workspaceFolder, cwd === undefined ? '' : filling.text('cwd', cwd)),
  } as const;
  return finish({
    name,
    from,
    target,
    ...settingsOf(entry),
    secrets: secretsOf({ ...target, inserted: filling.inserted() }),
  });
}

function remotePlan(
  name: string,
  entry: Extract<Entry, { url: string }>,
  { from, variables }: EntryContext,
): UpstreamConfig {
  const filling = createFilling(variables);
  const target = { url: urlOf(filling.text('url', entry.url)), headers: filling.texts('headers', entry.headers) };
  for (const [field, value] of Object.entries(target.headers)) checkHeader(field, value);
  const secrets = secretsOf({ url: target.url.href, headers: target.headers, inserted: filling.inserted() });
  return finish({ name, from, target: { kind: entry.kind, ...target }, ...settingsOf(entry), secrets });
}

function finish(plan: Omit<UpstreamConfig, 'key'>): UpstreamConfig {
  return { ...plan, key: keyOf(plan) };
}

/** Without the secrets: what counts as one depends on which files exist, and a new file must not restart a server. */
function keyOf({ secrets: _secrets, ...plan }: Omit<UpstreamConfig, 'key'>): string {
  return createHash('sha256').update(JSON.stringify(plan)).digest('hex');
}

function settingsOf(entry: v.InferOutput<typeof Common>) {
  const { timeout, connectTimeout, include, exclude } = entry;
  const list = (value: string | string[]) => splitPatterns(typeof value === 'string' ? [value] : value);
  return { timeout, connectTimeout, filter: { include: list(include), exclude: list(exclude) } };
}

/** Throws what the first fault is, with the field it is in. */
function check<S extends v.GenericSchema>(schema: S, entry: unknown): v.InferOutput<S> {
  // Early: a list of a million numbers has one fault, not a million.
  const parsed = v.safeParse(schema, entry, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const field = v.getDotPath(issue);
  if (field === null) throw new Error('must be an object');
  throw new Error(`${shorten(field, LONGEST_FIELD)} ${issue.received === 'undefined' ? 'is required' : issue.message}`);
}

function urlOf(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Error('url must be an http or https address');
  return url;
}

function checkHeader(field: string, value: string): void {
  const shown = shorten(`headers.${field}`, LONGEST_FIELD);
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(field)) throw new Error(`${shown} is no name for a header`);
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw new Error(`${shown} holds what a header cannot`);
}

function checkVariable(name: string): void {
  if (name === '' || /[=\0]/.test(name) || !name.isWellFormed())
    throw new Error(`${shorten(`env.${name}`, LONGEST_FIELD)} is no name for a variable`);
}

/** What cannot be handed to a program, or would arrive as something else. */
function checkText(text: string): void {
  if (text.includes('\0')) throw new Error('it holds a NUL character');
  if (!text.isWellFormed()) throw new Error('it holds half of a surrogate pair, which is no character');
}

/** Expands the texts of one entry, remembers what came out of variables, and says which field a fault is in. */
function createFilling(variables: Variables) {
  const inserted = new Set<string>();
  let room = MAX_ENTRY;
  const one = (field: string, value: string): string => {
    try {
      const expanded = expand(value, variables, room);
      checkText(expanded.text);
      // An empty text takes room too, or there could be any number of them.
      room -= expanded.text.length + 1;
      for (const text of expanded.inserted) inserted.add(text);
      return expanded.text;
    } catch (error) {
      throw new Error(`${shorten(field, LONGEST_FIELD)}: ${messageOf(error)}`);
    }
  };
  return {
    inserted: () => [...inserted],
    text: one,
    texts: (field: string, values: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, one(`${field}.${name}`, value)])),
  };
}
