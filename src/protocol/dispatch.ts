/**
 * The way of one message: decode, find the era that speaks it, run the method, seal, encode.
 * Owns: that every call gets exactly one reply (none if cancelled) and a notice never gets one.
 * Leaves alone: bytes and status lines (transports), what the methods do, who the peer is (eras.ts).
 */
import type { Claims, Era } from './eras.ts';
import { EnvelopeError, internalError, invalidRequest, methodNotFound, RpcError } from './errors.ts';
import { Running, type Session } from './session.ts';
import {
  type Decoded,
  decode,
  encodeError,
  encodeNotice,
  encodeResult,
  idKey,
  type Message,
  type Notice,
  type Request,
} from './wire.ts';

/** Where the answer to one incoming text goes. */
export interface Exchange {
  /** Called at most once. `status` is what HTTP would say of it. */
  reply(text: string, status: number): void;
  /** A notice about the text being answered, before its reply. */
  notify(text: string): void;
  readonly claims?: Claims;
}

/**
 * Settles when all that the text asked for is done and answered; never rejects.
 * Takes it decoded as well, from a carrier that had to look inside to find the session.
 */
export type Handle = (session: Session, incoming: string | Decoded, exchange: Exchange) => Promise<void>;

/** Told of every failure that is our fault, with the method it happened in. */
export type FaultListener = (method: string, error: unknown) => void;

export function createHandle(eras: readonly Era[], onFault: FaultListener): Handle {
  return async (session, incoming, exchange) => {
    const decoded = typeof incoming === 'string' ? decode(incoming) : incoming;
    if (!Array.isArray(decoded)) {
      const answer = await take(decoded, session, exchange);
      if (answer) exchange.reply(answer.text, answer.status);
      return;
    }
    const welcome = decoded.every((one) => eraOf(one, exchange).takesBatches(session));
    if (decoded.length === 0 || !welcome) {
      const why = welcome ? 'a batch is not empty' : 'a batch is not accepted here';
      exchange.reply(encodeError(null, invalidRequest(why)), 400);
      return;
    }
    const answers = await Promise.all(decoded.map((one) => take(one, session, exchange)));
    const texts = answers.flatMap((answer) => (answer ? [answer.text] : []));
    if (texts.length > 0) exchange.reply(`[${texts.join(',')}]`, 200);
  };

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

  function hear(notice: Notice, session: Session, exchange: Exchange): undefined {
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
      if (!stop.aborted) exchange.notify(encodeNotice(name, body));
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
      const wire = asRpcError(error);
      return { text: encodeError(id, wire), status: wire instanceof EnvelopeError ? 400 : status };
    } finally {
      session.calls.delete(key);
    }
  }
}

// --- internal ---

type Answer = Readonly<{ text: string; status: number }>;

function asRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  return internalError(error instanceof Error ? error.message : String(error));
}
