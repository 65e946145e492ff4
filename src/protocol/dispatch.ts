/**
 * The way of one message: decode, find the era that speaks it, run the method, seal, encode.
 * Owns: that every call gets exactly one reply (none if cancelled) and a notice never gets one.
 * Leaves alone: bytes and status lines (transports), what the methods do, who the peer is (eras.ts).
 */
import type { Era, HeaderClaims } from './eras.ts';
import { EnvelopeError, internalError, invalidRequest, methodNotFound, RpcError } from './errors.ts';
import {
  type Decoded,
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
import { Running, type Session } from './session.ts';

/** Where the answer to one incoming text goes. */
export interface Exchange {
  /** Called at most once. `status` is what HTTP would say of it. */
  reply(text: string, status: number): void;
  /**
   * A notice about the text being answered, before its reply. `mayDrop`: one that the next makes worthless, so that a
   * transport whose reader does not read need not hold it.
   */
  notify(text: string, mayDrop: boolean): void;
  readonly claims?: HeaderClaims;
}

/** Characters. A batch is answered by one text; past this length the rest of it is answered with errors. */
export const MAX_BATCH_ANSWER = 32 * 1024 * 1024;

/**
 * Settles when all that the text asked for is done and answered; never rejects.
 * Takes it decoded as well, from a carrier that had to look inside to find the session.
 */
export type Handle = (session: Session, incoming: string | Decoded, exchange: Exchange) => Promise<void>;

/** Told of every failure that is our fault, with the method it happened in. */
export type FaultListener = (method: string, error: unknown) => void;

export function createDispatcher(eras: readonly Era[], onFault: FaultListener): Handle {
  return async (session, incoming, exchange) => {
    try {
      const decoded = typeof incoming === 'string' ? decode(incoming) : incoming;
      const taking = Array.isArray(decoded) ? takeAll(decoded, session, exchange) : take(decoded, session, exchange);
      const answer = await taking;
      if (answer) exchange.reply(answer.text, answer.status);
    } catch (error) {
      // Methods are caught where they run; this is a transport that cannot send.
      onFault('a reply', error);
    }
  };

  /** One after the other, so that a batch has no more in flight than a single message has. */
  async function takeAll(batch: readonly Message[], session: Session, exchange: Exchange): Promise<Answer | undefined> {
    const welcome = batch.every((one) => eraOf(one, exchange).takesBatches(session));
    if (batch.length === 0 || !welcome) {
      const why = welcome ? 'a batch is not empty' : 'a batch is not accepted here';
      return { text: encodeError(null, invalidRequest(why)), status: 400 };
    }
    const texts: string[] = [];
    let length = 0;
    for (const one of batch) {
      if (session.ended.aborted) return undefined;
      const isLate = length > MAX_BATCH_ANSWER && one.kind === 'request';
      const answer = isLate
        ? { text: encodeError(one.id, internalError(TOO_MUCH)), status: 200 }
        : await take(one, session, exchange);
      if (answer) texts.push(answer.text);
      length += answer?.text.length ?? 0;
      // Others get their turn between two messages, as they would if each had come alone.
      await new Promise((turn) => setTimeout(turn, 0));
    }
    return texts.length > 0 ? { text: `[${texts.join(',')}]`, status: 200 } : undefined;
  }

  function eraOf(message: Message, { claims }: Exchange): Era {
    const { method = '', params = {} } = 'method' in message ? message : {};
    const era = eras.find((one) => one.speaks(method, params, claims));
    if (!era) throw new Error('no era speaks to everyone');
    return era;
  }

  async function take(message: Message, session: Session, exchange: Exchange): Promise<Answer | undefined> {
    switch (message.kind) {
      case 'response':
        return undefined; // We ask clients nothing, so it answers nothing of ours.
      case 'invalid':
        return { text: encodeError(message.id, message.error), status: 400 };
      case 'notice':
        return hear(message, session, exchange);
      case 'request':
        return answer(message, session, exchange);
    }
  }

  function hear(notice: Notification, session: Session, exchange: Exchange): undefined {
    try {
      eraOf(notice, exchange).notices.get(notice.method)?.hear(notice.params, session);
    } catch (error) {
      onFault(notice.method, error); // Nobody waits for an answer, so nobody else would learn of it.
    }
  }

  async function answer(request: Request, session: Session, exchange: Exchange): Promise<Answer | undefined> {
    const { id, params } = request;
    const key = idKey(id);
    if (session.calls.has(key)) {
      return { text: encodeError(id, invalidRequest('this id is still in flight')), status: 400 };
    }
    const stop = new Running();
    const notify = (name: string, body: object) => {
      try {
        if (!stop.aborted) exchange.notify(encodeNotification(name, body), name === PROGRESS);
      } catch (error) {
        onFault(name, error); // Whoever reports progress has no use for our trouble with it.
      }
    };
    session.calls.set(key, stop);
    let status = 400;
    try {
      const era = eraOf(request, exchange);
      const peer = era.open(request, session, exchange.claims);
      status = era.unknownStatus;
      const method = era.methods.get(request.method);
      if (!method) throw methodNotFound(request.method);
      status = 200;
      const result = await method.run(params, {
        id,
        params,
        peer,
        session,
        stop,
        get signal() {
          return stop.signal;
        },
        notify,
      });
      return stop.aborted ? undefined : { text: encodeResult(id, era.seal(result, method)), status };
    } catch (error) {
      if (stop.aborted) return undefined;
      if (!(error instanceof RpcError)) onFault(request.method, error);
      const wire = eraOf(request, exchange).sealError(asRpcError(error));
      return { text: textOf(id, wire), status: wire instanceof EnvelopeError ? 400 : status };
    } finally {
      session.calls.delete(key);
    }
  }
}

// --- internal ---

const TOO_MUCH = `the answers to this batch are over ${MAX_BATCH_ANSWER} characters; send this request by itself`;

const PROGRESS = 'notifications/progress';

type Answer = Readonly<{ text: string; status: number }>;

function asRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  return internalError(error instanceof Error ? error.message : String(error));
}

/** The data of an error may be anything, also what cannot be written as JSON; its code and message always can. */
function textOf(id: Id, error: RpcError): string {
  try {
    return encodeError(id, error);
  } catch {
    return encodeError(id, { code: error.code, message: error.message });
  }
}
