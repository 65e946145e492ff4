/**
 * The formats in which hosts keep MCP servers, one row each.
 * Owns: where servers are in a file, and how an entry becomes one of `.mcp.json`. Leaves alone: what an entry means
 * (entries.ts), reading files (files.ts), where hosts keep them (hosts.ts).
 * Always true: a fault in one entry affects no other; time and memory are linear in the size of the file, and fields that
 * are not known are ignored.
 */
import { isObject } from '../../protocol/index.ts';
import { type Entry, isDisabled, tryReadEntry } from './entries.ts';
import { literally } from './expand.ts';
import { MAX_ENTRY, MAX_SERVERS } from './limits.ts';

/** Where a file was found. */
export interface FilePlace {
  readonly path: string;
  /** The paths by which a host may know the project that we serve. */
  readonly projects: readonly string[];
}

/** The servers that one file names. */
export interface Servers {
  readonly servers: ReadonlyMap<string, Entry | Error>;
  /** What is left out, and why. */
  readonly faults: readonly string[];
}

/** Throws an Error when servers stand where they should, but not as an object. */
export function serversIn(file: Fields, place: FilePlace): Servers {
  const servers = new Map<string, Entry | Error>();
  let count = 0;
  for (const { key, find, converter } of FORMATS) {
    const found = find(file, place);
    if (found === undefined) continue;
    if (!isObject(found)) throw new Error(`${key} must be an object`);
    const convert = converter(file, place);
    for (const [name, entry] of Object.entries(found)) {
      count += 1;
      if (count > MAX_SERVERS) continue;
      const isAsItIs = !isObject(entry) || isDisabled(entry);
      servers.set(
        name,
        tryReadEntry(name, () => (isAsItIs ? entry : convert(entry))),
      );
    }
  }
  const tooMany = `names ${count} servers; only the first ${MAX_SERVERS} are looked at`;
  return { servers, faults: count > MAX_SERVERS ? [tooMany] : [] };
}

// --- internal ---

type Fields = Readonly<Record<string, unknown>>;

interface Format {
  readonly key: string;
  /** Undefined when the file has no servers in this format. */
  find(file: Fields, place: FilePlace): unknown;
  /** Made once for a file. May throw an Error that names a field, which is then the fault of that entry. */
  converter(file: Fields, place: FilePlace): (entry: Fields) => Fields;
}

/** Of two entries of one name that of the later row counts. */
const FORMATS: readonly Format[] = [
  // Claude, Cursor, Gemini CLI, Copilot CLI, Windsurf and others, and our own files.
  { key: 'mcpServers', find: ({ mcpServers }) => mcpServers, converter: mostHosts },
  // Claude Code: servers that were added for one project only.
  { key: 'projects', find: serversOfProject, converter: mostHosts },
  // VS Code.
  { key: 'servers', find: ({ servers }) => servers, converter: mostHosts },
  { key: 'context_servers', find: (file) => file.context_servers, converter: () => zed },
  { key: 'mcp', find: serversOfOpenCode, converter: () => openCode },
  { key: 'mcp_servers', find: (file) => file.mcp_servers, converter: () => codex },
];

/** For messages. */
export const SERVER_KEYS: string = FORMATS.map(({ key }) => key).join(', ');

function serversOfProject({ projects }: Fields, place: FilePlace): unknown {
  if (!isObject(projects)) return undefined;
  const known = place.projects.map((path) => (Object.hasOwn(projects, path) ? projects[path] : undefined));
  return known.map((one) => (isObject(one) ? one.mcpServers : undefined)).find((one) => one !== undefined);
}

/** Its second version has one more level. Under the same key Gemini CLI keeps lists and texts, which are not servers. */
function serversOfOpenCode({ mcp }: Fields): unknown {
  if (!isObject(mcp)) return undefined;
  const servers = isObject(mcp.servers) && mcp.servers.type === undefined ? mcp.servers : mcp;
  return Object.fromEntries(Object.entries(servers).filter(([, entry]) => isObject(entry)));
}

function mostHosts({ inputs }: Fields, { path }: FilePlace): (entry: Fields) => Fields {
  const values = defaultsOf(inputs);
  // Gemini CLI expands variables without braces too.
  const isGemini = /[\\/]\.gemini[\\/]settings\.json$/.test(path);
  return (entry) => {
    const { httpUrl, serverUrl, includeTools, tools, excludeTools, disabledTools } = entry;
    const url = httpUrl ?? serverUrl ?? entry.url;
    const include = entry.include ?? toolPatterns(includeTools ?? tools);
    const exclude = entry.exclude ?? toolPatterns(excludeTools ?? disabledTools);
    let left = MAX_ENTRY;
    return mapTexts({ ...entry, url, include, exclude }, (text) => {
      const known = isGemini ? text.replace(/\$(?=[A-Za-z_])(\w+)/g, '${$1}') : text;
      return known.replace(/\$\{input:([^{}]*)\}/g, (reference, id: string) => {
        const value = values.get(id) ?? reference;
        left -= value.length;
        if (left < 0) throw new Error('its inputs are too long');
        return value;
      });
    });
  };
}

/** What VS Code would ask a person for, where it has a default. */
function defaultsOf(inputs: unknown): ReadonlyMap<string, string> {
  const defaults = new Map<string, string>();
  for (const input of Array.isArray(inputs) ? inputs : []) {
    const { id, default: value }: Fields = isObject(input) ? input : {};
    if (typeof id === 'string' && typeof value === 'string') defaults.set(id, literally(value));
  }
  return defaults;
}

/** Expands nothing. In its older form `command` holds all that is run. */
function zed(entry: Fields): Fields {
  const { command, source, url } = entry;
  if (source === 'extension' || (command === undefined && url === undefined))
    throw new Error('has no command or url: an extension of its host starts it');
  const run = isObject(command) ? { command: command.path, args: command.args, env: command.env } : {};
  return mapTexts({ ...entry, ...run, timeout: milliseconds(entry, 'timeout') }, literally);
}

/** `timeout` was one number for connecting and listing; later it holds that and the one for calls. */
function openCode(entry: Fields): Fields {
  const { command, environment: env = entry.env, timeout } = entry;
  const run = Array.isArray(command) ? { command: command[0], args: command.slice(1) } : {};
  const { startup: connectTimeout, request }: Fields = isObject(timeout) ? timeout : { startup: timeout };
  return mapTexts({ ...entry, ...run, env, connectTimeout, timeout: request }, (text) => {
    if (text.includes('{file:')) throw new Error('{file:…} is not read here; write {env:VARIABLE} in its place');
    return literally(text).replace(/\{env:([^{}]*)\}/g, '${$1}');
  });
}

/** Expands nothing; the names of variables have fields of their own. */
function codex(entry: Fields): Fields {
  const { env_vars: names, env_http_headers: variables, bearer_token_env_var: token } = entry;
  const { headers, ...rest } = mapTexts({ ...entry, headers: entry.http_headers ?? {} }, literally);
  const fromVariables = Object.entries(isObject(variables) ? variables : {}).map(([name, from]) => [
    name,
    `\${${from}}`,
  ]);
  const secret = token === undefined ? {} : { Authorization: `Bearer \${${token}}` };
  return {
    ...rest,
    headers: isObject(headers) ? { ...headers, ...Object.fromEntries(fromVariables), ...secret } : headers,
    envVars: Array.isArray(names) ? names.map((one) => (isObject(one) ? one.name : one)) : names,
    connectTimeout: milliseconds(entry, 'startup_timeout_sec') ?? entry.startup_timeout_ms,
    timeout: milliseconds(entry, 'tool_timeout_sec'),
    include: toolPatterns(entry.enabled_tools),
    exclude: toolPatterns(entry.disabled_tools),
  };
}

/** The names of tools as patterns. A bare one that is the server's name too would mean all its tools. */
function toolPatterns(names: unknown): unknown {
  if (!Array.isArray(names)) return undefined;
  // Gemini CLI takes names with arguments. An empty list means no tools, as does a pattern that is empty.
  const patterns = names.map((name) => (typeof name === 'string' ? `*:${name.replace(/\(.*$/s, '')}` : name));
  return patterns.length === 0 ? [''] : patterns;
}

function milliseconds(entry: Fields, field: string): number | undefined {
  const seconds = entry[field];
  if (seconds === undefined) return undefined;
  if (typeof seconds !== 'number' || !(seconds > 0)) throw new Error(`${field} must be a number of seconds`);
  return Math.ceil(seconds * 1000);
}

const TEXT_FIELDS = ['command', 'args', 'env', 'cwd', 'url', 'headers'];

/** Changes the texts that are expanded later. A value that is not text stays: the check of the entry finds it. */
function mapTexts(entry: Fields, change: (text: string) => string): Fields {
  const changed = (value: unknown) => (typeof value === 'string' ? change(value) : value);
  const fields = TEXT_FIELDS.map((field) => {
    const value = entry[field];
    if (Array.isArray(value)) return [field, value.map(changed)];
    if (!isObject(value)) return [field, changed(value)];
    return [field, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changed(one)]))];
  });
  return { ...entry, ...Object.fromEntries(fields) };
}
