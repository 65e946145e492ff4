/**
 * The health check and the subscription of one session with an upstream server.
 * Owns: when the server is pinged, and asking for notifications again when they stop. Leaves alone: what follows from a
 * failure (upstream.ts), when lists are requested (relist.ts).
 * Always true: it ends with `until`.
 */
import { asError, messageOf } from '../../log.ts';
import { RpcError } from '../../protocol/index.ts';
import { pause } from '../../wait.ts';
import { SessionGone, UpstreamError } from '../connection/connection.ts';
import type { Session } from '../connection/open.ts';
import { LASTING_MS, MAX_RESUBSCRIBE_MS, MIN_RESUBSCRIBE_MS, PING_MS } from './limits.ts';

export interface HealthCheckOptions {
  /** Milliseconds without a message after which the server is pinged. */
  readonly interval: number;
  /** Fires when the session is over. */
  readonly until: AbortSignal;
  /** Whether a call is in flight. Many servers answer nothing else meanwhile, and the call has its own timeout. */
  isBusy(): boolean;
  /** The lists have changed, or may have. */
  relist(): void;
  fail(error: Error): void;
  debug(text: string): void;
}

export interface HealthCheck {
  /** Starts the regular check. */
  watch(): void;
  /** Checks now. */
  check(): void;
  /** Whether the server still knows our session. True when it does not respond. */
  knowsSession(): Promise<boolean>;
}

export function startHealthCheck({ rpc, mcp, onListChanged }: Session, options: HealthCheckOptions): HealthCheck {
  const { interval, until, fail, debug, relist, isBusy } = options;
  const timeout = Math.min(PING_MS, interval);

  async function check(): Promise<void> {
    const began = performance.now();
    try {
      await mcp.ping(timeout);
    } catch (error) {
      if (error instanceof SessionGone) return fail(error);
      const why = `health check failed: ${messageOf(error)}`;
      // A server that sent anything meanwhile is alive.
      if (isBusy() || rpc.lastReceived >= began) debug(`${why}; but a call is in flight, or it sent something`);
      else fail(new UpstreamError(why));
    }
  }

  async function watch(): Promise<void> {
    for (await pause(interval, until); !until.aborted; await pause(interval, until)) {
      if (performance.now() - rpc.lastReceived >= interval) await check();
    }
  }

  /** `failures`: how many subscriptions in a row have ended early. */
  function subscribe(failures: number): void {
    const began = performance.now();
    const resume = async (error: unknown): Promise<void> => {
      // A server that refuses the subscription has no notifications to send.
      if (until.aborted || error instanceof RpcError) return;
      debug(`the subscription ended: ${messageOf(error)}`);
      const next = performance.now() - began < LASTING_MS ? failures + 1 : 0;
      await check();
      await pause(Math.min(MIN_RESUBSCRIBE_MS * 2 ** next, MAX_RESUBSCRIBE_MS), until);
      if (until.aborted) return;
      subscribe(next);
      relist();
    };
    mcp.subscribe((error) => void resume(error).catch((fault) => debug(messageOf(fault))));
  }

  onListChanged(relist);
  subscribe(0);
  return {
    watch: () => void watch().catch((error) => fail(asError(error))),
    check: () => void check().catch((error) => debug(messageOf(error))),
    knowsSession: () =>
      mcp.ping(timeout).then(
        () => true,
        (error) => !(error instanceof SessionGone),
      ),
  };
}
