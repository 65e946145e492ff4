/**
 * Log messages (`notifications/message`) of one upstream server.
 * Owns: their form, size and number. Leaves alone: which request one belongs to (connection/rpc-client.ts).
 * Always true: whatever a server sends, its clients get at most MAX_MESSAGES_PER_SECOND of it, each of a bounded size; a
 * message within the limits is passed on as it is.
 */
import type { LogMessage } from '../../model.ts';
import { isLogged, type LogLevel, type Params } from '../../protocol/index.ts';
import { cut, shorten } from '../../text.ts';
import { monotonicMs } from '../../wait.ts';
import { MAX_MESSAGE_DATA, MAX_MESSAGES_PER_SECOND, MAX_TITLE } from './limits.ts';

/** Gives the message as clients get it; undefined when it is not asked for, or one too many. */
export function createMessages(server: string) {
  let second = 0;
  let count = 0;
  return ({ level, logger, data }: Params, asked: LogLevel | undefined): LogMessage | undefined => {
    if (!isLogged(level, asked)) return undefined;
    const now = Math.floor(monotonicMs() / 1000);
    [second, count] = [now, now === second ? count + 1 : 1];
    if (count > MAX_MESSAGES_PER_SECOND) return undefined;
    if (count === MAX_MESSAGES_PER_SECOND) return { level, logger: server, data: TOO_MANY };
    const name = typeof logger === 'string' ? `${server}:${cut(logger, MAX_TITLE)}` : server;
    return { level, logger: name, data: boundedOf(data) };
  };
}

// --- internal ---

const TOO_MANY = `further log messages are left out: over ${MAX_MESSAGES_PER_SECOND} in a second`;

function boundedOf(data: unknown = null): unknown {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return text.length > MAX_MESSAGE_DATA ? shorten(text, MAX_MESSAGE_DATA) : data;
}
