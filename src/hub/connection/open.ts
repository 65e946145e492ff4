/**
 * Opens a session with a configured server: connects, and completes the handshake.
 * Owns: the fallbacks that older servers need. Leaves alone: when to retry (upstream.ts), the handshake (handshake.ts).
 * Always true: a session that could not be opened leaves no process, socket or timer behind.
 */
import { HOPS_HEADER, type Hops } from '../../hops.ts';
import type { Target, UpstreamConfig } from '../config/entries.ts';
import type { Redact } from '../config/redact.ts';
import { type Connection, type ConnectionEvents, HttpError, ServerExit } from './connection.ts';
import type { DialectName, Implementation, McpClient } from './dialects.ts';
import { negotiate } from './handshake.ts';
import { openHttpConnection } from './http.ts';
import { RpcClient } from './rpc-client.ts';
import { openSseConnection } from './sse.ts';
import { openStdioConnection, type StdioContext } from './stdio.ts';

/** What an earlier session has shown about a server, so that the next one need not find it out again. */
export interface KnownServer {
  readonly dialect: DialectName | undefined;
  /** It is configured as HTTP, but has only the older HTTP+SSE transport. */
  readonly usesSse: boolean;
}

export interface Session {
  readonly rpc: RpcClient;
  readonly mcp: McpClient;
  readonly known: KnownServer;
  /** Sets the one function that is called when a list has changed or may have. */
  onListChanged(run: () => void): void;
}

export interface SessionContext {
  readonly client: Implementation;
  readonly stdio: Omit<StdioContext, 'stderr' | 'redact'>;
  readonly hops: Hops;
  readonly redact: Redact;
  debug(text: string): void;
}

export async function openUpstreamSession(
  config: UpstreamConfig,
  known: KnownServer,
  context: SessionContext,
  signal: AbortSignal,
): Promise<Session> {
  const { kind } = config.target;
  try {
    return await attempt(config, known, context, signal);
  } catch (error) {
    if (kind === 'stdio' && known.dialect === undefined && error instanceof ServerExit)
      throw new ProbeExit(error.message);
    // The statuses by which an older server shows that it has no streamable HTTP.
    if (kind === 'http' && !known.usesSse && error instanceof HttpError && [400, 404, 405].includes(error.status))
      return attempt(config, { dialect: 'legacy', usesSse: true }, context, signal).catch(() => {
        throw error; // The address was meant for streamable HTTP, so its error is the useful one.
      });
    throw error;
  }
}

/** The process ended before the handshake. Some old servers end when they get a request before `initialize`. */
export class ProbeExit extends ServerExit {}

// --- internal ---

const LIST_CHANGED: ReadonlySet<string> = new Set(
  ['tools', 'resources'].map((list) => `notifications/${list}/list_changed`),
);

async function attempt(
  config: UpstreamConfig,
  known: KnownServer,
  context: SessionContext,
  signal: AbortSignal,
): Promise<Session> {
  let listChanged = () => {};
  const rpc = new RpcClient((events) => openConnection(config.target, known, context, events), {
    notification(method) {
      if (LIST_CHANGED.has(method)) listChanged();
    },
    missed: () => listChanged(),
    debug: context.debug,
  });
  const onListChanged = (run: () => void) => {
    listChanged = run;
  };
  try {
    const { dialect, mcp } = await negotiate(rpc, {
      client: context.client,
      timeout: config.connectTimeout,
      known: config.target.kind === 'sse' ? 'legacy' : known.dialect,
      signal,
    });
    return { rpc, mcp, known: { ...known, dialect }, onListChanged };
  } catch (error) {
    await rpc.close();
    throw error;
  }
}

function openConnection(
  target: Target,
  { usesSse }: KnownServer,
  { hops, stdio, redact, debug }: SessionContext,
  events: ConnectionEvents,
): Connection {
  const http = { redact, headers: () => ({ [HOPS_HEADER]: String(hops.next()) }) };
  switch (target.kind) {
    case 'stdio':
      return openStdioConnection(target, events, { ...stdio, redact, stderr: debug });
    case 'http':
      return (usesSse ? openSseConnection : openHttpConnection)(target, events, http);
    case 'sse':
      return openSseConnection(target, events, http);
    case 'none':
      throw new Error('a server that is not started has no connection');
  }
}
