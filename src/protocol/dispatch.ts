/**
 * From one incoming text to its answer: decode, find the era, choose the session, run the method, seal, encode.
 * Owns: every call gets exactly one reply (none if cancelled), and a notification never gets one.
 * Leaves alone: bytes and HTTP responses (transports), what the methods do, which client it is (eras.ts).
 */
import type { Era, HeaderClaims } from './eras.ts';
import { internalError, invalidRequest, type MessageError, methodNotFound, RpcError } from './errors.ts';
import {
  decode,
  encodeError,
  encodeNotification,
  encodeResult,
  type Id,
  idKey,
  type Message,
  type Notification,
  type Request,
} from './json-rpc.ts';
import { LazyAbortController, type Session } from './session.ts';

/** Where the answer to one incoming text goes. */
export interface Exchange {
  /** Called at most once. */
  reply(text: string, httpStatus: number): void;
  /**
   * Sends a notification about the text that is being answered, before its reply. `mayDrop`: the next one replaces it,
   * so a transport whose client does not read may drop it.
   */
  notify(text: string, mayDrop: boolean): void;
  readonly claims?: HeaderClaims;
}

/** What a message needs of a transport that has many sessions. */
export interface MessageNeeds {
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
 * Characters. The answers to a batch are collected before they are sent. Past this length, of all batches together, further
 * requests in batches are answered with errors and not run.
 */
export const MAX_BATCH_ANSWER = 32 * 1024 * 1024;

export function createDispatcher(eras: readonly Era[], onFault: FaultListener): Handle {
  /** Characters of the answers that batches hold at the moment. */
  let collected = 0;

  return async (given, text, exchange) => {
    try {
      const decoded = decode(text);
      const isBatch = Array.isArray(decoded);
      const incoming = (isBatch ? decoded : [decoded]).map((message) => withEra(message, exchange.claims));
      const session = typeof given === 'function' ? given(needsOf(incoming, isBatch)) : given;
      if (!session) return;
      const [first] = incoming;
      const taking = isBatch || !first ? takeBatch(incoming, session, exchange) : take(first, session, exchange);
      const answer = await taking;
      if (answer) exchange.reply(answer.text, answer.status);
    } catch (error) {
      // Errors of methods are caught where they run; this one comes from a transport that cannot send.
      onFault('a reply', error);
    }
  };

  function withEra(message: Message, claims: HeaderClaims | undefined): Incoming {
    const { method = '', params = {} } = 'method' in message ? message : {};
    const era = eras.find((one) => one.speaks(method, params, claims));
    if (!era) throw new Error('the last era must take every message');
    return { message, era };
  }

  /** One after the other, so that a batch has no more calls in flight than a single message. */
  async function takeBatch(
    batch: readonly Incoming[],
    session: Session,
    exchange: Exchange,
  ): Promise<Answer | undefined> {
    if (!batch.every(({ era }) => era.acceptsBatches(session)))
      return refusal(null, invalidRequest('a batch is not accepted here'));
    if (batch.length === 0) return refusal(null, invalidRequest('a batch is not empty'));
    const texts: string[] = [];
    let length = 0;
    try {
      for (const one of batch) {
        if (session.ended.aborted) return undefined;
        const isOverLimit = collected > MAX_BATCH_ANSWER && one.message.kind === 'request';
        const text = isOverLimit
          ? encodeError(one.message.id, internalError(BATCH_TOO_LARGE))
          : (await take(one, session, exchange))?.text;
        if (text !== undefined) texts.push(text);
        length += text?.length ?? 0;
        collected += text?.length ?? 0;
        // Other clients get their turn between two messages, as they would if each had come alone.
        await new Promise((turn) => setTimeout(turn, 0));
      }
      return texts.length > 0 ? { text: `[${texts.join(',')}]`, status: 200 } : undefined;
    } finally {
      collected -= length;
    }
  }

  async function take({ message, era }: Incoming, session: Session, exchange: Exchange): Promise<Answer | undefined> {
    switch (message.kind) {
      case 'response':
        return undefined; // This server sends no requests to its clients.
      case 'invalid':
        return refusal(message.id, message.error);
      case 'notification':
        return runNotification(message, era, session);
      case 'request':
        return runRequest(message, era, session, exchange);
    }
  }

  function runNotification({ method, params }: Notification, era: Era, session: Session): undefined {
    try {
      era.notifications.get(method)?.run(params, session);
    } catch (error) {
      onFault(method, error);
    }
  }

  async function runRequest(
    request: Request,
    era: Era,
    session: Session,
    exchange: Exchange,
  ): Promise<Answer | undefined> {
    const { id, params } = request;
    const key = idKey(id);
    if (session.calls.has(key)) return refusal(id, invalidRequest('this id is still in flight'));
    const control = new LazyAbortController();
    const notify = (name: string, body: object) => {
      try {
        if (!control.aborted) exchange.notify(encodeNotification(name, body), name === PROGRESS);
      } catch (error) {
        onFault(name, error); // A method does not fail because its progress cannot be sent.
      }
    };
    session.calls.set(key, control);
    try {
      const peer = era.open(request, session, exchange.claims);
      const method = era.methods.get(request.method);
      if (!method) throw methodNotFound(request.method);
      const result = await method.run(params, {
        id,
        params,
        peer,
        session,
        notify,
        get signal() {
          return control.signal;
        },
      });
      return control.aborted ? undefined : { text: encodeResult(id, era.seal(result, method)), status: 200 };
    } catch (error) {
      if (control.aborted) return undefined;
      if (!(error instanceof RpcError)) onFault(request.method, error);
      const sealed = era.sealError(asRpcError(error));
      return { text: errorText(id, sealed), status: era.statusOf(sealed) };
    } finally {
      session.calls.delete(key);
    }
  }
}

// --- internal ---

const BATCH_TOO_LARGE = `the answers to batches are over ${MAX_BATCH_ANSWER} characters at the moment; send this request by itself`;

const PROGRESS = 'notifications/progress';

interface Incoming {
  readonly message: Message;
  readonly era: Era;
}

interface Answer {
  readonly text: string;
  readonly status: number;
}

const refusal = (id: Id | null, error: MessageError): Answer => ({ text: encodeError(id, error), status: 400 });

function needsOf(incoming: readonly Incoming[], isBatch: boolean): MessageNeeds {
  const calls = incoming.flatMap(({ message, era }) => ('method' in message ? [{ message, era }] : []));
  const stream = !isBatch && calls.some(({ message, era }) => era.methods.get(message.method)?.streams === true);
  // A text that cannot be read, or an empty batch, is answered as such whatever session it names.
  const isUnreadable = incoming.every(({ message }) => message.kind === 'invalid');
  if (isUnreadable || calls.some(({ era }) => era.sessionOpener === undefined)) return { session: 'none', stream };
  const isOpening = calls.some(
    ({ message, era }) => message.kind === 'request' && message.method === era.sessionOpener,
  );
  return { session: isOpening && !isBatch ? 'new' : 'existing', stream };
}

function asRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  return internalError(error instanceof Error ? error.message : String(error));
}

/** The data of an error may be a value that JSON cannot hold; its code and message always can be written. */
function errorText(id: Id, error: RpcError): string {
  try {
    return encodeError(id, error);
  } catch {
    return encodeError(id, { code: error.code, message: error.message });
  }
}
