/**
 * Requests and their answers over one wire.
 * Owns: ids, time limits, progress, cancelling. Leaves alone: bytes (wires), what is asked (dialects.ts, upstream.ts).
 * Always true:
 * - every request settles exactly once: with its answer, its time limit, its cancelling, or the end of the wire;
 * - an answer that nobody waits for is dropped, whatever its id;
 * - what the server asks of us is answered at once: we have nothing to offer it but a sign of life.
 */
import { messageOf } from '../../log.ts';
import {
  decode,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
  type Id,
  idKey,
  isObject,
  type Message,
  methodNotFound,
  type Params,
  type Response,
  RpcError,
} from '../../protocol/index.ts';
import { type Connection, type ConnectionEvents, type HeaderFields, UpstreamError } from './connection.ts';

export interface RequestOptions {
  /** Milliseconds without a sign of the answer before we give up; progress starts them anew. None: for ever. */
  readonly timeout?: number;
  /** Fires when the answer is no longer wanted. */
  readonly signal?: AbortSignal;
  /** Asks the server to report progress. */
  readonly onProgress?: (params: Params) => void;
  readonly headers?: HeaderFields;
  /** Begins a session (see wire.ts). */
  readonly opens?: boolean;
  /** Closing the stream of the answer is how this server is told to stop; otherwise it is told in words. */
  readonly closingCancels?: boolean;
}

export interface RpcClient {
  readonly connection: Connection;
  request(method: string, params: Params, options: RequestOptions): Promise<Params>;
  notify(method: string, params: Params | undefined, headers: HeaderFields): void;
  /** From now on every message has these headers, besides its own. */
  setEnvelope(headers: HeaderFields): void;
  /** Fires when nothing comes or goes any more; the reason is an Error. */
  readonly ended: AbortSignal;
  /** When something last came in, as `performance.now()` has it. */
  lastHeard(): number;
  /** What still waits for an answer fails with `reason`. */
  close(reason?: Error): Promise<void>;
}

export interface RpcListener {
  notice(method: string, params: Params): void;
  /** What the server says unasked was not heard for a while. */
  missed(): void;
  debug(text: string): void;
}

export function createRpcClient(open: (events: ConnectionEvents) => Connection, listener: RpcListener): RpcClient {
  const waiting = new Map<string, Waiting>();
  const end = new AbortController();
  let envelope: HeaderFields = {};
  let heard = performance.now();
  let nextId = 1;
  let strange = 0;
  let inARow = 0;

  function failAll(error: Error): void {
    for (const one of [...waiting.values()]) one.fail(error);
  }

  function finish(error: Error): void {
    end.abort(error);
    failAll(error);
  }

  function take(message: Message): void {
    if (message.kind !== 'invalid') inARow = 0;
    switch (message.kind) {
      case 'response':
        answer(message);
        break;
      case 'notification':
        (message.method === PROGRESS ? progress : listener.notice)(message.method, message.params);
        break;
      case 'request': {
        const { id, method } = message;
        const text = method === 'ping' ? encodeResult(id, '{}') : encodeError(id, methodNotFound(method));
        connection.send({ text, isReply: true, repeatable: true, headers: envelope });
        break;
      }
      case 'invalid':
        if (message.id !== null) waiting.get(idKey(message.id))?.fail(new UpstreamError('its answer is no answer'));
        stumble();
    }
  }

  /** Something came that is no message. What it says is not repeated: half a secret is no longer found. */
  function stumble(): void {
    strange += 1;
    inARow += 1;
    if (strange <= MOST_REPORTED) listener.debug('sent something that is no message');
    if (inARow > MOST_STRANGE) finish(new UpstreamError('it says nothing but what is no message'));
  }

  function answer({ id, outcome }: Response): void {
    const one = id === null ? undefined : waiting.get(idKey(id));
    if (!one || id === null) listener.debug('an answer came that nobody waits for');
    else {
      connection.done(id);
      if ('error' in outcome) one.fail(new RpcError(outcome.error.code, outcome.error.message, outcome.error.data));
      else if (isObject(outcome.result)) one.succeed(outcome.result);
      else one.fail(new UpstreamError(`the answer to ${one.method} is not an object`));
    }
  }

  function progress(_method: string, params: Params): void {
    const { progressToken: token } = params;
    const one = typeof token === 'number' ? waiting.get(idKey(token)) : undefined;
    try {
      one?.progress(params);
    } catch (error) {
      one?.fail(new UpstreamError(`its progress could not be passed on: ${messageOf(error)}`));
    }
  }

  /** What one message does wrong stays with it: an error here would end the process. */
  function takeSafely(message: Message): void {
    if (end.signal.aborted) return;
    try {
      take(message);
    } catch (error) {
      listener.debug(`a message could not be taken: ${messageOf(error)}`);
    }
  }

  const connection = open({
    text(text) {
      heard = performance.now();
      // Many servers print for people where their messages should be, and to try to read that takes long.
      if (!MESSAGE_START.test(text)) return stumble();
      const decoded = decode(text);
      if (Array.isArray(decoded)) for (const one of decoded) takeSafely(one);
      else takeSafely(decoded);
    },
    undelivered: (id, error) => waiting.get(idKey(id))?.fail(error),
    lost: failAll,
    missed: listener.missed,
    closed: finish,
    debug: listener.debug,
  });

  function request(method: string, params: Params, options: RequestOptions): Promise<Params> {
    const { signal, timeout, onProgress, headers = {}, opens = false, closingCancels = false } = options;
    if (end.signal.aborted) return Promise.reject(end.signal.reason);
    if (signal?.aborted) return Promise.reject(new UpstreamError('cancelled'));
    const id = nextId++;
    const body = onProgress ? { ...params, _meta: { ...metaOf(params), progressToken: id } } : params;
    return new Promise((resolve, reject) => {
      // First of all: what cannot be written throws here, and has left nothing behind.
      const text = encodeRequest(id, method, body);
      let timer: NodeJS.Timeout | undefined;
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        waiting.delete(idKey(id));
      };
      const fail = (error: Error) => {
        settle();
        reject(error);
      };
      const giveUp = (why: string, error: Error) => {
        if (!(closingCancels && connection.ownStreams)) tellCancelled(id, why, headers);
        connection.drop(id);
        fail(error);
      };
      const onAbort = () => giveUp('the client cancelled', new UpstreamError('cancelled'));
      const watch = () => {
        clearTimeout(timer);
        if (timeout === undefined) return;
        const late = () => new UpstreamError(`no answer to ${method} within ${timeout} ms`);
        timer = setTimeout(() => giveUp('timed out', late()), timeout);
      };
      waiting.set(idKey(id), {
        method,
        fail,
        succeed(result) {
          settle();
          resolve(result);
        },
        progress(report) {
          watch();
          onProgress?.(report);
        },
      });
      signal?.addEventListener('abort', onAbort);
      watch();
      connection.send({ text, id, opens, repeatable: REPEATABLE.has(method), headers: { ...envelope, ...headers } });
    });
  }

  function notify(method: string, params: Params | undefined, headers: HeaderFields): void {
    const all = { ...envelope, ...headers };
    if (!end.signal.aborted)
      connection.send({ text: encodeNotification(method, params), repeatable: true, headers: all });
  }

  function tellCancelled(requestId: Id, reason: string, headers: HeaderFields): void {
    notify('notifications/cancelled', { requestId, reason }, headers);
  }

  return {
    connection,
    request,
    notify,
    setEnvelope(headers) {
      envelope = headers;
    },
    ended: end.signal,
    lastHeard: () => heard,
    close(reason = new UpstreamError('the connection was closed')) {
      finish(reason);
      return connection.close();
    },
  };
}

export function metaOf({ _meta }: Params): Params {
  return isObject(_meta) ? _meta : {};
}

// --- internal ---

const PROGRESS = 'notifications/progress';
/** Requests that only look. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/read',
  'skills/list',
]);
// A server that prints its log on stdout does so all day; a few lines show what is going on.
const MOST_REPORTED = 5;
// But one that never says anything else is no server.
const MOST_STRANGE = 100_000;
const MESSAGE_START = /^\s*[[{]/;

interface Waiting {
  readonly method: string;
  succeed(result: Params): void;
  fail(error: Error): void;
  progress(params: Params): void;
}
