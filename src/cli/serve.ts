/**
 * `skillwire serve`: one client on stdin and stdout, or many clients over HTTP.
 * Owns: the choice of the transport. Leaves alone: signals and exit (process.ts), what is served (server.ts).
 */
import { DEFAULT_ADDRESS } from '../config.ts';
import type { Log } from '../log.ts';
import type { Cancellation } from '../protocol/index.ts';
import { createSkillwire, type Skillwire } from '../skillwire.ts';
import { ALL_OPTIONS, type AllValues, allOptions, optionFaults } from './all-options.ts';
import { command } from './command.ts';
import { UsageError } from './parse.ts';
import { createStderrLog, explainTerminal, serveUntilStopped, workingDirectory } from './process.ts';

export const SERVE = command({
  name: 'serve',
  aliases: ['mcp', 'mcp-server'],
  help: 'Serve MCP, on stdin and stdout unless --transport says otherwise (the default).',
  options: ALL_OPTIONS,
  examples: ['skillwire --skill-dir ~/my-skills', 'skillwire --transport http --port 3333', 'skillwire --hub'],
  run: serve,
});

// --- internal ---

async function serve(values: AllValues): Promise<void> {
  const log = createStderrLog(values);
  const options = { ...allOptions(values), cwd: workingDirectory(), env: process.env, log };
  for (const { where, what } of optionFaults(values)) log.warn(`${where} ${what}`);
  const create = () => createSkillwire(options);
  await serveUntilStopped(log, (stop) => BY_TRANSPORT[values.transport]({ values, create, stop, log }));
}

interface Serving {
  readonly values: AllValues;
  readonly create: () => Skillwire;
  readonly stop: Cancellation;
  readonly log: Log;
}

const BY_TRANSPORT: Readonly<Record<AllValues['transport'], (serving: Serving) => Promise<void>>> = {
  stdio: servePipes,
  http: (serving) => serveHttp(serving, 'serveHttp'),
  sse: (serving) => serveHttp(serving, 'serveSse'),
};

function servePipes({ create, stop, log }: Serving): Promise<void> {
  explainTerminal(log);
  return create().serveStdio({ input: process.stdin, output: process.stdout }, stop);
}

async function serveHttp({ values, create, stop, log }: Serving, method: 'serveHttp' | 'serveSse'): Promise<void> {
  const { bind, findHost, ListenError } = await import('../transports/http/listener.ts');
  const { findAccessFault } = await import('../transports/http/access.ts');
  const where = {
    // An IPv6 address may have the brackets that it has in a URL.
    host: (values.host ?? DEFAULT_ADDRESS.host).replace(/^\[(.*)\]$/, '$1'),
    port: values.port ?? DEFAULT_ADDRESS.port,
    allowHosts: values['allow-host'],
    allowOrigins: values['allow-origin'],
    noAuth: values['no-auth'],
    token: process.env.SKILLWIRE_TOKEN,
  };
  try {
    await findHost(where.host);
    const fault = findAccessFault(where);
    if (fault !== undefined) throw new UsageError(fault);
    // Before the skills are scanned: without its port the program has nothing to do.
    const server = await bind(where);
    // At level debug only, so that nothing is made to be dropped.
    const onAccess = (access: object) => log.debug(JSON.stringify(access));
    const logged = values['log-level'] === 'debug' && !values.quiet ? { onAccess } : {};
    const listening = await create()[method]({ ...where, server, ...logged });
    log.info(`listening on ${listening.url}`);
    if (!stop.aborted) await new Promise<void>((stopped) => stop.addEventListener('abort', stopped));
    await listening.close();
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    log.error(error.message);
    process.exit(1);
  }
}
