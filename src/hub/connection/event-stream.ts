/**
 * `text/event-stream` to events.
 * Owns: the format, cut anywhere between two chunks. Leaves alone: what an event holds.
 * Always true:
 * - every byte is looked at once, so a big event takes as long as many small ones;
 * - no more than `limit` bytes of one event are taken in: the one that has more ends the stream.
 */
import { createByteBuffer } from '../../protocol/index.ts';
import { MessageTooLong } from './connection.ts';

export interface SseEvent {
  /** `message` when the stream does not say. */
  readonly type: string;
  readonly data: string;
}

export interface SseEvents {
  event(event: SseEvent): void;
  /** The mark to continue behind, should the stream break. Told once the event that bears it is whole. */
  id(id: string): void;
  /** How long the server wants us to wait before we come again, in milliseconds. */
  retry(milliseconds: number): void;
}

export interface SseParser {
  /** Throws MessageTooLong as soon as an event is over the limit; nothing can be pushed behind that. */
  push(chunk: Uint8Array): void;
}

export function createSseParser(events: SseEvents, limit: number): SseParser {
  const utf8 = new TextDecoder();
  // The beginning of a line whose end has not come.
  const line = createByteBuffer();
  // The data of the event so far, a newline behind each of its lines.
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
    // Nearly every line comes in one piece, and that is not copied.
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
    // A comment. Servers that keep a quiet stream open write them all day, so they do not count.
    if (colon === 0) size -= bytes.length;
    else if (colon === -1) setField(nameIn(bytes), NOTHING);
    else setField(nameIn(bytes.subarray(0, colon)), bytes.subarray(colon + (bytes[colon + 1] === SPACE ? 2 : 1)));
  }

  /** Most are `data`, and a decoder takes ten times as long as the rest of a small event. */
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
    else if (name === 'retry' && value.length <= LONGEST_RETRY) setRetry(utf8.decode(value));
  }

  function setRetry(text: string): void {
    if (/^\d+$/.test(text)) events.retry(Number(text));
  }

  function dispatch(): void {
    // Nearly all blank lines of one that sends nothing else.
    if (size === 0 && data.size() === 0 && id === undefined) return;
    const whole = data.take();
    const event = { type: type === '' ? 'message' : type, data: utf8.decode(whole.subarray(0, -1)) };
    const mark = id;
    [type, id, size] = ['', undefined, 0];
    if (mark !== undefined) events.id(mark);
    if (whole.length > 0) events.event(event);
  }

  return {
    push(chunk) {
      let start = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at];
        if (byte === LF || byte === CR) {
          // The second half of a CRLF ends nothing.
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
// `event` and `retry`, and the bytes of the mark that a stream may begin with.
const LONGEST_FIELD = 5;
const BYTE_ORDER_MARK = 3;
// In digits. Eleven days: whoever says more means never.
const LONGEST_RETRY = 9;
