/**
 * One entry of `mcpServers`: checked, expanded, and made into the configuration of an upstream server.
 * Owns: the shape of an entry, and the messages about its faults. Leaves alone: which files hold entries (files.ts).
 * Always true: a fault in one entry affects no other; every message names the field, and shows no value.
 */
import { resolve } from 'node:path';
import * as v from 'valibot';
import { lazy } from '../../lazy.ts';
import { asError, messageOf } from '../../log.ts';
import { isObject } from '../../protocol/index.ts';
import { type Patterns, splitPatterns } from '../../skills/patterns.ts';
import { shorten } from '../../text.ts';
import { MAX_TIMER_MS } from '../../wait.ts';
import type { HttpTarget } from '../connection/http-client.ts';
import type { StdioTarget } from '../connection/stdio.ts';
import { expand, type Variables } from './expand.ts';
import {
  DEFAULT_CALL_MS,
  DEFAULT_CONNECT_MS,
  MAX_ENTRY,
  MAX_NAME_SHOWN,
  MAX_PATTERN,
  MAX_PATTERNS,
  MAX_SERVER_NAME,
} from './limits.ts';
import { secretsOf } from './redact.ts';
import { nameFault } from './server-names.ts';

/** How a server is reached, or why it is not. */
type Target =
  | ({ readonly kind: 'stdio' } & StdioTarget)
  /** Falls back to SSE when the server has no streamable HTTP. */
  | ({ readonly kind: 'http' } & HttpTarget)
  | ({ readonly kind: 'sse' } & HttpTarget)
  | { readonly kind: 'none'; readonly state: InactiveState; readonly reason: string };

export type InactiveState = 'disabled' | 'untrusted' | 'failed';

export interface UpstreamConfig {
  readonly name: string;
  /** Its name in the configuration, where it is served under another. */
  readonly written?: string;
  /** The file of the entry, or another origin. */
  readonly from: string;
  readonly target: Target;
  /** Milliseconds that a call may go without response or progress. */
  readonly timeout: number;
  /** Milliseconds for connecting, and for each list. */
  readonly connectTimeout: number;
  readonly filter: Patterns;
  /** Found when first asked for, which should be after the server was started: it takes over a millisecond. */
  secrets(): readonly string[];
  /** Two configurations with one key are the same: the server is not restarted. It has secrets in it. */
  readonly key: string;
}

const text = v.string('must be text');
const textsBy = (name: v.GenericSchema<string>) => v.optional(v.record(name, text, 'must be an object of texts'), {});
const headerName = v.pipe(text, v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a valid header name'));
const isVariableName = (name: string) => /^[^=\0]+$/.test(name) && name.isWellFormed();
const variableName = v.pipe(text, v.check(isVariableName, 'is not a valid variable name'));
const pattern = v.pipe(text, v.maxLength(MAX_PATTERN, `is over ${MAX_PATTERN} characters`));
const list = v.pipe(v.array(pattern), v.maxLength(MAX_PATTERNS, `has over ${MAX_PATTERNS} patterns`));
const patterns = v.optional(v.union([pattern, list], 'must be a pattern or a list of patterns'), []);

const milliseconds = v.pipe(
  v.number('must be a number of milliseconds'),
  v.integer('must be a whole number of milliseconds'),
  v.minValue(1, 'must be at least 1'),
  v.maxValue(MAX_TIMER_MS, 'must be less than 2^31'),
);

const common = {
  timeout: v.optional(milliseconds, DEFAULT_CALL_MS),
  connectTimeout: v.optional(milliseconds, DEFAULT_CONNECT_MS),
  disabled: v.optional(v.boolean('must be true or false'), false),
  enabled: v.optional(v.boolean('must be true or false'), true),
  include: patterns,
  exclude: patterns,
};

/** Unknown fields are ignored: other programs keep their own in the same files. */
const StdioEntry = v.object({
  ...common,
  command: v.pipe(text, v.nonEmpty('is empty')),
  args: v.optional(v.array(text, 'must be a list of texts'), []),
  env: textsBy(variableName),
  envVars: v.optional(v.array(variableName, 'must be a list of names'), []),
  cwd: v.optional(text),
});

const RemoteEntry = v.object({
  ...common,
  url: v.pipe(text, v.nonEmpty('is empty')),
  headers: textsBy(headerName),
});

const TYPES = ['stdio', 'sse', 'http', 'streamable-http', 'streamableHttp', 'local', 'remote'] as const;
const Type = v.object({ type: v.optional(v.picklist(TYPES, `must be one of ${TYPES.slice(0, 3).join(', ')}`)) });

type StdioEntry = { readonly kind: 'stdio' } & v.InferOutput<typeof StdioEntry>;
type RemoteEntry = { readonly kind: 'http' | 'sse' } & v.InferOutput<typeof RemoteEntry>;

type Fields = Readonly<Record<string, unknown>>;

/** An entry as it is written in its file, before expansion. */
export type Entry = StdioEntry | RemoteEntry | { readonly kind: 'disabled' };

/** Its other fields do not matter then. */
export const isDisabled = ({ disabled, enabled }: Fields) => disabled === true || enabled === false;

/** Throws an Error that names the first faulty field. */
function readEntry(name: string, entry: unknown): Entry {
  const { url, command }: Fields = isObject(entry) ? entry : {};
  if (isObject(entry) && isDisabled(entry)) return { kind: 'disabled' };
  const fault = nameFault(name);
  if (fault !== undefined) throw new Error(fault);
  const { type = url !== undefined && command === undefined ? 'http' : 'stdio' } = check(Type, entry);
  if (type === 'stdio' || type === 'local') return { kind: 'stdio', ...check(StdioEntry, entry) };
  return { kind: type === 'sse' ? 'sse' : 'http', ...check(RemoteEntry, entry) };
}

/** The same, but gives the Error. */
export function tryReadEntry(name: string, entry: () => unknown): Entry | Error {
  try {
    return readEntry(name, entry());
  } catch (error) {
    return asError(error);
  }
}

/** Never throws: a fault becomes the reason of an inactive server. */
export function configOf(name: string, read: Entry | Error, from: string, variables: Variables): UpstreamConfig {
  try {
    if (read instanceof Error) throw read;
    if (read.kind === 'disabled') return inactiveConfig(name, from, 'disabled', 'disabled in its configuration');
    const { timeout, connectTimeout, include, exclude } = read;
    const filter = { include: splitPatterns([include].flat()), exclude: splitPatterns([exclude].flat()) };
    return withKey({ name, from, timeout, connectTimeout, filter, ...targetOf(read, variables) });
  } catch (error) {
    return inactiveConfig(name, from, 'failed', messageOf(error));
  }
}

export function inactiveConfig(name: string, from: string, state: InactiveState, reason: string): UpstreamConfig {
  const filter = { include: [], exclude: [] };
  const target = { kind: 'none', state, reason } as const;
  // The name may be the fault.
  const short = shorten(name, MAX_SERVER_NAME);
  return withKey({ name: short, from, target, timeout: 0, connectTimeout: 0, filter, secrets: () => [] });
}

/** The same under the name that the server is served by. `name`: undefined when that of its configuration has a fault. */
export function renamed(config: UpstreamConfig, written: string, name: string | undefined): UpstreamConfig {
  if (name === undefined || name === written) return config;
  return { ...config, name, written, key: `${name} ${config.key}` };
}

// --- internal ---

/** Expands the texts of an entry, within the limit of one entry. */
function targetOf(entry: StdioEntry | RemoteEntry, variables: Variables): Pick<UpstreamConfig, 'target' | 'secrets'> {
  const inserted = new Set<string>();
  let left = MAX_ENTRY;
  const expanded = (field: string, value: string): string => {
    try {
      const { text: result, inserted: values } = expand(value, variables, left);
      // Texts that no program can be given, or that would arrive changed.
      if (result.includes('\0')) throw new Error('it has a NUL character');
      if (!result.isWellFormed()) throw new Error('it has half of a surrogate pair, which is not a character');
      // An empty text counts too, or there could be any number of them.
      left -= result.length + 1;
      for (const one of values) inserted.add(one);
      return result;
    } catch (error) {
      throw new Error(`${shown(field)}: ${messageOf(error)}`);
    }
  };
  const allExpanded = (field: string, values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, expanded(`${field}.${name}`, value)]));

  if (entry.kind === 'stdio') {
    const target = {
      kind: entry.kind,
      command: expanded('command', entry.command),
      args: entry.args.map((arg, at) => expanded(`args[${at}]`, arg)),
      env: { ...inherited(entry.envVars, variables), ...allExpanded('env', entry.env) },
      cwd: resolve(variables.workspaceFolder, expanded('cwd', entry.cwd ?? '')),
    } as const;
    return { target, secrets: lazy(() => secretsOf({ ...target, inserted })) };
  }
  const href = expanded('url', entry.url);
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Error('url must be an http or https address');
  const headers = allExpanded('headers', entry.headers);
  const odd = Object.keys(headers).find((name) => !/^[\t\x20-\x7e\x80-\xff]*$/.test(headers[name] ?? ''));
  if (odd !== undefined) throw new Error(`${shown(`headers.${odd}`)} has a character that is not allowed in a header`);
  return { target: { kind: entry.kind, url, headers }, secrets: lazy(() => secretsOf({ url, headers, inserted })) };
}

/** Those of our variables that are set. */
function inherited(names: readonly string[], { env }: Variables): Readonly<Record<string, string>> {
  const values = names.map((name): readonly [string, unknown] => [name, env[name]]);
  return Object.fromEntries(values.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}

/** The key leaves out the secrets: they depend on which files exist, and a new file must not restart a server. */
function withKey(config: Omit<UpstreamConfig, 'key'>): UpstreamConfig {
  const { secrets: _secrets, ...rest } = config;
  return { ...config, key: JSON.stringify(rest) };
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
  return shorten(name.length < field.length ? `${name}…` : name, MAX_NAME_SHOWN);
}
