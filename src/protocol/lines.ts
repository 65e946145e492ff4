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
  // The beginning of a line whose end has not come, in a buffer with room to grow.
  let held = NOTHING;
  let size = 0;
  let discarding = false;

  function hold(part: Uint8Array): void {
    const needed = size + part.length;
    discarding ||= needed > limit;
    if (discarding) {
      held = NOTHING;
      return;
    }
    if (needed > held.length) {
      const grown = new Uint8Array(Math.min(limit, Math.max(needed, held.length * 2)));
      grown.set(held.subarray(0, size));
      held = grown;
    }
    held.set(part, size);
    size = needed;
  }

  function close(rest: Uint8Array): void {
    // Nearly every line comes in one piece, and that is not copied.
    const whole = size === 0 && !discarding && rest.length <= limit;
    if (!whole) hold(rest);
    const bytes = whole ? rest : held.subarray(0, size);
    const tooLong = discarding;
    held = NOTHING;
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
        close(chunk.subarray(start, end));
        start = end + 1;
      }
      if (start < chunk.length) hold(chunk.subarray(start));
    },
    end() {
      if (size > 0 || discarding) close(NOTHING);
    },
  };
}

// --- internal ---

const LF = 0x0a;
const NOTHING = new Uint8Array();
