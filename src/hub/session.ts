/**
 * From a plan to a server that listens: connect, and find out how it speaks.
 * Owns: the ways round what older servers do. Leaves alone: when to try again (upstream.ts), what is said (dialects.ts).
 * Always true: a session that could not be opened has left nothing behind.
 */
import { LINEAGE_HEADER, type Lineage } from '../lineage.ts';
import type { Plan, Way } from './config.ts';
import { type Conversation, type DialectName, greet, type Identity } from './dialects.ts';
import { openHttpWire } from './http-wire.ts';
import { type Link, openLink } from './link.ts';
import type { Redact } from './redact.ts';
import { openSseWire } from './sse-wire.ts';
import { openStdioWire, type StdioHost } from './stdio-wire.ts';
import { HttpError, ServerExit, type Wire, type WireEvents } from './wire.ts';

/** What is known of how this server speaks; kept from one session to the next, so that it is found out once. */
export interface Verdict {
  readonly dialect: DialectName | undefined;
  /** It has no streamable HTTP, only the older SSE. */
  readonly olderSse: boolean;
}

export interface Session {
  readonly link: Link;
  readonly conversation: Conversation;
  readonly verdict: Verdict;
  /** What to do when a notice of that name comes. */
  readonly notices: Map<string, () => void>;
}

export interface SessionHost {
  readonly client: Identity;
  readonly stdio: Omit<StdioHost, 'stderr' | 'redact'>;
  readonly lineage: Lineage;
  readonly redact: Redact;
  debug(text: string): void;
}

export async function openSession(
  plan: Plan,
  verdict: Verdict,
  host: SessionHost,
  signal: AbortSignal,
): Promise<Session> {
  const { way } = plan;
  try {
    return await attempt(plan, verdict, host, signal);
  } catch (error) {
    // Some old servers end when they are asked something before the handshake; the next attempt begins with that.
    if (way.kind === 'stdio' && verdict.dialect === undefined && error instanceof ServerExit)
      throw new ProbeExit(error.message);
    if (way.kind === 'http' && !verdict.olderSse && isNoEndpoint(error))
      return attempt(plan, { dialect: 'legacy', olderSse: true }, host, signal).catch(() => {
        throw error; // The address was meant for streamable HTTP; that it is no SSE either is no news.
      });
    throw error;
  }
}

/** It ended before or because it was asked what it speaks: nobody can tell which. */
export class ProbeExit extends ServerExit {}

// --- internal ---

const PROBE_MS = 3000;

async function attempt(plan: Plan, verdict: Verdict, host: SessionHost, signal: AbortSignal): Promise<Session> {
  const notices = new Map<string, () => void>();
  const open = (events: WireEvents) => openWire(plan.way, verdict, host, events);
  const link = openLink(open, {
    notice: (method) => notices.get(method)?.(),
    missed() {
      for (const look of new Set(notices.values())) look();
    },
    debug: host.debug,
  });
  try {
    const { dialect, conversation } = await greet(link, {
      client: host.client,
      timeout: plan.connectTimeout,
      probe: PROBE_MS,
      known: plan.way.kind === 'sse' ? 'legacy' : verdict.dialect,
      signal,
    });
    return { link, conversation, notices, verdict: { ...verdict, dialect } };
  } catch (error) {
    await link.close();
    throw error;
  }
}

function openWire(way: Way, { olderSse }: Verdict, host: SessionHost, events: WireEvents): Wire {
  const common = () => ({ [LINEAGE_HEADER]: host.lineage.text() });
  switch (way.kind) {
    case 'stdio':
      return openStdioWire(way, events, { ...host.stdio, redact: host.redact, stderr: host.debug });
    case 'http':
      return olderSse ? openSseWire(way, events, common) : openHttpWire(way, events, common);
    case 'sse':
      return openSseWire(way, events, common);
    case 'none':
      throw new Error('a server that is not to be reached has no wire');
  }
}

/** The statuses by which an older server shows that it has no such endpoint. */
function isNoEndpoint(error: unknown): boolean {
  return error instanceof HttpError && [400, 404, 405].includes(error.status);
}
