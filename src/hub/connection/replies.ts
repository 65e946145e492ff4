/**
 * Our responses to requests of an upstream server.
 * Owns: how many are sent at the same time, and how many wait. Leaves alone: what they say (rpc-client.ts).
 * Always true: memory is bounded, however many requests a server sends and whether or not it accepts the responses.
 */
import { messageOf } from '../../log.ts';
import type { Connection } from './connection.ts';
import { MAX_REPLIES_AT_ONCE, MAX_REPLIES_WAITING } from './limits.ts';

/** Returns a function that sends a response, or returns false when too many wait. */
export function createReplies(
  connection: Connection,
  ended: AbortSignal,
  debug: (text: string) => void,
): (text: string) => boolean {
  const waiting: string[] = [];
  let underWay = 0;

  async function sendAll(): Promise<void> {
    underWay += 1;
    for (let text = waiting.shift(); text !== undefined && !ended.aborted; text = waiting.shift()) {
      await connection.reply(text).catch((error: unknown) => {
        debug(`a response was not accepted: ${messageOf(error)}`);
      });
    }
    underWay -= 1;
  }

  return (text) => {
    if (waiting.length >= MAX_REPLIES_WAITING) return false;
    waiting.push(text);
    if (underWay < MAX_REPLIES_AT_ONCE) void sendAll();
    return true;
  };
}
