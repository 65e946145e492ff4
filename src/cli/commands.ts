/**
 * The commands of the whole program, one row each, and the options that only they have.
 * Leaves alone: what they do; the file of a command is loaded when the command is given.
 */
import * as v from 'valibot';
import { choice, list, type SkillwireOptions, text, wholeNumber } from '../config.ts';
import { DEFAULT_RESULTS, MAX_RESULTS } from '../limits.ts';
import { DEFAULT_ADDRESS } from '../skillwire.ts';
import type { Command } from './command.ts';
import { flag, GENERAL_OPTIONS, type OptionTable, SERVE_WORDS, SKILL_OPTIONS, setting, value } from './options.ts';
import type { Values } from './parse.ts';
import { libraryOptions } from './process.ts';

const hostName = v.pipe(
  v.string(),
  v.regex(/^(?:[\w.-]+|\[?[\da-f]*:[\da-f.]*:[\da-f:.]*\]?)$/i, 'must be a host name, without a port'),
);
const webOrigin = v.pipe(
  v.string(),
  v.regex(/^(?:null|[a-z][a-z\d+.-]*:\/\/[^/\s*]*\/?)$/i, 'must be like https://example.com'),
);
const HTTP_OPTIONS = {
  transport: value(
    'stdio|http|sse',
    'How clients reach the server.',
    v.optional(choice('stdio', 'http', 'sse'), 'stdio'),
  ),
  host: value('HOST', 'Where http and sse listen.', v.optional(text, DEFAULT_ADDRESS.host)),
  port: value('N', 'Their port; 0 chooses a free one.', v.optional(wholeNumber(0, 65_535), DEFAULT_ADDRESS.port)),
  'allow-host': value('H', 'Another host name of this server. Repeatable.', list(hostName)),
  'allow-origin': value('O', 'A web origin whose pages may use the server. Repeatable.', list(webOrigin)),
  'no-auth': flag('Listen beyond this machine without a SKILLWIRE_TOKEN.'),
} as const satisfies OptionTable;

const HUB_OPTIONS = {
  hub: setting('hub', 'Serve the tools of the servers in .kode.json files too.'),
  config: setting('configFiles', 'Also read MCP servers from this JSON file. Repeatable.', 'FILE'),
  'trust-project': setting('trustProject', "Let this project's .kode.json start its servers."),
  'health-interval': setting('healthInterval', 'Between two health checks of a server.', 'MS'),
} as const satisfies OptionTable;

/** What `serve` takes. The commands that look at skills take it too, so that they show what that server serves. */
export const ALL_OPTIONS = { ...HTTP_OPTIONS, ...SKILL_OPTIONS, ...HUB_OPTIONS, ...GENERAL_OPTIONS } as const;

const JSON_OPTION = { json: flag('Output for programs.') } as const;
const VIEW_OPTIONS = { ...JSON_OPTION, ...ALL_OPTIONS } as const;
const LIST_OPTIONS = { all: flag('With the copies that another skill of the same name hides.'), ...VIEW_OPTIONS };
const SEARCH_OPTIONS = {
  limit: value('N', 'How many skills are shown.', v.optional(wholeNumber(1, MAX_RESULTS), DEFAULT_RESULTS)),
  ...VIEW_OPTIONS,
} as const;
const CHECK_OPTIONS = { ...JSON_OPTION, ...GENERAL_OPTIONS } as const;
const SETUP_OPTIONS = { write: flag("Put the entry into the client's file."), ...GENERAL_OPTIONS } as const;

export type AllValues = Values<typeof ALL_OPTIONS>;
export type ViewValues = Values<typeof VIEW_OPTIONS>;
export type ListValues = Values<typeof LIST_OPTIONS>;
export type SearchValues = Values<typeof SEARCH_OPTIONS>;
export type CheckValues = Values<typeof CHECK_OPTIONS>;
export type SetupValues = Values<typeof SETUP_OPTIONS>;

/** The values under the names of the library, and what else the server takes from this process. */
export function allOptions(values: AllValues): SkillwireOptions {
  // A hub over HTTP must not connect to itself.
  const address = values.transport === 'stdio' ? {} : { address: `${bracketed(values.host)}:${values.port}` };
  return { ...libraryOptions(values, ALL_OPTIONS), ...address };
}

export const COMMANDS: readonly Command[] = [
  command({
    name: 'serve',
    aliases: SERVE_WORDS.slice(1),
    help: 'Serve MCP on stdin and stdout, or over HTTP (default).',
    options: ALL_OPTIONS,
    run: async (values) => (await import('./serve.ts')).serve(values),
  }),
  command({
    name: 'list',
    help: 'List the skills that an agent is told of.',
    options: LIST_OPTIONS,
    run: async (values) => (await import('./list.ts')).list(values),
  }),
  command({
    name: 'show',
    words: 'NAME',
    help: 'Print a skill exactly as an agent gets it.',
    options: VIEW_OPTIONS,
    run: async (values, words) => (await import('./show.ts')).show(values, words),
  }),
  command({
    name: 'search',
    words: 'QUERY...',
    help: 'Find the skills that contain all these words.',
    options: SEARCH_OPTIONS,
    run: async (values, words) => (await import('./search.ts')).search(values, words),
  }),
  command({
    name: 'check',
    words: '[PATH...]',
    help: 'Check SKILL.md files, at or below PATH (default: here).',
    options: CHECK_OPTIONS,
    run: async (values, words) => (await import('./check.ts')).check(values, words),
  }),
  command({
    name: 'doctor',
    help: 'Show what was found where, and what is wrong.',
    options: VIEW_OPTIONS,
    run: async (values) => (await import('./doctor.ts')).doctor(values),
  }),
  command({
    name: 'setup',
    words: '[CLIENT]',
    takesServerOptions: true,
    help: "Print this server's entry for a client, or --write it.",
    options: SETUP_OPTIONS,
    run: async (values, words, options) => (await import('./setup.ts')).setup(values, words, options),
  }),
  command({
    name: 'trust',
    help: "Let this project's .kode.json start its servers.",
    options: GENERAL_OPTIONS,
    run: async () => (await import('./trust.ts')).trust(),
  }),
];

// --- internal ---

/** An IPv6 address as it is in a URL. */
const bracketed = (host: string) => (/^[^[].*:/.test(host) ? `[${host}]` : host);

/** Derives the type of the values from the table of options. */
function command<const T extends OptionTable>(one: Command<T>): Command {
  return one as unknown as Command;
}
