/**
 * Our responses to requests of an upstream server. Only `ping` gets a result: a server can ask nothing else of us.
 * Always true: the memory for responses is bounded, and so is how many are sent at the same time.
 */
import { encode, encodeError, methodNotFound, type Request } from '../../protocol/index.ts';
import { UpstreamError } from './connection.ts';
import { MAX_REPLIES_AT_ONCE, MAX_REPLIES_WAITING } from './limits.ts';

/** `send` never rejects. `end` ends the connection. */
export function createReplies(send: (text: string) => Promise<void>, end: (reason: Error) => void) {
  const waiting: string[] = [];
  let sending = 0;
  return async ({ id, method }: Request): Promise<void> => {
    if (waiting.length === MAX_REPLIES_WAITING)
      return end(new UpstreamError('the server sends more requests than it accepts responses to'));
    const isPing = method === 'ping';
    waiting.push(isPing ? encode({ jsonrpc: '2.0', id, result: {} }) : encodeError(id, methodNotFound(method)));
    if (sending === MAX_REPLIES_AT_ONCE) return;
    sending += 1;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) await send(text);
    sending -= 1;
  };
}
