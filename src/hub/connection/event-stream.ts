/**
 * Parses `text/event-stream`.
 * Owns: the format; chunks may be cut anywhere. Leaves alone: what an event holds.
 * Always true:
 * - every byte is looked at once, so a big event costs as much as many small ones;
 * - at most `limit` bytes of one event are kept: an event that has more ends the stream.
 */
import { createByteBuffer } from '../../protocol/index.ts';
import { MessageTooLong } from './connection.ts';
import { MAX_RETRY_DIGITS } from './limits.ts';

export interface StreamEvent {
  /** `message` when the stream names none. */
  readonly type: string;
  readonly data: string;
}

export interface EventStreamEvents {
  event(event: StreamEvent): void;
  /** The id to resume after, should the stream break. Reported when its event is complete. */
  id(id: string): void;
  /** How many milliseconds to wait before resuming. */
  retry(milliseconds: number): void;
}

export interface EventStreamParser {
  /** Throws MessageTooLong as soon as an event is over the limit; the parser cannot be used after that. */
  push(chunk: Uint8Array): void;
}

export function createEventStreamParser(events: EventStreamEvents, limit: number): EventStreamParser {
  const utf8 = new TextDecoder();
  // The start of a line that has not ended yet.
  const line = createByteBuffer();
  // The data of the event so far, with a newline after each of its lines.
  const data = createByteBuffer();
  let type = '';
  let id: string | undefined;
  let size = 0;
  let last: number | undefined;

  function count(piece: Uint8Array): void {
    size += piece.length;
    if (size > limit) throw new MessageTooLong(limit);
  }

  function endLine(rest: Uint8Array): void {
    count(rest);
    // Nearly every line comes in one piece and is not copied.
    if (line.size() === 0) take(rest);
    else {
      line.add(rest);
      take(line.take());
    }
  }

  function take(bytes: Uint8Array): void {
    if (bytes.length === 0) {
      dispatch();
      return;
    }
    const colon = bytes.indexOf(COLON);
    // A comment. Servers send them all day to keep a quiet stream open, so they do not count.
    if (colon === 0) size -= bytes.length;
    else if (colon === -1) setField(nameIn(bytes), NOTHING);
    else setField(nameIn(bytes.subarray(0, colon)), bytes.subarray(colon + (bytes[colon + 1] === SPACE ? 2 : 1)));
  }

  /** Without the decoder, which would take ten times as long as the rest of a small event. */
  function nameIn(bytes: Uint8Array): string {
    if (bytes.length <= LONGEST_FIELD) return String.fromCharCode(...bytes);
    return bytes.length <= LONGEST_FIELD + BYTE_ORDER_MARK ? utf8.decode(bytes) : '';
  }

  function setField(name: string, value: Uint8Array): void {
    if (name === 'data') {
      data.add(value);
      data.add(NEWLINE);
    } else if (name === 'event') type = utf8.decode(value);
    else if (name === 'id' && !value.includes(0)) id = utf8.decode(value);
    else if (name === 'retry' && value.length <= MAX_RETRY_DIGITS) {
      const text = utf8.decode(value);
      if (/^\d+$/.test(text)) events.retry(Number(text));
    }
  }

  function dispatch(): void {
    // A blank line without an event before it.
    if (size === 0 && data.size() === 0 && id === undefined) return;
    const whole = data.take();
    const event = { type: type === '' ? 'message' : type, data: utf8.decode(whole.subarray(0, -1)) };
    const lastId = id;
    [type, id, size] = ['', undefined, 0];
    if (lastId !== undefined) events.id(lastId);
    if (whole.length > 0) events.event(event);
  }

  return {
    push(chunk) {
      let start = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at];
        if (byte === LF || byte === CR) {
          // The LF of a CRLF does not end a second line.
          if (byte === CR || last !== CR) endLine(chunk.subarray(start, at));
          start = at + 1;
        }
        last = byte;
      }
      const rest = chunk.subarray(start);
      count(rest);
      line.add(rest);
    },
  };
}

// --- internal ---

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const NOTHING = new Uint8Array();
const NEWLINE = Uint8Array.of(LF);
// `event` and `retry` are the longest names; a stream may begin with a byte order mark.
const LONGEST_FIELD = 5;
const BYTE_ORDER_MARK = 3;
