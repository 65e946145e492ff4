/**
 * `text/event-stream` to events.
 * Owns: the format, cut anywhere between two chunks. Leaves alone: what an event holds.
 * Always true: at most about `limit` characters are held; an event over that is dropped and reported, the stream goes on.
 */

export interface SseEvent {
  /** `message` when the stream does not say. */
  readonly type: string;
  readonly data: string;
}

export interface SseEvents {
  event(event: SseEvent): void;
  /** The mark to continue behind, should the stream break. */
  id(id: string): void;
  /** How long the server wants us to wait before we come again, in milliseconds. */
  retry(milliseconds: number): void;
  tooLong(limit: number): void;
}

export interface SseParser {
  push(chunk: Uint8Array): void;
}

export function createSseParser(events: SseEvents, limit: number): SseParser {
  const utf8 = new TextDecoder();
  let rest = '';
  let dropping = false;
  let type = '';
  let data: string[] = [];
  let size = 0;

  function dispatch(): void {
    if (dropping) events.tooLong(limit);
    else if (data.length > 0) events.event({ type: type === '' ? 'message' : type, data: data.join('\n') });
    [dropping, type, data, size] = [false, '', [], 0];
  }

  function setField(name: string, value: string): void {
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id' && !value.includes('\0')) events.id(value);
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) events.retry(Number(value));
  }

  function take(line: string): void {
    if (line === '') {
      dispatch();
      return;
    }
    size += line.length;
    if (size > limit) {
      dropping = true;
      data = [];
    }
    if (dropping) return;
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    setField(name, value);
  }

  return {
    push(chunk) {
      // A CR at the end may be half of a CRLF: it waits for the next chunk.
      const lines = (rest + utf8.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
      if (rest.length > limit) {
        dropping = true;
        rest = '';
      }
    },
  };
}
