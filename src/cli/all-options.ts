/**
 * The options of `serve`, and the way from their values to those of `createSkillwire`.
 * Owns: the options of HTTP and of the hub. Leaves alone: those that the stdio program has too (options.ts), those of the
 * commands for people (view-options.ts).
 */
import { DEFAULT_ADDRESS, DEFAULTS, HOST_NAMES, type SkillwireOptions } from '../config.ts';
import type { Problem } from '../model.ts';
import { FIND_OPTIONS, flag, GENERAL_OPTIONS, type OptionTable, REPEATABLE, SERVE_OPTIONS, value } from './options.ts';
import { skillOptions, type Values } from './parse.ts';
import { commandLine } from './self-command.ts';

/** Where a server over HTTP is reached, unless told otherwise. */
export const DEFAULT_URL = `http://${DEFAULT_ADDRESS.host}:${DEFAULT_ADDRESS.port}/mcp`;

const HTTP_OPTIONS = {
  transport: value('stdio|http|sse', 'How clients reach the server.', { default: 'stdio' }),
  // Without a default in the table: given without --transport they are a mistake, which a default would hide.
  host: value('HOST', `Where http and sse listen (${DEFAULT_ADDRESS.host}).`),
  port: value('N', `The port for http and sse; 0 chooses a free one (${DEFAULT_ADDRESS.port}).`, { most: 65_535 }),
  'allow-host': value(
    'NAME',
    'Another host name by which clients reach the server (http, sse). Repeatable.',
    REPEATABLE,
  ),
  'allow-origin': value('URL', 'A web origin whose pages may use the server (http, sse). Repeatable.', REPEATABLE),
  'no-auth': flag('Listen beyond this machine without a SKILLWIRE_TOKEN.'),
} as const satisfies OptionTable;

export const HUB_OPTIONS = {
  hub: flag('Serve the tools of other MCP servers too (~/.kode.json, ./.kode.json).'),
  config: value(
    'FILE',
    'Also read MCP servers from this file, in the format of any known host. Repeatable.',
    REPEATABLE,
  ),
  import: value('HOST', `Also read the MCP servers of a host: ${HOST_NAMES.join(', ')}. Repeatable.`, {
    ...REPEATABLE,
    choices: HOST_NAMES,
  }),
  'trust-project': flag("Let this project's own files start their servers."),
  'health-interval': value('MS', 'Milliseconds of silence after which an upstream server is checked.', {
    least: 1,
    default: String(DEFAULTS.healthInterval),
  }),
} as const satisfies OptionTable;

/** What `serve` takes. The other commands that look at skills take it too, so that they show what that server serves. */
export const ALL_OPTIONS = {
  ...HTTP_OPTIONS,
  ...FIND_OPTIONS,
  ...SERVE_OPTIONS,
  ...HUB_OPTIONS,
  ...GENERAL_OPTIONS,
} as const;

export type AllValues = Values<typeof ALL_OPTIONS>;

export function allOptions(values: AllValues): SkillwireOptions {
  return {
    ...skillOptions(values),
    hub: values.hub,
    configFiles: values.config,
    importHosts: values.import,
    trustProject: values['trust-project'],
    healthInterval: values['health-interval'],
    commandLine,
  };
}

/** Options that have no effect without another one. */
export function optionFaults(values: AllValues): readonly Problem[] {
  const idle = (isUsed: boolean, names: readonly (keyof AllValues)[], needed: string) => {
    const given = isUsed ? [] : names.filter((name) => isGiven(values[name])).map((name) => `--${name}`);
    const what = `has no effect without ${needed}; add that`;
    return given.map((where) => ({ where, what }));
  };
  return [
    ...idle(values.transport !== 'stdio', HTTP_ONLY, '--transport http (or sse)'),
    ...idle(values.hub, ['config', 'import', 'trust-project'], '--hub'),
  ];
}

/** The same options for another command line. */
export function repeated(values: AllValues): readonly string[] {
  return Object.entries(ALL_OPTIONS as OptionTable).flatMap(([name, option]) => {
    const value: unknown = Reflect.get(values, name);
    if (option.type === 'boolean') return value ? [`--${name}`] : [];
    const given = [value].flat().filter((one) => one !== undefined && String(one) !== option.default);
    // With an equals sign: a value may begin with a dash.
    return given.map((one) => `--${name}=${one}`);
  });
}

// --- internal ---

const HTTP_ONLY = ['host', 'port', 'allow-host', 'allow-origin', 'no-auth'] as const;

/** A port may be 0; an option that can be repeated has a list, which is empty when it was not given. */
const isGiven = (value: AllValues[keyof AllValues]) =>
  value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
