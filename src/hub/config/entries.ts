/**
 * One entry of `mcpServers`: checked, expanded, and made into the configuration of an upstream server.
 * Owns: the shape of an entry, and the messages about its faults. Leaves alone: which files hold entries (files.ts).
 * Always true: a fault in one entry affects no other; every message names the field, and shows no value.
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
import {
  DEFAULT_CALL_MS,
  DEFAULT_CONNECT_MS,
  MAX_ENTRY,
  MAX_FIELD_SHOWN,
  MAX_PATTERN,
  MAX_PATTERNS,
  MAX_SERVER_NAME,
} from './limits.ts';
import { secretsOf } from './redact.ts';

/** How a server is reached, or why it is not. */
export type Target =
  | ({ readonly kind: 'stdio' } & StdioTarget)
  /** Falls back to SSE when the server has no streamable HTTP. */
  | ({ readonly kind: 'http' } & HttpTarget)
  | ({ readonly kind: 'sse' } & HttpTarget)
  | { readonly kind: 'none'; readonly state: InactiveState; readonly reason: string };

export type InactiveState = 'disabled' | 'untrusted' | 'failed';

export interface UpstreamConfig {
  readonly name: string;
  /** The file of the entry, or another origin. */
  readonly from: string;
  readonly target: Target;
  /** Milliseconds that a call may go without response or progress. */
  readonly timeout: number;
  /** Milliseconds for connecting, and for each list. */
  readonly connectTimeout: number;
  readonly filter: Patterns;
  readonly secrets: readonly string[];
  /** Two configurations with one key are the same: the server is not restarted. */
  readonly key: string;
}

const text = v.string('must be text');
const texts = v.record(text, text, 'must be an object of texts');
const pattern = v.pipe(text, v.maxLength(MAX_PATTERN, `is over ${MAX_PATTERN} characters`));
const list = v.pipe(v.array(pattern), v.maxLength(MAX_PATTERNS, `has over ${MAX_PATTERNS} patterns`));
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

/** Unknown fields are ignored: other programs keep their own in the same files. */
const StdioEntry = v.object({
  ...common,
  command: v.pipe(text, v.nonEmpty('is empty')),
  args: v.optional(v.array(text, 'must be a list of texts'), []),
  env: v.optional(texts, {}),
  cwd: v.optional(text),
});

const RemoteEntry = v.object({
  ...common,
  url: v.pipe(text, v.nonEmpty('is empty')),
  headers: v.optional(texts, {}),
});

const Disabled = v.object({ disabled: v.literal(true) });
const TYPES = ['stdio', 'sse', 'http', 'streamable-http', 'streamableHttp'] as const;
const Type = v.object({ type: v.optional(v.picklist(TYPES, `must be one of ${TYPES.slice(0, 3).join(', ')}`)) });

type StdioEntry = { readonly kind: 'stdio' } & v.InferOutput<typeof StdioEntry>;
type RemoteEntry = { readonly kind: 'http' | 'sse' } & v.InferOutput<typeof RemoteEntry>;

/** An entry as it is written in its file, before expansion. The other fields of a disabled entry do not matter. */
export type Entry = StdioEntry | RemoteEntry | { readonly kind: 'disabled' };

export interface EntryContext {
  readonly from: string;
  readonly variables: Variables;
}

/** Throws an Error that names the first faulty field. */
export function readEntry(name: string, entry: unknown): Entry {
  if (v.is(Disabled, entry)) return { kind: 'disabled' };
  checkServerName(name);
  const { type } = check(Type, entry);
  const isRemote = type === undefined ? isObject(entry) && 'url' in entry && !('command' in entry) : type !== 'stdio';
  if (!isRemote) return { kind: 'stdio', ...check(StdioEntry, entry) };
  return { kind: type === 'sse' ? 'sse' : 'http', ...check(RemoteEntry, entry) };
}

/** Never throws: a fault becomes the reason of an inactive server. */
export function parseEntry(name: string, entry: unknown, { from, variables }: EntryContext): UpstreamConfig {
  try {
    const read = readEntry(name, entry);
    if (read.kind === 'disabled') return inactiveConfig(name, from, 'disabled', 'disabled in its configuration');
    const { timeout, connectTimeout, include, exclude } = read;
    const filter = { include: splitPatterns([include].flat()), exclude: splitPatterns([exclude].flat()) };
    const target = read.kind === 'stdio' ? stdioTarget(read, variables) : remoteTarget(read, variables);
    return withKey({ name, from, timeout, connectTimeout, filter, ...target });
  } catch (error) {
    return inactiveConfig(name, from, 'failed', messageOf(error));
  }
}

export function inactiveConfig(name: string, from: string, state: InactiveState, reason: string): UpstreamConfig {
  const filter = { include: [], exclude: [] };
  const target = { kind: 'none', state, reason } as const;
  return withKey({ name, from, target, timeout: 0, connectTimeout: 0, filter, secrets: [] });
}

// --- internal ---

type Reached = Pick<UpstreamConfig, 'target' | 'secrets'>;

function stdioTarget({ command, args, env, cwd }: StdioEntry, variables: Variables): Reached {
  const expander = createExpander(variables);
  for (const variable of Object.keys(env)) checkVariableName(variable);
  const target = {
    kind: 'stdio',
    command: expander.text('command', command),
    args: args.map((arg, at) => expander.text(`args[${at}]`, arg)),
    env: expander.texts('env', env),
    cwd: resolve(variables.workspaceFolder, cwd === undefined ? '' : expander.text('cwd', cwd)),
  } as const;
  return { target, secrets: secretsOf({ ...target, inserted: expander.inserted() }) };
}

function remoteTarget({ kind, url, headers: written }: RemoteEntry, variables: Variables): Reached {
  const expander = createExpander(variables);
  const address = httpUrl(expander.text('url', url));
  const headers = expander.texts('headers', written);
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
  const secrets = secretsOf({ url: address.href, headers, inserted: expander.inserted() });
  return { target: { kind, url: address, headers }, secrets };
}

/** The key leaves out the secrets: they depend on which files exist, and a new file must not restart a server. */
function withKey(config: Omit<UpstreamConfig, 'key'>): UpstreamConfig {
  const { secrets: _secrets, ...rest } = config;
  return { ...config, key: createHash('sha256').update(JSON.stringify(rest)).digest('hex') };
}

function check<S extends v.GenericSchema>(schema: S, entry: unknown): v.InferOutput<S> {
  // Stops at the first fault: a list of a million numbers would have a million.
  const parsed = v.safeParse(schema, entry, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const field = v.getDotPath(issue);
  if (field === null) throw new Error('must be an object');
  throw new Error(`${shown(field)} ${issue.received === 'undefined' ? 'is required' : issue.message}`);
}

/** A field's name in a message. It ends where no name goes on: people write `Authorization: Bearer SECRET` as a name. */
function shown(field: string): string {
  const [name = ''] = /^[\w.[\]-]*/.exec(field) ?? [];
  return shorten(name.length < field.length ? `${name}…` : name, MAX_FIELD_SHOWN);
}

function checkServerName(name: string): void {
  if (name === '') throw new Error('a server without a name');
  if (name.length > MAX_SERVER_NAME) throw new Error(`its name is over ${MAX_SERVER_NAME} characters`);
  // A colon ends the server's part of a tool's name.
  if (/[:\p{C}\p{Z}/]/u.test(name)) throw new Error('its name holds a colon, slash, blank or control character');
}

function httpUrl(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Error('url must be an http or https address');
  return url;
}

function checkHeader(name: string, value: string): void {
  const field = shown(`headers.${name}`);
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw new Error(`${field} is not a valid header name`);
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw new Error(`${field} holds a character that no header can hold`);
}

function checkVariableName(name: string): void {
  if (name === '' || /[=\0]/.test(name) || !name.isWellFormed())
    throw new Error(`${shown(`env.${name}`)} is not a valid variable name`);
}

/** Texts that no program can be given, or that would arrive changed. */
function checkText(text: string): void {
  if (text.includes('\0')) throw new Error('it holds a NUL character');
  if (!text.isWellFormed()) throw new Error('it holds half of a surrogate pair, which is not a character');
}

/** Expands the texts of one entry within its limit, and collects the values of variables. */
function createExpander(variables: Variables) {
  const inserted = new Set<string>();
  let left = MAX_ENTRY;
  const expandText = (field: string, value: string): string => {
    try {
      const expanded = expand(value, variables, left);
      checkText(expanded.text);
      // An empty text counts too, or there could be any number of them.
      left -= expanded.text.length + 1;
      for (const one of expanded.inserted) inserted.add(one);
      return expanded.text;
    } catch (error) {
      throw new Error(`${shown(field)}: ${messageOf(error)}`);
    }
  };
  return {
    inserted: () => [...inserted],
    text: expandText,
    texts: (field: string, values: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, expandText(`${field}.${name}`, value)])),
  };
}
