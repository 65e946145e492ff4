/**
 * Answers to what an upstream server asks of us over HTTP, where each takes a request of its own.
 * Owns: how many are under way, how many wait, when it is too much. Leaves alone: what they say (link.ts).
 * Always true: however often a server asks, and whether it takes the answers or not, what we hold is bounded.
 */
import { messageOf } from '../../log.ts';
import { limited } from '../signals.ts';
import type { OutgoingMessage } from './connection.ts';

/** No server waits for more than a few answers of ours at once. */
export const MOST_REPLIES_AT_ONCE = 8;
/** Those that come too fast are answered later, this many of them. */
export const MOST_REPLIES_WAITING = 100;
/** And this many are left without an answer before the server counts as flooding us. */
export const MOST_REPLIES_DROPPED = 1000;
/** A server that has not taken an answer by now will not. */
export const REPLY_MS = 10_000;

export interface Replies {
  send(message: OutgoingMessage): void;
}

export interface RepliesOptions {
  post(message: OutgoingMessage, signal: AbortSignal): Promise<void>;
  /** Fires when nothing is sent any more. */
  readonly until: AbortSignal;
  flooded(): void;
  debug(text: string): void;
}

export function createReplies({ post, until, flooded, debug }: RepliesOptions): Replies {
  let waiting: OutgoingMessage[] = [];
  let underWay = 0;
  let dropped = 0;

  async function run(first: OutgoingMessage): Promise<void> {
    underWay += 1;
    for (let message: OutgoingMessage | undefined = first; message && !until.aborted; message = waiting.shift()) {
      const limit = limited(until, REPLY_MS);
      try {
        await post(message, limit.signal);
      } catch (error) {
        debug(`an answer of ours was not taken: ${messageOf(error)}`);
      } finally {
        limit.release();
      }
      dropped = 0;
    }
    underWay -= 1;
  }

  return {
    send(message) {
      if (until.aborted) return;
      if (underWay < MOST_REPLIES_AT_ONCE) void run(message).catch((error) => debug(messageOf(error)));
      else if (waiting.length < MOST_REPLIES_WAITING) waiting.push(message);
      else {
        dropped += 1;
        if (dropped <= MOST_REPLIES_DROPPED) return;
        waiting = [];
        flooded();
      }
    },
  };
}
