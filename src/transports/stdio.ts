/**
 * MCP over a pair of pipes, one message per line.
 * Owns: the bytes. Leaves alone: what they mean (protocol/), which pipes they are (passed in), signals (cli.ts).
 * Always true:
 * - nothing but messages is written;
 * - while the output is full nothing more is read, so a client that does not listen cannot make us hold its answers;
 * - once the input ends or `stop` fires, what was asked is answered, flushed, and the promise settles.
 */
import type { Readable, Writable } from 'node:stream';
import {
  createLineSplitter,
  createSession,
  encodeError,
  type Handle,
  invalidRequest,
  parseError,
} from '../protocol/index.ts';

export interface Pipes {
  readonly input: Readable;
  readonly output: Writable;
}

export interface StdioOptions {
  /** Fires when no more should be read. */
  readonly stop: AbortSignal;
  /** Called when nothing more will be read, before what is in flight is waited for. */
  readonly onLast?: () => void;
}

export async function serveStdio(
  handle: Handle,
  { input, output }: Pipes,
  { stop, onLast }: StdioOptions,
): Promise<void> {
  const outlet = createOutlet(output, input);
  const session = createSession(outlet.send);
  const exchange = { reply: outlet.send, notify: outlet.send };
  const inFlight = new Set<Promise<void>>();
  const lines = createLineSplitter({
    line(text) {
      const done = handle(session, text, exchange).finally(() => inFlight.delete(done));
      inFlight.add(done);
    },
    tooLong: (limit) => outlet.send(encodeError(null, invalidRequest(`a line is over ${limit} bytes`))),
    notText: () => outlet.send(encodeError(null, parseError('a line is not UTF-8'))),
  });

  await readAll(input, lines.push, stop, outlet.broken);
  lines.end();
  onLast?.();
  await Promise.race([Promise.all(inFlight), outlet.broken]);
  session.end();
  await Promise.race([outlet.flush(), outlet.broken]);
}

// --- internal ---

/** Hands over every chunk until the input ends, fails or is stopped, or there is nobody left to answer. */
function readAll(
  input: Readable,
  push: (chunk: Uint8Array) => void,
  stop: AbortSignal,
  broken: Promise<void>,
): Promise<void> {
  return new Promise((done) => {
    const finish = () => {
      input.off('data', push);
      input.pause();
      done();
    };
    if (stop.aborted) return finish();
    input.on('data', push);
    // A broken input is an ended one: there is nobody to report it to.
    for (const event of ['end', 'close', 'error']) input.once(event, finish);
    stop.addEventListener('abort', finish, { once: true });
    void broken.then(finish);
  });
}

function createOutlet(output: Writable, input: Readable) {
  let pending = '';
  let full = false;
  const broken = new Promise<void>((done) => {
    output.on('error', () => done());
    output.once('close', () => done());
  });

  // Answers of one turn of the event loop leave in one write.
  function write(): void {
    const text = pending;
    pending = '';
    if (text === '' || !output.writable) return;
    if (output.write(text) || full) return;
    full = true;
    input.pause();
    output.once('drain', () => {
      full = false;
      input.resume();
    });
  }

  return {
    broken,
    send(text: string): void {
      if (pending === '') setImmediate(write);
      pending += `${text}\n`;
    },
    flush(): Promise<void> {
      write();
      return new Promise((done) => {
        if (output.writable) output.write('', () => done());
        else done();
      });
    },
  };
}
