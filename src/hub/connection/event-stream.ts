/**
 * Reads `text/event-stream`; chunks may be cut anywhere.
 * Always true: every character is looked at once, so a big event costs as much as many small ones; at most `limit` bytes of
 * one event are kept.
 */
import { MessageTooLong, UpstreamError } from './connection.ts';
import { DEFAULT_RETRY_MS, MAX_EVENT_ID, MAX_MESSAGE, MAX_RETRY_MS, MIN_RETRY_MS } from './limits.ts';

/** Where to resume a stream, and how many milliseconds to wait before. */
export interface Position {
  readonly eventId: string | undefined;
  readonly retry: number;
}

export const START: Position = { eventId: undefined, retry: DEFAULT_RETRY_MS };

/** The type is `message` when the stream names none. */
export type ReceiveEvent = (data: string, type: string) => void;

/**
 * Reads until the stream ends or breaks, and returns where to resume. Throws MessageTooLong for an event over the limit:
 * resuming would bring the same event again.
 */
export async function readEvents(
  stream: AsyncIterable<Uint8Array>,
  from: Position,
  receive: ReceiveEvent,
  limit = MAX_MESSAGE,
): Promise<Position> {
  const parser = createParser(from, receive, limit);
  try {
    for await (const chunk of stream) parser.push(chunk);
  } catch (error) {
    // A stream that broke is treated as one that ended: the position says how to go on.
    if (error instanceof UpstreamError) throw error;
  }
  return parser.position();
}

// --- internal ---

function createParser(from: Position, receive: ReceiveEvent, limit: number) {
  const utf8 = new TextDecoder();
  /** The start of a line that has not ended yet. */
  let line = '';
  let data: string[] = [];
  let type = '';
  let { retry } = from;
  /** The id of this event, and of the last complete one; undefined: none since the stream was opened. */
  let id: string | undefined;
  let lastId: string | undefined;
  let size = 0;
  /** The LF of a CRLF that is cut in two does not end a second line. */
  let endedByCr = false;

  function endLine(): void {
    const whole = line;
    line = '';
    if (whole === '') return void dispatch();
    const colon = whole.indexOf(':');
    // A comment. Servers send them all day to keep a quiet stream open, so they do not count.
    if (colon === 0) size -= Buffer.byteLength(whole);
    else if (colon === -1) setField(whole, '');
    else setField(whole.slice(0, colon), whole.slice(colon + (whole[colon + 1] === ' ' ? 2 : 1)));
  }

  function setField(name: string, value: string): void {
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id') id = value;
    else if (name === 'retry' && /^\d+$/.test(value))
      retry = Math.min(Math.max(Number(value), MIN_RETRY_MS), MAX_RETRY_MS);
  }

  function dispatch(): void {
    const [lines, name] = [data, type || 'message'];
    [type, data, size, lastId] = ['', [], 0, id];
    if (lines.length > 0) receive(lines.join('\n'), name);
  }

  return {
    position: () => ({ eventId: lastId === undefined ? from.eventId : headerOf(lastId), retry }),
    push(chunk: Uint8Array): void {
      let text = utf8.decode(chunk, { stream: true });
      if (text === '') return;
      if (endedByCr && text.startsWith('\n')) text = text.slice(1);
      endedByCr = text.endsWith('\r');
      const pieces = text.split(/\r\n|\r|\n/);
      pieces.forEach((piece, at) => {
        size += Buffer.byteLength(piece);
        if (size > limit) throw new MessageTooLong(limit);
        line += piece;
        if (at < pieces.length - 1) endLine();
      });
    },
  };
}

/** UTF-8 bytes as header text. Undefined for an id that is too long or holds control characters: it cannot be sent back. */
function headerOf(id: string): string | undefined {
  const bytes = id.length <= MAX_EVENT_ID ? Buffer.from(id).toString('latin1') : '';
  return /^[\x20-\x7e\x80-\xff]+$/.test(bytes) ? bytes : undefined;
}
