/**
 * The progress of one call on its way to the client.
 * Owns: how often it is sent. Leaves alone: its content.
 * Always true: of reports that come too fast the latest is sent at the start of the next second, or before the response.
 */
import type { Params } from '../../protocol/index.ts';
import { MAX_PROGRESS_PER_SECOND } from './limits.ts';

export interface Progress {
  report(params: Params): void;
  /** Sends a report that still waits. Must be called when the call is over. */
  finish(): void;
}

export function limitProgress(send: (params: Params) => void): Progress {
  let sent = 0;
  let waiting: Params | undefined;
  let timer: NodeJS.Timeout | undefined;

  function report(params: Params): void {
    timer ??= setTimeout(startSecond, 1000);
    if (sent === MAX_PROGRESS_PER_SECOND) {
      waiting = params;
      return;
    }
    sent += 1;
    send(params);
  }

  function startSecond(): void {
    const latest = waiting;
    [sent, waiting, timer] = [0, undefined, undefined];
    if (latest) report(latest);
  }

  return {
    report,
    finish() {
      clearTimeout(timer);
      if (waiting) send(waiting);
    },
  };
}
