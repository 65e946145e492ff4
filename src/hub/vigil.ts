/**
 * An eye on a server that is ready: whether its lists change, whether it lives.
 * Owns: subscriptions and the health check of one session. Leaves alone: what follows from either (upstream.ts).
 * Always true: it ends with `until`; changes that come in a burst cause one look after the last of them.
 */
import { asError, messageOf } from '../log.ts';
import { RpcError } from '../protocol/index.ts';
import type { Session } from './session.ts';
import { pause } from './time.ts';
import { UpstreamError } from './wire.ts';

export interface VigilOptions {
  /** Milliseconds of silence after which the server is asked for a sign of life. */
  readonly interval: number;
  /** Fires when the session is over. */
  readonly until: AbortSignal;
  /** Looks at the lists again. */
  restock(): Promise<void>;
  /** The server is not what it should be any more. */
  fail(error: Error): void;
  debug(text: string): void;
}

export interface Vigil {
  /** Looks now whether the server is alive. */
  check(): void;
}

export function keepVigil({ link, conversation, notices }: Session, options: VigilOptions): Vigil {
  const { interval, until, fail } = options;
  const restock = coalesced(() => options.restock().catch((error) => fail(asError(error))));

  async function check(): Promise<void> {
    try {
      await conversation.pulse(Math.min(PULSE_MS, interval));
    } catch (error) {
      fail(new UpstreamError(`no sign of life: ${messageOf(error)}`));
    }
  }

  async function watch(): Promise<void> {
    for (await pause(interval, until); !until.aborted; await pause(interval, until)) {
      if (performance.now() - link.lastHeard() >= interval) await check();
    }
  }

  function subscribe(): void {
    conversation.subscribe(async (error) => {
      // A server that refuses has no news to tell; one that stops telling may be gone, or only its stream.
      if (until.aborted || error instanceof RpcError) return;
      options.debug(`the subscription ended: ${messageOf(error)}`);
      await check();
      await pause(RESUBSCRIBE_MS, until);
      if (until.aborted) return;
      subscribe();
      restock();
    });
  }

  for (const list of ['tools', 'resources']) notices.set(`notifications/${list}/list_changed`, restock);
  subscribe();
  void watch();
  return { check: () => void check() };
}

// --- internal ---

const PULSE_MS = 10_000;
const RESUBSCRIBE_MS = 1000;

/** Runs one at a time; asking during a run causes exactly one more. */
function coalesced(run: () => Promise<void>): () => void {
  let busy = false;
  let again = false;
  const start = async () => {
    busy = true;
    do {
      again = false;
      await run();
    } while (again);
    busy = false;
  };
  return () => {
    if (busy) again = true;
    else void start();
  };
}
