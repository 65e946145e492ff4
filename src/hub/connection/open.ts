/**
 * From a plan to a server that listens: connect, and find out how it speaks.
 * Owns: the ways round what older servers do. Leaves alone: when to try again (upstream.ts), what is said (dialects.ts).
 * Always true: a session that could not be opened has left nothing behind.
 */
import { HOPS_HEADER, type Hops } from '../../hops.ts';
import type { Target, UpstreamConfig } from '../config/entries.ts';
import type { Redact } from '../config/redact.ts';
import { type Connection, type ConnectionEvents, HttpError, ServerExit } from './connection.ts';
import { type DialectName, type Implementation, type McpClient, negotiate } from './dialects.ts';
import { openHttpConnection } from './http.ts';
import { createRpcClient, type RpcClient } from './rpc-client.ts';
import { openSseConnection } from './sse.ts';
import { openStdioConnection, type StdioHost } from './stdio.ts';

/** What is known of how this server speaks; kept from one session to the next, so that it is found out once. */
export interface Verdict {
  readonly dialect: DialectName | undefined;
  /** It has no streamable HTTP, only the older SSE. */
  readonly olderSse: boolean;
}

export interface Session {
  readonly rpc: RpcClient;
  readonly mcp: McpClient;
  readonly verdict: Verdict;
  /** What to do when a notice of that name comes. */
  readonly notices: Map<string, () => void>;
}

export interface SessionContext {
  readonly client: Implementation;
  readonly stdio: Omit<StdioHost, 'stderr' | 'redact'>;
  readonly hops: Hops;
  readonly redact: Redact;
  debug(text: string): void;
}

export async function openUpstreamSession(
  config: UpstreamConfig,
  verdict: Verdict,
  host: SessionContext,
  signal: AbortSignal,
): Promise<Session> {
  const { target } = config;
  try {
    return await attempt(config, verdict, host, signal);
  } catch (error) {
    // Some old servers end when they are asked something before the handshake; the next attempt begins with that.
    if (target.kind === 'stdio' && verdict.dialect === undefined && error instanceof ServerExit)
      throw new ProbeExit(error.message);
    if (target.kind === 'http' && !verdict.olderSse && isNoEndpoint(error))
      return attempt(config, { dialect: 'legacy', olderSse: true }, host, signal).catch(() => {
        throw error; // The address was meant for streamable HTTP; that it is no SSE either is no news.
      });
    throw error;
  }
}

/** It ended before or because it was asked what it speaks: nobody can tell which. */
export class ProbeExit extends ServerExit {}

// --- internal ---

const PROBE_MS = 3000;

async function attempt(
  config: UpstreamConfig,
  verdict: Verdict,
  host: SessionContext,
  signal: AbortSignal,
): Promise<Session> {
  const notices = new Map<string, () => void>();
  const open = (events: ConnectionEvents) => openConnection(config.target, verdict, host, events);
  const rpc = createRpcClient(open, {
    notice: (method) => notices.get(method)?.(),
    missed() {
      for (const look of new Set(notices.values())) look();
    },
    debug: host.debug,
  });
  try {
    const { dialect, mcp } = await negotiate(rpc, {
      client: host.client,
      timeout: config.connectTimeout,
      probe: PROBE_MS,
      known: config.target.kind === 'sse' ? 'legacy' : verdict.dialect,
      signal,
    });
    return { rpc, mcp, notices, verdict: { ...verdict, dialect } };
  } catch (error) {
    await rpc.close();
    throw error;
  }
}

function openConnection(
  target: Target,
  { olderSse }: Verdict,
  host: SessionContext,
  events: ConnectionEvents,
): Connection {
  const common = () => ({ [HOPS_HEADER]: String(host.hops.next()) });
  switch (target.kind) {
    case 'stdio':
      return openStdioConnection(target, events, { ...host.stdio, redact: host.redact, stderr: host.debug });
    case 'http':
      return olderSse ? openSseConnection(target, events, common) : openHttpConnection(target, events, common);
    case 'sse':
      return openSseConnection(target, events, common);
    case 'none':
      throw new Error('a server that is not to be reached has no wire');
  }
}

/** The statuses by which an older server shows that it has no such endpoint. */
function isNoEndpoint(error: unknown): boolean {
  return error instanceof HttpError && [400, 404, 405].includes(error.status);
}
