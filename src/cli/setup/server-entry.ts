/**
 * The entry by which a client starts this program, or connects to it over HTTP.
 * Owns: the command and its arguments, the address, the token. Leaves alone: how a client spells an entry (clients.ts).
 * Always true: the command works as it is written; a token is never in an entry, only the name of its variable.
 */
import { parseArgs } from 'node:util';
import { DEFAULT_ADDRESS } from '../../config.ts';
import type { System } from '../../hub/config/hosts.ts';
import { expandHome } from '../../skills/roots.ts';
import { ALL_OPTIONS, allOptions, DEFAULT_URL } from '../all-options.ts';
import type { OptionTable } from '../options.ts';
import { checkedValues, checkWords, splitArguments, UsageError } from '../parse.ts';
import { inShell, selfCommand } from '../self-command.ts';
import type { SetupValues } from '../view-options.ts';
import type { ClientEntry, SetupClient } from './clients.ts';

interface ServerEntry {
  readonly entry: ClientEntry;
  /** What else is to be done, for the user. */
  readonly notes: readonly string[];
}

/** `options`: those for the server. */
type MakeEntry = (client: SetupClient, values: SetupValues, options: readonly string[], system: System) => ServerEntry;

export const stdioEntry: MakeEntry = (client, { hub, project }, options, system) => {
  const [command, ...args] = selfCommand(undefined, client.isDesktop);
  // What a client of the table finds by itself its model should not see twice.
  const own = [...(hub ? ['--hub'] : []), '--skip-own'].filter((option) => !options.includes(option));
  // A client starts the program in any directory, except when the entry is in a file of the project.
  const given = serverArguments(options, project ? undefined : system);
  return { entry: client.stdio(command, [...args, ...own, ...given]), notes: [] };
};

export const httpEntry: MakeEntry = ({ title, http, takesNoVariables }, { hub, url }, options, { env }) => {
  if (!http) throw new UsageError(`the file of ${title} can only name programs; leave out --http and --url`);
  if (hub || options.length > 0)
    throw new UsageError('with --http, give these options to the server when you start it');
  const hasToken = Boolean(env.SKILLWIRE_TOKEN);
  const address = checkedUrl(url ?? DEFAULT_URL);
  const token = takesNoVariables
    ? 'Put the token into the entry by hand: "headers": { "Authorization": "Bearer ..." }'
    : `Start ${title} with SKILLWIRE_TOKEN set.`;
  return {
    entry: http(address.href, hasToken),
    notes: [...startNotes(address), ...(hasToken ? [token] : [])],
  };
};

// --- internal ---

const SERVE: { readonly name: string; readonly options: OptionTable } = { name: 'serve', options: ALL_OPTIONS };

/** Checks options of the server. `base`: what paths start from, which become absolute; undefined leaves them. */
function serverArguments(options: readonly string[], base: System | undefined): readonly string[] {
  const { values, words } = splitArguments([SERVE.name, ...options], SERVE, []);
  checkWords(words, SERVE);
  const checked = checkedValues(ALL_OPTIONS, values);
  allOptions(checked);
  if (checked.transport !== 'stdio') throw new UsageError('a client starts the server on stdin and stdout; see --http');
  if (checked.help || checked.version) throw new UsageError('with --help or --version the program does not serve');
  const { tokens } = parseArgs({ args: [...options], options: SERVE.options, tokens: true });
  return tokens.flatMap((token) => {
    if (token.kind !== 'option') return [];
    const { name, rawName, value, inlineValue } = token;
    if (value === undefined) return [rawName];
    const isPath = ['DIR', 'FILE'].includes(SERVE.options[name]?.hint ?? '');
    const given = isPath && base !== undefined ? expandHome(base, value) : value;
    return inlineValue ? [`${rawName}=${given}`] : [rawName, given];
  });
}

/** How to start the server at that address, if it is one of this machine. */
function startNotes({ protocol, hostname, port, pathname }: URL): readonly string[] {
  const isHere = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  if (!isHere || protocol !== 'http:' || pathname !== new URL(DEFAULT_URL).pathname) return [];
  const host = hostname === DEFAULT_ADDRESS.host ? [] : ['--host', hostname];
  const number = port === String(DEFAULT_ADDRESS.port) ? [] : ['--port', port || '80'];
  return [`Start the server: ${inShell([...selfCommand(), '--transport', 'http', ...host, ...number, '--skip-own'])}`];
}

function checkedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new UsageError(`--url must be http://... or https://..., not "${text}"`);
}
