/**
 * From one incoming text to its reply, in two steps: `read` decodes it and finds its era, `answer` runs its method.
 * Between the two a transport with many sessions chooses the session.
 * Owns: every request gets exactly one reply (none if cancelled), and a notification never gets one.
 * Leaves alone: bytes and HTTP responses (transports), what the methods do, which client it is (eras.ts).
 */
import { EncodedReply, encodeNotification, errorReply } from './encode.ts';
import type { Call, Era } from './eras.ts';
import { internalError, invalidRequest, methodNotFound, RpcError } from './errors.ts';
import { decode, type Message, type Request } from './json-rpc.ts';
import type { ReadHeader, Session } from './session.ts';

/** A text that was read: its messages, and what it needs of a transport. */
export interface Incoming {
  readonly isBatch: boolean;
  readonly items: readonly { readonly message: Message; readonly era: Era }[];
  /** `none`: the text stands alone. `new`: it opens a session. `existing`: it belongs to a session that is open. */
  readonly session: 'none' | 'new' | 'existing';
  /** The answer comes only when the call is over, and notifications before it. */
  readonly streams: boolean;
  /** It has requests of which a transport runs only so many at once: all but open subscriptions. */
  readonly isLimited: boolean;
  /** The headers it came with; undefined on a transport without headers. */
  readonly readHeader: ReadHeader | undefined;
}

/** Where the reply to one incoming text goes. */
export interface Exchange {
  /** Called at most once. */
  reply(reply: EncodedReply): void;
  /** Sends a notification about the text that is being answered, before its reply. Must not throw. */
  notify(text: string): void;
  /** Its requests run when this settles, and can be cancelled before. Absent: at once. */
  readonly turn?: Promise<void> | undefined;
}

export interface Dispatcher {
  /** Never throws. */
  read(text: string, readHeader?: ReadHeader): Incoming;
  /** Settles when all that the text asked for is done and answered; never rejects. */
  answer(incoming: Incoming, session: Session, exchange: Exchange): Promise<void>;
}

/** `onFault`: called for every failure that is this program's fault, with the method it happened in. */
export function createDispatcher(eras: readonly Era[], onFault: (method: string, error: unknown) => void): Dispatcher {
  const eraOf = (message: Message, readHeader: ReadHeader | undefined) => {
    const { method = '', params = {} } = 'method' in message ? message : {};
    const era = eras.find((one) => one.speaks(method, params, readHeader));
    if (!era) throw new Error('the last era must take every message');
    return era;
  };
  return {
    read(text, readHeader) {
      const decoded = decode(text);
      const isBatch = Array.isArray(decoded);
      const messages = isBatch ? decoded : [decoded];
      const items = messages.map((message) => ({ message, era: eraOf(message, readHeader) }));
      const streams = !isBatch && items.some(isStream);
      const isLimited = !streams && messages.some(({ kind }) => kind === 'request');
      return { isBatch, items, session: sessionFor(items, isBatch), streams, isLimited, readHeader };
    },
    async answer(incoming, session, exchange) {
      const context: Context = { incoming, session, exchange, onFault };
      const [item] = incoming.items;
      try {
        const reply = await (incoming.isBatch || !item ? answerBatch(context) : answerOne(item, context));
        if (reply) exchange.reply(reply);
      } catch (error) {
        // Errors of methods are caught where they run; this one comes from a notification, or a transport that cannot send.
        onFault('a message', error);
      }
    },
  };
}

// --- internal ---

type Item = Incoming['items'][number];
type Answer = EncodedReply | undefined;

/** What one incoming text is answered with. */
interface Context {
  readonly incoming: Incoming;
  readonly session: Session;
  readonly exchange: Exchange;
  readonly onFault: (method: string, error: unknown) => void;
}

function sessionFor(items: readonly Item[], isBatch: boolean): Incoming['session'] {
  // A text that cannot be read, or an empty batch, is answered as such whatever session it names.
  if (items.every(({ message }) => message.kind === 'invalid')) return 'none';
  if (items.some(({ message, era }) => 'method' in message && era.sessionOpener === undefined)) return 'none';
  return !isBatch && items.some(opens) ? 'new' : 'existing';
}

const opens = ({ message, era }: Item) => message.kind === 'request' && message.method === era.sessionOpener;

const isStream = ({ message, era }: Item) =>
  message.kind === 'request' && era.methods.get(message.method)?.streams === true;

/** One message after the other, so that a batch has no more calls in flight than a single message. */
async function answerBatch(context: Context): Promise<Answer> {
  const { incoming, session } = context;
  if (!incoming.items.every(({ era }) => era.acceptsBatches(session)))
    return errorReply(null, invalidRequest('a batch is not accepted here'));
  if (incoming.items.length === 0) return errorReply(null, invalidRequest('a batch is not empty'));
  const pieces: Uint8Array[] = [];
  for (const item of incoming.items) {
    if (session.ended.aborted) return undefined;
    const reply = await answerOne(item, context);
    if (reply) pieces.push(Buffer.from(pieces.length === 0 ? '[' : ','), ...reply.pieces);
    // Other clients get their turn between two messages, as they would if each had come alone.
    await new Promise((turn) => setImmediate(turn));
  }
  return pieces.length > 0 ? new EncodedReply([...pieces, Buffer.from(']')]) : undefined;
}

function answerOne({ message, era }: Item, context: Context): Answer | Promise<Answer> {
  if (message.kind === 'request') return answerRequest(message, era, context);
  if (message.kind === 'invalid') return errorReply(message.id, message.error);
  // This server sends no requests to its clients, so a response belongs to nothing.
  if (message.kind === 'response') return undefined;
  era.notifications.get(message.method)?.run(message.params, context.session);
  return undefined;
}

async function answerRequest(request: Request, era: Era, context: Context): Promise<Answer> {
  const { incoming, session, exchange, onFault } = context;
  const { id, params } = request;
  if (session.calls.has(id)) return errorReply(id, invalidRequest('this id is still in flight'));
  const controller = new AbortController();
  session.calls.set(id, controller);
  const isWanted = () => session.calls.get(id) === controller;
  const notify = (name: string, body: object) => {
    if (isWanted()) exchange.notify(encodeNotification(name, body));
  };
  try {
    if (exchange.turn) await exchange.turn;
    if (!isWanted()) return undefined;
    const peer = era.open(request, session, incoming.readHeader);
    const method = era.methods.get(request.method);
    if (!method) throw methodNotFound(request.method);
    const call: Call = { id, params, peer, session, cancellation: () => controller.signal, notify };
    const result = await method.run(params, call);
    return isWanted() ? era.seal(id, result, method) : undefined;
  } catch (error) {
    if (!isWanted()) return undefined;
    if (error instanceof RpcError) return era.sealError(id, error);
    onFault(request.method, error);
    return era.sealError(id, internalError(error instanceof Error ? error.message : String(error)));
  } finally {
    // After it was cancelled, another call may have the id.
    if (isWanted()) session.calls.delete(id);
  }
}
