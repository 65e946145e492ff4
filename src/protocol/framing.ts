/**
 * Bytes to lines of text, for pipes.
 * Owns: splitting, the limit per line, UTF-8. Leaves alone: what a line means.
 * Always true:
 * - a chunk may end in the middle of a character; lines end with LF or CRLF, and blank ones are dropped;
 * - the splitter holds at most `limit` bytes (half as much again while it grows), whatever the other side sends.
 */

export interface LineEvents {
  line(text: string): void;
  /** A line of more than `limit` bytes was dropped; the stream goes on behind it. */
  tooLong(limit: number): void;
  /** A line that is not UTF-8 was dropped. */
  notText(): void;
}

/** Bytes. A tool call may carry a picture; 16 MiB is far above any we have met and bounds what one peer makes us hold. */
export const MAX_LINE = 16 * 1024 * 1024;

export function createLineSplitter(events: LineEvents, limit = MAX_LINE) {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The start of a line whose end has not come; `size` bytes of it are used. */
  let partial: Uint8Array = NOTHING;
  let size = 0;
  let isTooLong = false;

  function keep(part: Uint8Array): void {
    const needed = size + part.length;
    isTooLong ||= needed > limit;
    if (isTooLong) return void take();
    if (needed > partial.length) {
      // Doubled, so that a byte is copied a few times at most, however small the chunks are.
      const grown = new Uint8Array(Math.min(limit, Math.max(needed, partial.length * 2)));
      grown.set(partial.subarray(0, size));
      partial = grown;
    }
    partial.set(part, size);
    size = needed;
  }

  function take(): Uint8Array {
    const line = partial.subarray(0, size);
    partial = NOTHING;
    size = 0;
    return line;
  }

  function endLine(rest: Uint8Array): void {
    // Most lines come in one chunk, and such a line is not copied.
    const isWhole = size === 0 && !isTooLong && rest.length <= limit;
    if (!isWhole) keep(rest);
    if (isTooLong) events.tooLong(limit);
    else deliver(isWhole ? rest : take());
    isTooLong = false;
  }

  function deliver(bytes: Uint8Array): void {
    let text: string;
    try {
      text = utf8.decode(bytes);
    } catch {
      events.notText();
      return;
    }
    if (text.trim() !== '') events.line(text.startsWith(BOM) ? text.slice(BOM.length) : text);
  }

  return {
    /** The chunk is not kept. */
    push(chunk: Uint8Array): void {
      let start = 0;
      for (let end = chunk.indexOf(LF, start); end !== -1; end = chunk.indexOf(LF, start)) {
        endLine(chunk.subarray(start, end));
        start = end + 1;
      }
      if (start < chunk.length) keep(chunk.subarray(start));
    },
    /** The input has ended: bytes after the last newline are the last line. */
    end(): void {
      if (size > 0 || isTooLong) endLine(NOTHING);
    },
  };
}

// --- internal ---

const LF = 0x0a;
const BOM = '\ufeff';
const NOTHING = new Uint8Array();
