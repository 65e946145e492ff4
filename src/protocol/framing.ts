/**
 * Bytes to lines of text, for pipes, and the buffer in which bytes wait for the rest of their message.
 * Owns: splitting, the limit per line, UTF-8. Leaves alone: what a line means.
 * Always true:
 * - a chunk may end in the middle of a character; lines end with LF or CRLF, and blank ones are dropped;
 * - the splitter holds at most `limit` bytes and the two ends of a dropped line, whatever the other side sends.
 */
import { ID_SEARCH, type Id, idIn } from './json-rpc.ts';

export interface LineEvents {
  line(text: string): void;
  /** A line of more than `limit` bytes was dropped; the stream goes on behind it. `id`: that of its message, if found. */
  tooLong(limit: number, id: Id | null): void;
  /** A line is not UTF-8. `text` has U+FFFD in place of the bytes that are not. */
  notText(text: string): void;
}

/** A tool call may carry a picture. 32 MiB is far above any we have met and limits the memory one client can take. */
export const MAX_LINE = 32 * 1024 * 1024;

export function createLineSplitter(events: LineEvents, limit = MAX_LINE) {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const partial = createByteBuffer(limit);
  let dropped: Ends | undefined;

  function keep(part: Uint8Array): void {
    if (!dropped && partial.size() + part.length <= limit) return void partial.add(part);
    const before = partial.take();
    dropped = { start: dropped?.start ?? firstOf(before, part), end: lastOf(dropped?.end ?? before, part) };
  }

  function endLine(rest: Uint8Array): void {
    // Most lines come in one chunk, and such a line is not copied.
    if (partial.size() === 0 && !dropped && rest.length <= limit) return void deliverOne(rest);
    keep(rest);
    if (!dropped) return void deliverOne(partial.take());
    events.tooLong(limit, idIn(looseText(dropped.start), looseText(dropped.end)));
    dropped = undefined;
  }

  function deliverOne(bytes: Uint8Array): void {
    if (!deliver(bytes)) events.notText(looseText(bytes));
  }

  /** Lines that came whole are decoded together: to decode each takes as long as to parse it. False: not UTF-8. */
  function deliver(bytes: Uint8Array): boolean {
    let text: string;
    try {
      text = utf8.decode(bytes);
    } catch {
      return false;
    }
    for (const line of text.split('\n'))
      if (line.trim() !== '') events.line(line.startsWith(BOM) ? line.slice(BOM.length) : line);
    return true;
  }

  return {
    push(chunk: Uint8Array): void {
      const last = chunk.lastIndexOf(LF);
      const isWhole = partial.size() === 0 && !dropped && last > 0 && last <= limit;
      let start = isWhole && deliver(chunk.subarray(0, last)) ? last + 1 : 0;
      for (let end = chunk.indexOf(LF, start); end !== -1; end = chunk.indexOf(LF, start)) {
        endLine(chunk.subarray(start, end));
        start = end + 1;
      }
      if (start < chunk.length) keep(chunk.subarray(start));
    },
    /** The input has ended: bytes after the last newline are the last line. */
    end(): void {
      if (partial.size() > 0 || dropped) endLine(NOTHING);
    },
  };
}

/**
 * Bytes that come in pieces, kept as one. Each byte is copied a few times at most, however small the pieces are.
 * Takes at most twice the memory of its bytes, and never more than `limit`, which the caller may not exceed.
 */
export function createByteBuffer(limit = Number.POSITIVE_INFINITY) {
  let room = NOTHING;
  let size = 0;
  return {
    size: () => size,
    add(piece: Uint8Array): void {
      const needed = size + piece.length;
      if (needed > room.length) {
        const grown = new Uint8Array(Math.min(limit, Math.max(needed, room.length * 2, LEAST_ROOM)));
        grown.set(room.subarray(0, size));
        room = grown;
      }
      room.set(piece, size);
      size = needed;
    },
    /** Gives all bytes and empties the buffer. */
    take(): Uint8Array {
      const all = room.subarray(0, size);
      room = NOTHING;
      size = 0;
      return all;
    },
  };
}

// --- internal ---

const LF = 0x0a;
const BOM = '\ufeff';
const NOTHING = new Uint8Array();
// Most messages fit, and need room once.
const LEAST_ROOM = 256;
// A line may be cut in the middle of a character.
const looseText = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

interface Ends {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

const firstOf = (a: Uint8Array, b: Uint8Array) =>
  Buffer.concat([a.subarray(0, ID_SEARCH), b.subarray(0, ID_SEARCH)]).subarray(0, ID_SEARCH);

const lastOf = (a: Uint8Array, b: Uint8Array) =>
  Buffer.concat([a.subarray(-ID_SEARCH), b.subarray(-ID_SEARCH)]).subarray(-ID_SEARCH);
