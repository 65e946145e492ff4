/**
 * Bytes to lines of text, for pipes.
 * Owns: splitting, the ceiling per line, UTF-8. Leaves alone: what a line means.
 * Always true:
 * - a character may be cut anywhere between two chunks; lines end with LF or CRLF, and blank ones are dropped;
 * - at most `limit` bytes and the two ends of a dropped line are held, whatever the other side sends.
 */

export interface LineEvents {
  line(text: string): void;
  /**
   * A line was dropped because it had more than `limit` bytes. The stream goes on behind it.
   * `start` and `end`: what is left of it, LINE_ENDS bytes each.
   */
  tooLong(limit: number, start: string, end: string): void;
  /** A line was dropped because it was not UTF-8. */
  notText(): void;
}

// A tool call may carry a picture. 32 MiB is far above any we have met and bounds what one peer can make us hold.
export const MAX_LINE = 32 * 1024 * 1024;

// Room for the id of a dropped request, which stands among its first or its last members.
export const LINE_ENDS = 2048;

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
  let dropped: Ends | undefined;

  function hold(part: Uint8Array): void {
    const needed = size + part.length;
    if (dropped || needed > limit) {
      const sofar = held.subarray(0, size);
      dropped = { start: dropped?.start ?? firstOf(sofar, part), end: lastOf(dropped?.end ?? sofar, part) };
      held = NOTHING;
      size = 0;
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
    const whole = size === 0 && !dropped && rest.length <= limit;
    if (!whole) hold(rest);
    const bytes = whole ? rest : held.subarray(0, size);
    const ends = dropped;
    held = NOTHING;
    size = 0;
    dropped = undefined;
    if (ends) events.tooLong(limit, LOOSE_UTF8.decode(ends.start), LOOSE_UTF8.decode(ends.end));
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
      if (size > 0 || dropped) close(NOTHING);
    },
  };
}

// --- internal ---

const LF = 0x0a;
const NOTHING = new Uint8Array();
// A line may be cut in the middle of a character.
const LOOSE_UTF8 = new TextDecoder();

interface Ends {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

const firstOf = (a: Uint8Array, b: Uint8Array) =>
  join(a.subarray(0, LINE_ENDS), b.subarray(0, Math.max(0, LINE_ENDS - a.length)));

const lastOf = (a: Uint8Array, b: Uint8Array) =>
  join(a.subarray(Math.max(0, a.length - Math.max(0, LINE_ENDS - b.length))), b.subarray(-LINE_ENDS));

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
