/**
 * MCP over a pair of pipes, one message per line.
 * Owns: the bytes, and how many requests run at once. Leaves alone: what they mean (protocol), which pipes they are.
 * Always true:
 * - only messages are written;
 * - a request runs in its turn, when fewer than MAX_RUNNING others do and the client has read what was written;
 * - while MAX_WAITING requests wait for that, or MAX_UNREAD bytes for the client, nothing is read, not even the end of the
 *   input; progress is dropped while so much is unread;
 * - once the end of the input is read or `stop` fires, what was read is answered, the answers are flushed, and the promise
 *   settles: at the latest after `lastMs`, and at once when the client is gone.
 */
import type { Readable, Writable } from 'node:stream';
import { MAX_RUNNING, MAX_UNREAD, MAX_WAITING } from '../limits.ts';
import * as protocol from '../protocol/index.ts';

export interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Fires when nothing more should be read. */
  readonly stop: AbortSignal;
  /** After the last read: how long requests may run, and the client may take to read the answers. */
  readonly lastMs: number;
  /** Called after the last read, before the requests that wait or run are waited for. */
  readonly onLast?: () => void;
}

export async function serveStdio(dispatcher: protocol.Dispatcher, options: StdioOptions): Promise<void> {
  const { input, output, stop, lastMs, onLast } = options;
  const { session, inFlight, take, reply, proceed } = createQueue(dispatcher, input, output);
  const refuse = (error: protocol.RpcError) => reply(protocol.errorReply(null, error));
  const lines = protocol.createLineSplitter({
    line: take,
    tooLong: (limit) => refuse(protocol.invalidRequest(`a line is over ${limit} bytes`)),
    notText: () => refuse(protocol.parseError('a line is not UTF-8')),
  });
  const read = (chunk: Uint8Array) => {
    lines.push(chunk);
    proceed();
  };
  const gone = new Promise<void>((done) => session.ended.addEventListener('abort', () => done()));
  output.on('error', session.end).on('close', session.end).on('drain', proceed);
  await new Promise<void>((done) => {
    if (stop.aborted) return done();
    for (const event of ['end', 'close', 'error']) input.on(event, () => done());
    stop.addEventListener('abort', () => done());
    void gone.then(done);
    input.on('data', read);
  });
  input.off('data', read);
  // A line that `stop` cut off is not a request.
  if (!stop.aborted) lines.end();
  onLast?.();
  const timer = setTimeout(session.end, lastMs);
  const flush = () => new Promise<void>((done) => output.write('', () => done()));
  await Promise.race([Promise.all(inFlight).then(flush), gone]);
  session.end();
  clearTimeout(timer);
  input.pause();
}

// --- internal ---

/** The requests that wait and run, in the order in which they came. */
function createQueue(dispatcher: protocol.Dispatcher, input: Readable, output: Writable) {
  const inFlight = new Set<Promise<void>>();
  /** For each request that waits: lets it run. */
  const waiting: (() => void)[] = [];
  let running = 0;
  const reply = ({ pieces }: protocol.EncodedReply) => write(output, pieces);
  // Subscriptions send few notifications, and their clients rely on each.
  const send = (text: string) => write(output, [Buffer.from(text)]);
  const report = (text: string) => void (output.writableLength < MAX_UNREAD && send(text));
  const session = protocol.createSession(send);
  const hasRoom = () => running < MAX_RUNNING && !output.writableNeedDrain;

  function take(text: string): void {
    const incoming = dispatcher.read(text);
    // A subscription stays open, and a notification may cancel what runs: neither takes a place or waits for one.
    const { isLimited } = incoming;
    const turn = isLimited && !hasRoom() ? new Promise<void>((run) => waiting.push(run)) : undefined;
    if (isLimited && !turn) running++;
    const exchange = { reply, notify: incoming.streams ? send : report, turn };
    const done = dispatcher.answer(incoming, session, exchange).then(async () => {
      await turn; // One whose id is in flight is answered before its turn.
      inFlight.delete(done);
      if (isLimited) setImmediate(leave);
    });
    inFlight.add(done);
  }

  /** In the next turn of the event loop: answers leave before, and timers and signals are not kept waiting. */
  function leave(): void {
    running--;
    proceed();
  }

  /** Lets those run that there is room for, and reads on or not. */
  function proceed(): void {
    for (; waiting.length > 0 && hasRoom(); running++) waiting.shift()?.();
    if (waiting.length >= MAX_WAITING || output.writableLength >= MAX_UNREAD) input.pause();
    else if (input.isPaused() && !session.ended.aborted) input.resume();
  }

  return { session, inFlight, take, reply, proceed };
}

/** Writes one line; those of one turn of the event loop leave together. */
function write(output: Writable, pieces: readonly Uint8Array[]): void {
  if (output.writableCorked === 0) {
    output.cork();
    setImmediate(() => output.uncork());
  }
  for (const piece of pieces) output.write(piece);
  output.write('\n');
}
