/**
 * Bytes to lines of text, for pipes.
 * Owns: splitting, the ceiling per line, UTF-8. Leaves alone: what a line means.
 * Always true:
 * - a character may be cut anywhere between two chunks; lines end with LF or CRLF, and blank ones are dropped;
 * - at most `limit` bytes are held, whatever the other side sends.
 */

export interface LineEvents {
  line(text: string): void;
  /** A line was dropped because it had more than `limit` bytes. The stream goes on behind it. */
  tooLong(limit: number): void;
  /** A line was dropped because it was not UTF-8. */
  notText(): void;
}

// A request is a name and a few arguments. 4 MiB is far above any we have met and bounds what one peer can make us hold.
export const MAX_LINE = 4 * 1024 * 1024;

export interface LineSplitter {
  push(chunk: Uint8Array): void;
  /** The input is over: what was not yet ended by a newline is the last line. */
  end(): void;
}

export function createLineSplitter(events: LineEvents, limit = MAX_LINE): LineSplitter {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let held: Uint8Array[] = [];
  let size = 0;
  let discarding = false;

  function hold(part: Uint8Array): void {
    size += part.length;
    if (discarding || part.length === 0) return;
    if (size > limit) {
      held = [];
      discarding = true;
    } else held.push(part);
  }

  function close(): void {
    const bytes = held.length === 1 && held[0] ? held[0] : join(held, size);
    const tooLong = discarding;
    held = [];
    size = 0;
    discarding = false;
    if (tooLong) events.tooLong(limit);
    else deliver(bytes);
  }

  function deliver(bytes: Uint8Array): void {
    let text: string;
    try {
      text = utf8.decode(bytes);
    } catch {
      events.notText();
      return;
    }
    if (text.trim() !== '') events.line(text);
  }

  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
        hold(chunk.subarray(start, end));
        close();
        start = end + 1;
      }
      // Kept until the next chunk: a copy, because the reader may reuse its buffer.
      if (start < chunk.length) hold(chunk.slice(start));
    },
    end() {
      if (size > 0) close();
    },
  };
}

// --- internal ---

const LF = 0x0a;

function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  if (parts.length === 0) return new Uint8Array();
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
