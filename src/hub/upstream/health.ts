/**
 * An eye on a server that is ready: whether its lists change, whether it lives.
 * Owns: subscriptions and the health check of one session. Leaves alone: what follows from either (upstream.ts).
 * Always true: it ends with `until`.
 */
import { asError, messageOf } from '../../log.ts';
import { RpcError } from '../../protocol/index.ts';
import { pause } from '../../wait.ts';
import { SessionGone, UpstreamError } from '../connection/connection.ts';
import type { Session } from '../connection/open.ts';

export interface HealthCheckOptions {
  /** Milliseconds of silence after which the server is asked for a sign of life. */
  readonly interval: number;
  /** Fires when the session is over. */
  readonly until: AbortSignal;
  /** Whether a call is in flight: many servers answer nothing else meanwhile, and the call has a time limit of its own. */
  isBusy(): boolean;
  /** The lists have changed, or may have. */
  relist(): void;
  /** The server is not what it should be any more. */
  fail(error: Error): void;
  debug(text: string): void;
}

export interface HealthCheck {
  /** Begins to look after it: it has shown that it can answer. */
  watch(): void;
  /** Looks now whether the server is alive. */
  check(): void;
  /** Whether the server still knows our session. One that does not answer is not asked again. */
  knowsUs(): Promise<boolean>;
}

export function startHealthCheck({ rpc, mcp, onListChanged }: Session, options: HealthCheckOptions): HealthCheck {
  const { interval, until, fail, debug, relist } = options;
  const limit = Math.min(PULSE_MS, interval);

  async function check(): Promise<void> {
    const began = performance.now();
    try {
      await mcp.ping(limit);
    } catch (error) {
      if (error instanceof SessionGone) return fail(error);
      const why = `no sign of life: ${messageOf(error)}`;
      // Whoever says anything is alive, and so is whoever was busy with a call until a moment ago.
      if (options.isBusy() || rpc.lastReceived >= began) debug(`${why}; but a call is in flight, or it said something`);
      else fail(new UpstreamError(why));
    }
  }

  async function watch(): Promise<void> {
    for (await pause(interval, until); !until.aborted; await pause(interval, until)) {
      if (performance.now() - rpc.lastReceived >= interval) await check();
    }
  }

  /** `failures`: how often in a row a subscription has ended before it was of any use. */
  function subscribe(failures: number): void {
    const began = performance.now();
    const resume = async (error: unknown): Promise<void> => {
      // A server that refuses has no news to tell; one that stops telling may be gone, or only its stream.
      if (until.aborted || error instanceof RpcError) return;
      debug(`the subscription ended: ${messageOf(error)}`);
      const next = performance.now() - began < LASTING_MS ? failures + 1 : 0;
      await check();
      await pause(Math.min(RESUBSCRIBE_MS * 2 ** next, LONGEST_RESUBSCRIBE_MS), until);
      if (until.aborted) return;
      subscribe(next);
      relist();
    };
    mcp.subscribe((error) => void resume(error).catch((fault) => debug(messageOf(fault))));
  }

  const checkNow = () => void check().catch((error) => debug(messageOf(error)));

  onListChanged(relist);
  subscribe(0);
  return {
    watch: () => void watch().catch((error) => fail(asError(error))),
    check: checkNow,
    knowsUs: () =>
      mcp.ping(limit).then(
        () => true,
        (error) => !(error instanceof SessionGone),
      ),
  };
}

// --- internal ---

const PULSE_MS = 10_000;
const RESUBSCRIBE_MS = 500;
const LONGEST_RESUBSCRIBE_MS = 60_000;
// Shorter than any proxy lets a quiet connection be.
const LASTING_MS = 10_000;
