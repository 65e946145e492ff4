/**
 * Which upstream servers there are: entries of `mcpServers`, checked and expanded.
 * Owns: the shape of an entry and what may be wrong with it. Leaves alone: which files it stands in (files.ts).
 * Always true: a bad entry spoils itself and nothing else; every message names the file, the server and the field.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { type Patterns, splitPatterns } from '../skills/patterns.ts';
import { expand, type Variables } from './expand.ts';
import type { HttpTarget } from './http-wire.ts';
import { secretsOf } from './redact.ts';
import type { StdioTarget } from './stdio-wire.ts';

/** How a server is reached, or why it is not. */
export type Way =
  | ({ readonly kind: 'stdio' } & StdioTarget)
  /** Where streamable HTTP is not served the older SSE is tried. */
  | ({ readonly kind: 'http' } & HttpTarget)
  | ({ readonly kind: 'sse' } & HttpTarget)
  | { readonly kind: 'none'; readonly state: 'disabled' | 'untrusted' | 'failed'; readonly reason: string };

/** One server as it is to be run. */
export interface Plan {
  readonly name: string;
  /** The file it stands in, or where else it came from. */
  readonly from: string;
  readonly way: Way;
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

const text = v.string('must be text');
const texts = v.record(text, text, 'must be an object of texts');
const patterns = v.optional(v.union([text, v.array(text)], 'must be a pattern or a list of patterns'), []);

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

const TYPES = ['stdio', 'sse', 'http', 'streamable-http', 'streamableHttp'] as const;
const Kind = v.object({ type: v.optional(v.picklist(TYPES, `must be one of ${TYPES.slice(0, 3).join(', ')}`)) });

/** Where an entry stands and what its texts may refer to. */
export interface EntryContext {
  readonly from: string;
  readonly variables: Variables;
}

/** Never throws: what is wrong with an entry is the plan's reason. */
export function planOf(name: string, entry: unknown, context: EntryContext): Plan {
  try {
    checkName(name);
    return isRemote(entry) ? remotePlan(name, entry, context) : stdioPlan(name, entry, context);
  } catch (error) {
    return idlePlan(name, context.from, 'failed', error instanceof Error ? error.message : String(error));
  }
}

export function idlePlan(name: string, from: string, state: 'disabled' | 'untrusted' | 'failed', reason: string): Plan {
  const way = { kind: 'none', state, reason } as const;
  return finish({ name, from, way, timeout: 0, connectTimeout: 0, filter: NO_FILTER, secrets: [] });
}

// --- internal ---

const NO_FILTER: Patterns = { include: [], exclude: [] };
// It becomes the front of every tool's name, and a colon ends it there.
const LONGEST_NAME = 64;

function checkName(name: string): void {
  if (name === '') throw new Error('a server without a name');
  if (name.length > LONGEST_NAME) throw new Error(`its name is over ${LONGEST_NAME} characters`);
  if (/[:\p{C}\p{Z}/]/u.test(name)) throw new Error('its name holds a colon, slash, blank or control character');
}

function isRemote(entry: unknown): boolean {
  const { type } = check(Kind, entry);
  if (type !== undefined) return type !== 'stdio';
  return typeof entry === 'object' && entry !== null && 'url' in entry && !('command' in entry);
}

function stdioPlan(name: string, entry: unknown, { from, variables }: EntryContext): Plan {
  const { command, args, env, cwd, ...rest } = check(StdioEntry, entry);
  const filling = createFilling(variables);
  const target = () => ({
    command: filling.text('command', command),
    args: args.map((arg, at) => filling.text(`args[${at}]`, arg)),
    env: filling.texts('env', env),
    cwd: resolve(variables.workspaceFolder, cwd === undefined ? '' : filling.text('cwd', cwd)),
  });
  if (rest.disabled) return idlePlan(name, from, 'disabled', 'disabled in its configuration');
  const way = { kind: 'stdio', ...target() } as const;
  return finish({ name, from, way, ...settingsOf(rest), secrets: secretsOf({ ...way, inserted: filling.inserted }) });
}

function remotePlan(name: string, entry: unknown, { from, variables }: EntryContext): Plan {
  const { url, headers, ...rest } = check(RemoteEntry, entry);
  const { type } = check(Kind, entry);
  if (rest.disabled) return idlePlan(name, from, 'disabled', 'disabled in its configuration');
  const filling = createFilling(variables);
  const target = { url: urlOf(filling.text('url', url)), headers: filling.texts('headers', headers) };
  for (const [field, value] of Object.entries(target.headers)) checkHeader(field, value);
  const secrets = secretsOf({ url: target.url.href, headers: target.headers, inserted: filling.inserted });
  const way = { kind: type === 'sse' ? 'sse' : 'http', ...target } as const;
  return finish({ name, from, way, ...settingsOf(rest), secrets });
}

function finish(plan: Omit<Plan, 'key'>): Plan {
  return { ...plan, key: keyOf(plan) };
}

/** Without the secrets: what counts as one depends on which files exist, and a new file must not restart a server. */
function keyOf({ secrets: _secrets, ...plan }: Omit<Plan, 'key'>): string {
  return createHash('sha256').update(JSON.stringify(plan)).digest('hex');
}

function settingsOf(entry: v.InferOutput<typeof Common>) {
  const { timeout, connectTimeout, include, exclude } = entry;
  const list = (value: string | string[]) => splitPatterns(typeof value === 'string' ? [value] : value);
  return { timeout, connectTimeout, filter: { include: list(include), exclude: list(exclude) } };
}

/** Throws what the first fault is, with the field it is in. */
function check<S extends v.GenericSchema>(schema: S, entry: unknown): v.InferOutput<S> {
  const parsed = v.safeParse(schema, entry);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const field = v.getDotPath(issue);
  if (field === null) throw new Error('must be an object');
  throw new Error(`${field} ${issue.received === 'undefined' ? 'is required' : issue.message}`);
}

function urlOf(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Error('url must be an http or https address');
  return url;
}

function checkHeader(field: string, value: string): void {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(field)) throw new Error(`headers.${field} is no name for a header`);
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw new Error(`headers.${field} holds what a header cannot`);
}

/** Expands texts, remembers what came out of variables, and says which field a fault is in. */
function createFilling(variables: Variables) {
  const inserted: string[] = [];
  const one = (field: string, value: string): string => {
    try {
      const expanded = expand(value, variables);
      inserted.push(...expanded.inserted);
      return expanded.text;
    } catch (error) {
      throw new Error(`${field}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return {
    inserted,
    text: one,
    texts: (field: string, values: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, one(`${field}.${name}`, value)])),
  };
}
