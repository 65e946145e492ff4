/**
 * `skillwire serve`: one client on stdin and stdout, or many clients over HTTP.
 * Owns: the choice of the transport. Leaves alone: signals and exit (process.ts), what is served (server.ts).
 */
import { createSkillwire, type Skillwire } from '../index.ts';
import type { Log } from '../log.ts';
import { type ServeCommand, UsageError } from './parse.ts';
import { createStderrLog, explainTerminal, serveUntilStopped, workingDirectory } from './process.ts';

export async function serve(command: ServeCommand): Promise<void> {
  const log = createStderrLog(command.log);
  const cwd = workingDirectory();
  const create = () => createSkillwire({ ...command.options, cwd, env: process.env, log });
  await serveUntilStopped(log, (stop) => SERVE[command.transport]({ command, create, stop, log }));
}

// --- internal ---

interface Serving {
  readonly command: ServeCommand;
  readonly create: () => Skillwire;
  readonly stop: AbortSignal;
  readonly log: Log;
}

const SERVE: Readonly<Record<ServeCommand['transport'], (serving: Serving) => Promise<void>>> = {
  stdio: servePipes,
  http: (serving) => serveHttp(serving, 'serveHttp'),
  sse: (serving) => serveHttp(serving, 'serveSse'),
};

function servePipes({ create, stop, log }: Serving): Promise<void> {
  explainTerminal(log);
  return create().serveStdio({ input: process.stdin, output: process.stdout }, stop);
}

async function serveHttp({ command, create, stop, log }: Serving, method: 'serveHttp' | 'serveSse'): Promise<void> {
  const { bind, findHost, ListenError } = await import('../transports/http/listener.ts');
  const { findAccessFault } = await import('../transports/http/access.ts');
  const where = { ...command.address, token: process.env.SKILLWIRE_TOKEN };
  try {
    await findHost(where.host);
    const fault = findAccessFault(where);
    if (fault !== undefined) throw new UsageError(fault);
    // Before the skills are scanned: without its port the program has nothing to do.
    const server = await bind(where);
    const onAccess = command.log.level === 'debug' ? (access: object) => log.debug(JSON.stringify(access)) : undefined;
    const listening = await create()[method]({ ...where, server, ...(onAccess ? { onAccess } : {}) });
    log.info(`listening on ${listening.url}`);
    if (!stop.aborted) await new Promise((stopped) => stop.addEventListener('abort', stopped, { once: true }));
    await listening.close();
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    log.error(error.message);
    process.exit(1);
  }
}
