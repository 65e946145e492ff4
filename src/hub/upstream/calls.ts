/**
 * A client's request on its way to an upstream server, whatever its method is.
 * Owns: which of its members the server gets, and what the client gets of the server's progress, log messages and errors.
 * Leaves alone: results (tools.ts, resources.ts, prompts.ts), waiting for the server (upstream.ts).
 */
import { messageOf } from '../../log.ts';
import {
  type Call,
  CODE,
  internalError,
  isId,
  type LogLevel,
  MCP_CODE,
  META,
  metaOf,
  type Params,
  RpcError,
} from '../../protocol/index.ts';
import type { ParamHeader } from '../connection/param-headers.ts';
import { MAX_PROGRESS_PER_SECOND } from './limits.ts';
import type { Upstream } from './upstream.ts';

/** All that is needed of a Call. Without `notify` nothing comes back before the result. */
export type ClientCall = Pick<Call, 'params'> & {
  readonly cancellation?: Call['cancellation'] | undefined;
  readonly peer?: Call['peer'];
  readonly notify?: Call['notify'];
};

/** `subject`: the params that say what is asked for. */
export async function passOn(
  upstream: Upstream,
  { params, cancellation, peer, notify }: ClientCall,
  method: string,
  subject: Params,
  paramHeaders?: readonly ParamHeader[],
): Promise<Params> {
  const logLevel = peer?.logLevel;
  const { progressToken } = metaOf(params);
  const progress =
    notify && isId(progressToken)
      ? limitProgress((report) => notify('notifications/progress', { ...report, progressToken }))
      : undefined;
  const onMessage = (raw: Params) => {
    const message = upstream.message(raw, logLevel);
    if (message) notify?.('notifications/message', message);
  };
  try {
    return await upstream.request(method, paramsFor(subject, params, logLevel), {
      timeout: upstream.config.timeout,
      signal: cancellation,
      onProgress: progress?.report,
      logLevel,
      onMessage: logLevel === undefined ? undefined : onMessage,
      paramHeaders,
    });
  } catch (error) {
    throw error instanceof RpcError ? errorFor(error) : error;
  } finally {
    progress?.finish();
  }
}

/** For `catch`: an error of the server as it is, any other with what could not be done. */
export const failed = (what: string) => (error: unknown) => {
  throw error instanceof RpcError ? error : internalError(`${what}: ${messageOf(error)}`);
};

/**
 * Of reports that come too fast the latest is sent at the start of the next second, or by `finish`, which must be called
 * when the call is over.
 */
export function limitProgress(send: (params: Params) => void) {
  let sent = 0;
  let waiting: Params | undefined;
  let second: NodeJS.Timeout | undefined;

  function report(params: Params): void {
    second ??= setTimeout(() => {
      const latest = waiting;
      [sent, waiting, second] = [0, undefined, undefined];
      if (latest) report(latest);
    }, 1000);
    if (sent === MAX_PROGRESS_PER_SECOND) waiting = params;
    else {
      sent += 1;
      send(params);
    }
  }

  function finish(): void {
    clearTimeout(second);
    if (waiting) send(waiting);
  }

  return { report, finish };
}

// --- internal ---

// Invalid JSON, invalid request, header mismatch, missing client capability, unsupported protocol version.
const CONNECTION_CODES: ReadonlySet<number> = new Set([CODE.parse, CODE.request, ...Object.values(MCP_CODE)]);

/** The params that the server gets. Most calls have nothing but their subject. */
function paramsFor(subject: Params, params: Params, logLevel: LogLevel | undefined): Params {
  const { inputResponses, requestState, _meta } = params;
  if ([inputResponses, requestState, _meta, logLevel].every((one) => one === undefined)) return subject;
  // Progress has a token per connection.
  const { progressToken: _token, ...meta } = metaOf(params);
  return { ...subject, inputResponses, requestState, _meta: { ...meta, [META.logLevel]: logLevel } };
}

/** An error of a server as our client gets it. A client takes the codes for a connection to be about its own with us. */
function errorFor(error: RpcError): RpcError {
  return CONNECTION_CODES.has(error.code) ? new RpcError(CODE.internal, error.message, error.data) : error;
}
