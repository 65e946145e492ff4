/**
 * Reads `text/event-stream`; chunks may be cut anywhere.
 * Always true: every character is looked at once, so that a big event costs as much as many small ones; no more than
 * `limit` characters of one event are kept.
 */
import { BACKOFF_MS, MAX_BACKOFF_MS, MAX_EVENT_ID, MIN_RETRY_MS } from '../limits.ts';
import { MAX_LINE } from '../protocol/index.ts';
import { UpstreamError } from './connection.ts';

/** Where a stream goes on: the header `Last-Event-ID`, if the server gave one, and the milliseconds to wait before. */
export interface Position {
  readonly eventId: string | undefined;
  readonly retry: number;
}

export const START: Position = { eventId: undefined, retry: BACKOFF_MS };

/**
 * Reads until the stream ends or breaks, and tells where to go on. `receive` takes the data and the type of an event; the
 * type is `message` unless the stream names another. `dropped`: an event over the limit is left out. Without it, that ends
 * the reading with the error: a stream that is taken up again would bring the same event again.
 */
export async function readEvents(
  stream: AsyncIterable<Uint8Array>,
  receive: (data: string, type: string) => void,
  from = START,
  dropped: (error: UpstreamError) => void = fail,
  limit = MAX_LINE,
): Promise<Position> {
  const utf8 = new TextDecoder();
  let { eventId, retry } = from;
  let id = eventId;
  let line = '';
  let type = '';
  let data = '';
  /** The event that is being read is over the limit. */
  let isDropped = false;

  function endLine(): void {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (line === '') dispatch();
    else if (name === 'data') data += `${value}\n`;
    else if (name === 'event') type = value;
    // One that no header can carry cannot be sent back.
    else if (name === 'id') id = /^[\x20-\x7e]+$/.test(value) && value.length <= MAX_EVENT_ID ? value : undefined;
    else if (name === 'retry' && /^\d+$/.test(value)) retry = Math.min(Math.max(+value, MIN_RETRY_MS), MAX_BACKOFF_MS);
    line = '';
  }

  function dispatch(): void {
    eventId = id;
    // Servers send empty events, which end with a line break too, to give a stream an id.
    if (data.length > 1 && !isDropped) receive(data.slice(0, -1), type || 'message');
    data = '';
    type = '';
    isDropped = false;
  }

  /** The LF of a CRLF that is cut in two does not end a second line. */
  let endedByCr = false;
  try {
    for await (const chunk of stream) {
      const text = utf8.decode(chunk, { stream: true });
      const pieces = text.split(/\r\n|\r|\n/);
      if (endedByCr && text.startsWith('\n')) pieces.shift();
      if (text !== '') endedByCr = text.endsWith('\r');
      pieces.forEach((piece, at) => {
        line += piece;
        if (data.length + line.length > limit) {
          if (!isDropped) dropped(new UpstreamError(`a message over ${limit} bytes was dropped`));
          isDropped = true;
          data = '';
          line = ':'; // What follows in the line counts as a comment.
        }
        if (at < pieces.length - 1) endLine();
      });
    }
  } catch (error) {
    // A stream that broke counts as one that ended.
    if (error instanceof UpstreamError) throw error;
  }
  return { eventId, retry };
}

// --- internal ---

function fail(error: UpstreamError): never {
  throw error;
}
