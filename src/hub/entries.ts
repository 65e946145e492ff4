/**
 * One entry of `mcpServers`: checked, its variables expanded, and made into the configuration of an upstream server.
 * Owns: the shape of an entry, variables, server names, what is secret in an entry. Leaves alone: which files have entries
 * (config.ts).
 * Always true: a fault in one entry affects no other; a message names the field and shows no value, as that may be secret;
 * the value of a variable is never expanded again.
 */
import { resolve } from 'node:path';
import * as v from 'valibot';
import { type Environment, patterns, wholeNumber } from '../config.ts';
import { CALL_MS, MAX_SERVER_NAME } from '../limits.ts';
import { messageOf } from '../log.ts';
import { isObject } from '../protocol/index.ts';
import { shorten, visible } from '../text.ts';

/** How a server is reached, or why it is not. */
export type Target =
  | ({ readonly kind: 'stdio' } & StdioTarget)
  /** `fallback`: whether SSE is tried when the server has no streamable HTTP. */
  | { readonly kind: 'http'; readonly url: string; readonly headers: Texts; readonly fallback: boolean }
  | { readonly kind: 'sse'; readonly url: string; readonly headers: Texts }
  | { readonly kind: 'none'; readonly state: InactiveState; readonly reason: string };

/** Of a server that is started or contacted. */
export type ActiveTarget = Exclude<Target, { kind: 'none' }>;

export interface StdioTarget {
  readonly command: string;
  readonly args: readonly string[];
  /** Of the entry alone. */
  readonly env: Texts;
  readonly cwd: string;
}

type InactiveState = 'untrusted' | 'disabled' | 'failed';
type Texts = Readonly<Record<string, string>>;

export interface UpstreamConfig {
  readonly name: string;
  /** The file of the entry. */
  readonly from: string;
  readonly target: Target;
  /** Milliseconds that a call may go without an answer or progress. */
  readonly timeout: number;
  readonly filter: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  /** Texts that nobody is shown. */
  readonly secrets: readonly string[];
}

interface Variables {
  readonly env: Environment;
  readonly workspaceFolder: string;
  readonly userHome: string;
}

/** Never throws: a fault becomes the reason of a server that is not started. `name`: see `servedName`. */
export function configOf(name: string, entry: unknown, from: string, variables: Variables): UpstreamConfig {
  try {
    // Its other fields do not matter then.
    if (isObject(entry) && entry.disabled === true) return inactive(name, from, 'disabled', 'disabled in its entry');
    const checked = check(entry);
    const { timeout, include, exclude } = checked;
    const { target, secrets } = targetOf(checked, variables);
    return { name, from, target, timeout, filter: { include, exclude }, secrets };
  } catch (error) {
    return inactive(name, from, 'failed', messageOf(error));
  }
}

export function inactive(name: string, from: string, state: InactiveState, reason: string): UpstreamConfig {
  const target = { kind: 'none', state, reason } as const;
  return { name, from, target, timeout: CALL_MS, filter: { include: [], exclude: [] }, secrets: [] };
}

/**
 * The name under which a server is served. A colon ends the server's part of a tool's name; a slash or a blank would end
 * it in URIs and patterns. Throws an Error when no server can have such a name.
 */
export function servedName(written: string): string {
  const name = written.trim().replace(/[:/\s]+/g, '-');
  if (name === '') throw new Error('its name is empty');
  if (name.length > MAX_SERVER_NAME) throw new Error(`its name is over ${MAX_SERVER_NAME} characters`);
  // Such characters are removed from what is listed, and no tool of the server could be called by its listed name.
  if (visible(name) !== name) throw new Error('its name has an invisible character');
  return name;
}

/** Whether a server is this program, or is at our own address: every host that uses skillwire has such an entry. */
export function isSelf(target: Target, address: string | undefined): boolean {
  if (target.kind === 'none') return false;
  if (target.kind !== 'stdio') return address !== undefined && hostOf(target.url) === hostOf(`http://${address}`);
  // The first word that is neither an option nor a program that runs others. Later ones may be any directory or name.
  const isProgram = (word: string) => !/^-|^\/[a-z]$/i.test(word) && !RUNNERS.has(programName(word));
  return /^skillwire(?:-stdio)?$/.test(programName([target.command, ...target.args].find(isProgram) ?? ''));
}

// --- internal ---

const text = v.string('must be text');
const filled = v.optional(v.pipe(text, v.nonEmpty('is empty')));
/** The fault of a name is reported without the name: people write `Authorization: Bearer SECRET` as one. */
const textsBy = (name: RegExp) => {
  const areNames = (values: Texts) => Object.keys(values).every((one) => name.test(one));
  const texts = v.record(v.string(), text, 'must be an object of texts');
  return v.optional(v.pipe(texts, v.check(areNames, 'has a name that is not allowed there')), {});
};
const oneOrMore = (given: unknown) => (typeof given === 'string' ? [given] : given);
const patternList = v.pipe(v.unknown(), v.transform(oneOrMore), patterns);

/** Unknown fields are ignored: other programs keep their own in the same files. */
const Entry = v.object({
  type: v.optional(v.picklist(['stdio', 'local', 'sse', 'http', 'streamable-http'], 'must be stdio, sse or http')),
  timeout: v.optional(wholeNumber(1), CALL_MS),
  include: v.optional(patternList, []),
  exclude: v.optional(patternList, []),
  command: filled,
  args: v.optional(v.array(text, 'must be a list of texts'), []),
  env: textsBy(/^[^=\0]+$/),
  cwd: v.optional(text, ''),
  url: filled,
  // What some hosts call it.
  httpUrl: filled,
  serverUrl: filled,
  headers: textsBy(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
});
type Entry = v.InferOutput<typeof Entry>;

function check(entry: unknown): Entry {
  // Stops at the first fault: a list of a million numbers would have a million.
  const parsed = v.safeParse(Entry, entry, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const field = v.getDotPath(parsed.issues[0]);
  if (field === null) throw new Error('must be an object');
  // A name that no header or variable has may be a header with its secret, written as one text.
  const [shown = ''] = /^[\w.-]+$/.test(field) ? [field] : field.split('.', 1);
  throw new Error(`${shorten(shown, 100)} ${parsed.issues[0].message}`);
}

function targetOf(entry: Entry, variables: Variables): Pick<UpstreamConfig, 'target' | 'secrets'> {
  const { type, command, url: written = entry.httpUrl ?? entry.serverUrl } = entry;
  const inserted = new Set<string>();
  const expanded = (field: string, source: string) => expand(field, source, variables, inserted);
  const allExpanded = (field: string, values: Texts): Texts =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, expanded(`${field}.${name}`, value)]));

  if (type === 'stdio' || type === 'local' || (!type && (command !== undefined || written === undefined))) {
    if (command === undefined) throw new Error('command is required');
    const target = {
      kind: 'stdio',
      command: expanded('command', command),
      args: entry.args.map((arg, at) => expanded(`args[${at}]`, arg)),
      env: allExpanded('env', entry.env),
      cwd: resolve(variables.workspaceFolder, expanded('cwd', entry.cwd)),
    } as const;
    return { target, secrets: [...inserted, ...Object.values(target.env)] };
  }
  const href = expanded('url', written ?? '');
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('url must be an http or https address');
  const headers = allExpanded('headers', entry.headers);
  const { username, password, searchParams } = url;
  const address = { url: url.href, headers };
  const target = type === 'sse' ? { kind: type, ...address } : { kind: 'http' as const, ...address, fallback: !type };
  // As they stand in the URL, decoded, and in the header of Basic authentication.
  const credentials = [username, password].map(decodeURIComponent);
  const basic = username + password === '' ? '' : Buffer.from(credentials.join(':')).toString('base64');
  const query = url.search.split('&').map((part) => part.replace(/^[^=]*=/, ''));
  const inUrl = [username, password, ...credentials, basic, ...query, ...searchParams.values()];
  return { target, secrets: [...inserted, ...Object.values(headers), ...inUrl] };
}

/** One pass. `inserted` takes the values of variables, which may be secret. Throws an Error that names field and variable. */
function expand(field: string, source: string, variables: Variables, inserted: Set<string>): string {
  const fail = (why: string) => new Error(`${shorten(field, 100)}: ${why}`);
  // Ends at the next brace, so that the time stays linear.
  const result = source.replace(/\$\{([^{}]*)(\}?)/g, (_all, reference: string, end: string) => {
    // Without its default, which may be a secret.
    const shown = `\${${shorten(reference.split(':-', 1)[0] ?? '', 100)}}`;
    if (end === '') throw fail(`${shown} is not closed, or has another inside`);
    if (reference === 'workspaceFolder' || reference === 'userHome') return variables[reference];
    const [, name, standard] = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s.exec(reference) ?? [];
    if (name === undefined) throw fail(`${shown} ${/^input:/.test(reference) ? NO_INPUT : 'is no known variable'}`);
    // Members that every object inherits are not variables.
    const found: unknown = variables.env[name];
    const value = typeof found === 'string' ? found : undefined;
    // As in a shell, `:-` also replaces an empty value.
    if (standard !== undefined && !value) return standard;
    if (value === undefined) throw fail(`the variable ${name} is not set`);
    if (!HARMLESS.has(name)) inserted.add(value);
    return value;
  });
  if (result.includes('\0')) throw fail('it has a NUL character');
  return result;
}

const NO_INPUT = 'has no value: its host asks a person for it; write the value or a ${VARIABLE} in its place';
// Common values that are not secret. Replacing them would make every message unreadable.
const HARMLESS: ReadonlySet<string> = new Set(['HOME', 'USER', 'LOGNAME', 'PWD', 'PATH', 'TMPDIR', 'SHELL', 'LANG']);
const RUNNERS: ReadonlySet<string> = new Set('npx npm pnpx pnpm yarn bunx bun deno node cmd exec dlx run x'.split(' '));

/** `C:\npm\npx.CMD` is `npx`; `skillwire@0.2.0` and `dist/skillwire.cjs` are `skillwire`. */
function programName(word: string): string {
  const file = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1).toLowerCase();
  const [name = ''] = file.split(/(?!^)@/, 1);
  return name.replace(/\.(?:cjs|mjs|js|cmd|exe|ps1)$/, '');
}

/** Host and port of an address, where every name of this machine is one. */
function hostOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { hostname, port } = new URL(address);
  return `${/^(?:localhost|127\..*|0\.0\.0\.0|\[::1?\])$/.test(hostname) ? 'localhost' : hostname}:${port}`;
}
