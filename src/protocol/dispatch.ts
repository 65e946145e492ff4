/**
 * From one incoming text to its reply: decode, find the era, choose the session, run the method, seal, encode.
 * Owns: every request gets exactly one reply (none if cancelled), and a notification never gets one.
 * Leaves alone: bytes and HTTP responses (transports), what the methods do, which client it is (eras.ts).
 */
import { EncodedReply, encodeNotification, errorReply } from './encode.ts';
import type { Call, Era } from './eras.ts';
import { internalError, invalidRequest, methodNotFound, RpcError } from './errors.ts';
import { decode, type Id, isObject, type Message, type Params, type Request } from './json-rpc.ts';
import { isLogged } from './meta.ts';
import { LazyAbortController, type Peer, type ReadHeader, type Session } from './session.ts';

/** Where the reply to one incoming text goes. */
export interface Exchange {
  /** Called at most once. */
  reply(reply: EncodedReply): void;
  /**
   * Sends a notification about the text that is being answered, before its reply. `mayDrop`: a transport whose client
   * does not read may drop it.
   */
  notify(text: string, mayDrop: boolean): void;
  /** Absent on a transport without headers. */
  readonly readHeader?: ReadHeader;
}

/** What a message needs of a transport that has many sessions. */
interface MessageNeeds {
  /** `none`: the message stands alone. `new`: it opens a session. `existing`: it belongs to a session that is open. */
  readonly session: 'none' | 'new' | 'existing';
  /** The response must be able to carry notifications. */
  readonly stream: boolean;
}

/** Gives the session for a message; undefined when the transport has refused the message. */
export type ChooseSession = (needs: MessageNeeds) => Session | undefined;

/** Settles when all that the text asked for is done and answered; never rejects. */
export type Handle = (session: Session | ChooseSession, text: string, exchange: Exchange) => Promise<void>;

/** Called for every failure that is this program's fault, with the method it happened in. */
export type FaultListener = (method: string, error: unknown) => void;

/**
 * Bytes. The replies to a batch are collected before they are sent. Past this length, of all batches together, further
 * requests in batches are answered with errors and not run.
 */
export const MAX_BATCH_ANSWER = 32 * 1024 * 1024;

export function createDispatcher(eras: readonly Era[], onFault: FaultListener): Handle {
  const batches = { bytes: 0 };
  const withEra = (message: Message, readHeader: ReadHeader | undefined): Incoming => {
    const { method = '', params = {} } = 'method' in message ? message : {};
    const era = eras.find((one) => one.speaks(method, params, readHeader));
    if (!era) throw new Error('the last era must take every message');
    return { message, era };
  };
  return async (given, text, exchange) => {
    try {
      const decoded = decode(text);
      const incoming = Array.isArray(decoded)
        ? decoded.map((message) => withEra(message, exchange.readHeader))
        : withEra(decoded, exchange.readHeader);
      const session = typeof given === 'function' ? given(needsOf(incoming)) : given;
      if (!session) return;
      const context = { session, exchange, onFault };
      const reply = await ('message' in incoming
        ? answerOne(incoming, context)
        : answerBatch(incoming, batches, context));
      if (reply) exchange.reply(reply);
    } catch (error) {
      // Errors of methods are caught where they run; this one comes from a transport that cannot send.
      onFault('a reply', error);
    }
  };
}

// --- internal ---

const BATCH_TOO_LARGE = `the answers to batches are over ${MAX_BATCH_ANSWER} bytes at the moment; send this request by itself`;

const PROGRESS = 'notifications/progress';
const MESSAGE = 'notifications/message';

interface Incoming {
  readonly message: Message;
  readonly era: Era;
}

type Answer = EncodedReply | undefined;

/** What one incoming text is answered with. */
interface Context {
  readonly session: Session;
  readonly exchange: Exchange;
  readonly onFault: FaultListener;
}

function needsOf(incoming: Incoming | readonly Incoming[]): MessageNeeds {
  const isBatch = !('message' in incoming);
  const all = isBatch ? incoming : [incoming];
  const calls = all.flatMap(({ message, era }) => ('method' in message ? [{ message, era }] : []));
  const stream = !isBatch && calls.some(({ message, era }) => era.methods.get(message.method)?.streams === true);
  // A text that cannot be read, or an empty batch, is answered as such whatever session it names.
  const isUnreadable = all.every(({ message }) => message.kind === 'invalid');
  if (isUnreadable || calls.some(({ era }) => era.sessionOpener === undefined)) return { session: 'none', stream };
  const isOpening = calls.some(
    ({ message, era }) => message.kind === 'request' && message.method === era.sessionOpener,
  );
  return { session: isOpening && !isBatch ? 'new' : 'existing', stream };
}

/** One message after the other, so that a batch has no more calls in flight than a single message. */
async function answerBatch(batch: readonly Incoming[], held: { bytes: number }, context: Context): Promise<Answer> {
  const { session } = context;
  if (!batch.every(({ era }) => era.acceptsBatches(session)))
    return errorReply(null, invalidRequest('a batch is not accepted here'));
  if (batch.length === 0) return errorReply(null, invalidRequest('a batch is not empty'));
  const replies: EncodedReply[] = [];
  try {
    for (const one of batch) {
      if (session.ended.aborted) return undefined;
      const isOverLimit = held.bytes > MAX_BATCH_ANSWER && one.message.kind === 'request';
      const reply = isOverLimit
        ? errorReply(one.message.id, internalError(BATCH_TOO_LARGE))
        : await answerOne(one, context);
      if (reply) replies.push(reply);
      held.bytes += reply?.length ?? 0;
      // Other clients get their turn between two messages, as they would if each had come alone.
      await new Promise((turn) => setTimeout(turn, 0));
    }
    const pieces = replies.flatMap((reply, at) => [at === 0 ? BATCH_START : BATCH_NEXT, ...reply.pieces]);
    return pieces.length > 0 ? new EncodedReply([...pieces, BATCH_END]) : undefined;
  } finally {
    for (const { length } of replies) held.bytes -= length;
  }
}

const [BATCH_START, BATCH_NEXT, BATCH_END] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];

function answerOne({ message, era }: Incoming, context: Context): Answer | Promise<Answer> {
  switch (message.kind) {
    case 'response':
      return undefined; // This server sends no requests to its clients.
    case 'invalid':
      return errorReply(message.id, message.error);
    case 'request':
      return answerRequest(message, era, context);
    case 'notification':
      try {
        era.notifications.get(message.method)?.run(message.params, context.session);
      } catch (error) {
        context.onFault(message.method, error);
      }
      return undefined;
  }
}

async function answerRequest(request: Request, era: Era, context: Context): Promise<Answer> {
  const { session, exchange, onFault } = context;
  const { id, params } = request;
  if (session.calls.has(id)) return errorReply(id, invalidRequest('this id is still in flight'));
  let call: RunningCall | undefined;
  try {
    const peer = era.open(request, session, exchange.readHeader);
    const method = era.methods.get(request.method);
    if (!method) throw methodNotFound(request.method);
    call = new RunningCall(request, peer, context);
    session.calls.set(id, call);
    const result = await method.run(params, call);
    return call.aborted ? undefined : era.seal(id, result, method);
  } catch (error) {
    if (call?.aborted) return undefined;
    if (error instanceof RpcError) return era.sealError(id, error);
    onFault(request.method, error);
    return era.sealError(id, internalError(error instanceof Error ? error.message : String(error)));
  } finally {
    // After it was cancelled, another call may have the id.
    if (session.calls.get(id) === call) session.calls.delete(id);
  }
}

/**
 * A class, because one is made for every request. A getter in an object literal would give each call a hidden class of
 * its own, which V8 makes old from the start: all that the getter reaches would stay until a full collection.
 */
class RunningCall extends LazyAbortController implements Call {
  readonly id: Id;
  readonly params: Params;
  readonly peer: Peer;
  readonly session: Session;
  readonly #context: Context;

  constructor({ id, params }: Request, peer: Peer, context: Context) {
    super();
    this.id = id;
    this.params = params;
    this.peer = peer;
    this.session = context.session;
    this.#context = context;
  }

  get cancellation(): this {
    return this;
  }

  /** A function of its own, so that it can be handed on without the call. */
  get notify(): Call['notify'] {
    const { exchange, onFault } = this.#context;
    return (name, body) => {
      try {
        // No log message leaves that the client has not asked for.
        if (name === MESSAGE && !isLogged(isObject(body) && body.level, this.peer.logLevel)) return;
        if (!this.aborted) exchange.notify(encodeNotification(name, body), name === PROGRESS || name === MESSAGE);
      } catch (error) {
        onFault(name, error); // A method does not fail because its progress cannot be sent.
      }
    };
  }
}
