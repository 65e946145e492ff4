/**
 * One legacy client over streamable HTTP: its session, and the streams on which it hears what it did not ask for.
 * Owns: which stream a notice goes to. Leaves alone: answers, which go where they were asked for (answer.ts).
 * Always true: a notice goes to one stream only, and one that finds none waits for the next.
 */
import { createSession, type Session } from '../../protocol/index.ts';
import type { EventStream } from './event-stream.ts';
import type { SessionEntry } from './sessions.ts';

export interface HttpSession extends SessionEntry {
  readonly session: Session;
  /** A message is being answered, until `end`. */
  begin(): void;
  end(): void;
  attach(stream: EventStream): void;
  detach(stream: EventStream): void;
}

// A client opens its stream a moment after the handshake, and again after a dropped line: notices wait this many deep.
export const MAX_WAITING = 16;
// One is usual, two while a dropped line has not been noticed.
export const MAX_STREAMS = 4;

export function createHttpSession(): HttpSession {
  const streams: EventStream[] = [];
  const waiting: string[] = [];
  let messages = 0;
  const session = createSession((text) => {
    // The newest is the one that surely has a reader.
    const stream = streams.at(-1);
    if (stream) return stream.send(text);
    waiting.push(text);
    if (waiting.length > MAX_WAITING) waiting.shift();
  });
  return {
    session,
    isBusy: () => messages > 0 || streams.length > 0,
    begin: () => void messages++,
    end: () => void messages--,
    attach(stream) {
      streams.push(stream);
      for (const text of waiting.splice(0)) stream.send(text);
      if (streams.length > MAX_STREAMS) streams.shift()?.end();
    },
    detach(stream) {
      const at = streams.indexOf(stream);
      if (at !== -1) streams.splice(at, 1);
    },
    leave() {
      session.end();
      for (const stream of streams.splice(0)) stream.end();
    },
  };
}
