/**
 * `skillwire serve`: one client on stdin and stdout until it goes, or many over HTTP; in any case until a signal comes.
 * Owns: streams, signals and the exit. Leaves alone: what is served (server.ts).
 */
import { styleText } from 'node:util';
import { createSkillwire, type Skillwire } from '../index.ts';
import { createLog, type Level, type Log } from '../log.ts';
import { type ServeCommand, UsageError } from './options.ts';

export async function serve(command: ServeCommand): Promise<void> {
  const { stderr, env } = process;
  const { level, colour } = command.talk;
  // Nobody may be reading stderr: it may be closed or full, and neither is a reason to stop.
  stderr.on('error', () => {});
  const write = (line: string) => {
    if (stderr.writableLength < MOST_UNREAD_LOG) stderr.write(line);
  };
  const painted = colour && stderr.isTTY && !env.NO_COLOR;
  const log = createLog(write, level, painted ? (own) => styleText(COLOURS[own], own) : undefined);

  const stop = new AbortController();
  let cause = 'the client closed its end';
  const leave = () => {
    log.info(`stopped: ${cause}`);
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Asked twice, or with answers that nobody takes: leave now.
      if (stop.signal.aborted) leave();
      cause = signal;
      stop.abort();
      setTimeout(leave, LAST_ANSWERS_MS).unref();
    });
  }
  const create = () => createSkillwire({ ...command.options, env, log });
  await CARRIERS[command.transport]({ command, create, stop: stop.signal, log });
  // A pipe that stays open, or a watch, must not keep a server alive that serves nobody.
  leave();
}

// --- internal ---

interface Errand {
  readonly command: ServeCommand;
  readonly create: () => Skillwire;
  readonly stop: AbortSignal;
  readonly log: Log;
}

/** What brings messages to the server and back, until it is over. */
const CARRIERS: Readonly<Record<ServeCommand['transport'], (errand: Errand) => Promise<void>>> = {
  stdio: carryPipes,
  http: (errand) => carryHttp(errand, 'serveHttp'),
  sse: (errand) => carryHttp(errand, 'serveSse'),
};

function carryPipes({ create, stop, log }: Errand): Promise<void> {
  const { stdin, stdout } = process;
  if (stdin.isTTY) {
    log.info('waiting for an MCP client to write JSON-RPC lines to stdin; Ctrl+D or Ctrl+C ends it');
    log.info('to connect a client, give it this command, for example: claude mcp add skillwire -- npx -y skillwire');
  }
  return create().serveStdio({ input: stdin, output: stdout }, stop);
}

async function carryHttp({ command, create, stop, log }: Errand, serve: 'serveHttp' | 'serveSse'): Promise<void> {
  const { bind, findHost, ListenError } = await import('../transports/http/listener.ts');
  const { findAccessFault } = await import('../transports/http/access.ts');
  const where = { ...command.where, token: process.env.SKILLWIRE_TOKEN };
  try {
    await findHost(where.host);
    const fault = findAccessFault(where);
    if (fault !== undefined) throw new UsageError(fault);
    // The port first: a program that cannot have it has nothing else to say.
    const server = await bind(where);
    const onAccess = command.talk.level === 'debug' ? (access: object) => log.debug(JSON.stringify(access)) : undefined;
    const listening = await create()[serve]({ ...where, server, ...(onAccess ? { onAccess } : {}) });
    log.info(`listening on ${listening.url}`);
    if (!stop.aborted) await new Promise((stopped) => stop.addEventListener('abort', stopped, { once: true }));
    await listening.close();
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    log.error(error.message);
    process.exit(1);
  }
}

const COLOURS = { error: 'red', warn: 'yellow', info: 'blue', debug: 'gray' } as const satisfies Record<Level, string>;

// A reader that has fallen this far behind gets no more lines until it catches up.
const MOST_UNREAD_LOG = 256 * 1024;
// Answers in flight take milliseconds. Whoever sends SIGTERM usually sends SIGKILL after five to ten seconds.
const LAST_ANSWERS_MS = 3000;
