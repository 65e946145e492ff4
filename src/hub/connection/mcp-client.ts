/**
 * An MCP client of one configured server.
 * Owns: the choice of the transport, and requests in the dialect of the server. Leaves alone: what a dialect is
 * (dialects.ts), which one the server speaks (handshake.ts), when to try again and what to request (upstream/).
 * Always true: a client that could not be opened leaves no process, socket or timer behind.
 */
import { HOPS_HEADER } from '../../hops.ts';
import { CODE, HEADERS, isLogged, isObject, type LogLevel, type Params, RpcError } from '../../protocol/index.ts';
import { backgroundDelay } from '../../wait.ts';
import type { UpstreamConfig } from '../config/entries.ts';
import {
  type Connection,
  type ConnectionEvents,
  type HeaderFields,
  HttpError,
  type HubContext,
  UpstreamError,
} from './connection.ts';
import type { DialectName } from './dialects.ts';
import { type Negotiated, rpcErrorIn, shakeHands } from './handshake.ts';
import { LATE_MS, LOG_LEVEL_MS } from './limits.ts';
import { type ParamHeader, paramHeaders } from './param-headers.ts';
import type { RequestOptions } from './pending.ts';
import { RpcClient, type Sending } from './rpc-client.ts';
import { openStdioConnection } from './stdio.ts';

/**
 * The dialect of a server, so that the next client need not find it out again. `sse`: it is configured as HTTP, but has
 * only the older HTTP+SSE transport, with the legacy dialect.
 */
export type Spoken = DialectName | 'sse';

export interface McpRequestOptions extends RequestOptions {
  /** The arguments of a tool call that are repeated in headers. */
  readonly paramHeaders?: readonly ParamHeader[] | undefined;
  /** The level from which on `onMessage` gets log messages. */
  readonly logLevel?: LogLevel | undefined;
}

export type McpClient = ReturnType<typeof createMcpClient>;

/** `known`: what the server spoke last time. `life` ends the client. */
export async function openMcpClient(
  config: UpstreamConfig,
  context: HubContext,
  known: Spoken | undefined,
  life: AbortSignal,
): Promise<McpClient> {
  const { target, connectTimeout } = config;
  const usesSse = target.kind === 'sse' || known === 'sse';
  let version = {};
  const headers = () => ({ [HOPS_HEADER]: String(context.hops.next()), ...version });
  const rpc = new RpcClient(await openerFor(target, usesSse, context, headers), context.debug);
  const end = () => rpc.end(life.reason);
  life.addEventListener('abort', end, { signal: rpc.ended });
  if (life.aborted) end();
  try {
    const handshake = await shakeHands(rpc, context.client, connectTimeout, known === 'legacy' || usesSse);
    const { dialect } = handshake;
    version = { [HEADERS.version]: dialect.version };
    // Over HTTP the next request has a connection of its own, and servers refuse one that comes before this.
    if (dialect.confirmation !== undefined) await rpc.notify(dialect.confirmation);
    return createMcpClient(rpc, handshake, usesSse ? 'sse' : dialect.name);
  } catch (caught) {
    // The end of a connection already comes with what was printed before it.
    const printed = rpc.ended.aborted ? '' : (rpc.connection.printed?.() ?? '');
    const isOurs = caught instanceof UpstreamError && printed !== '';
    const error = isOurs ? new UpstreamError(caught.message + printed) : caught;
    await rpc.close();
    // The statuses by which an older server shows that it has no streamable HTTP.
    const isOlder = error instanceof HttpError && [400, 404, 405].includes(error.status);
    if (target.kind !== 'http' || usesSse || !isOlder) throw error;
    return openMcpClient(config, context, 'sse', life).catch(() => {
      throw error; // The address was meant for streamable HTTP, so its error is the useful one.
    });
  }
}

// --- internal ---

const NOTIFYING: Sending = { notifyOnCancel: true };

type Open = (events: ConnectionEvents) => Connection;

/** What HTTP needs is loaded when a server uses it: most are processes, and should not wait for it. */
async function openerFor(
  target: UpstreamConfig['target'],
  usesSse: boolean,
  context: HubContext,
  headers: () => HeaderFields,
): Promise<Open> {
  if (target.kind === 'stdio') return (events) => openStdioConnection(target, events, context);
  if (target.kind === 'none') throw new Error('a server that is not started has no connection');
  if (usesSse) {
    const { openSseConnection } = await import('./sse.ts');
    return (events) => openSseConnection(target, events, headers);
  }
  const { HttpConnection } = await import('./http.ts');
  return (events) => new HttpConnection(target, events, headers);
}

function createMcpClient(rpc: RpcClient, { dialect, server, capabilities }: Negotiated, spoken: Spoken) {
  /** Whether requests repeat in headers their method, name and annotated arguments (see param-headers.ts). */
  const usesHeaders = dialect.usesStreams && rpc.connection.streamPerRequest;
  /** The most verbose level that the server was asked for. */
  let admitted: LogLevel | undefined;

  function send(method: string, params: Params, options: McpRequestOptions) {
    const sending = usesHeaders ? { headers: headersOf(method, params, options), notifyOnCancel: false } : NOTIFYING;
    return rpc.request(method, dialect.seal(params), options, sending);
  }

  function headersOf(method: string, params: Params, { paramHeaders: mirrored = [] }: McpRequestOptions) {
    const args = isObject(params.arguments) ? params.arguments : {};
    return { ...dialect.headers(method, params), ...paramHeaders(mirrored, args) };
  }

  /** Rejects with the server's RpcError where there is one. */
  async function request(method: string, params: Params, options: McpRequestOptions): Promise<Params> {
    try {
      if (options.logLevel !== undefined) await admitLogs(options.logLevel);
      return dialect.unseal(await send(method, params, options));
    } catch (error) {
      throw rpcErrorIn(error) ?? error;
    }
  }

  /** Lets a server that has one log level for all requests send messages of this level too. */
  async function admitLogs(level: LogLevel): Promise<void> {
    if (dialect.logLevelMethod === undefined || !capabilities.has('logging') || isLogged(level, admitted)) return;
    const before = admitted;
    admitted = level;
    // One that is late still takes effect. A server that refuses sends the messages that it likes.
    const set = request(dialect.logLevelMethod, { level }, { timeout: LATE_MS }).catch((error: unknown) => {
      if (!(error instanceof RpcError)) admitted = before;
    });
    await Promise.race([set, backgroundDelay(LOG_LEVEL_MS)]);
  }

  /** Rejects when the server does not respond. An error response is a response. */
  async function ping(timeout: number): Promise<void> {
    await send(dialect.pingMethod, {}, { timeout }).catch((error: unknown) => {
      if (error instanceof RpcError) return;
      // An HTTP error may come from a proxy, unless it shows that the request was read or that the server counts requests.
      const isHttp = error instanceof HttpError;
      if (!isHttp || (error.status !== 429 && error.body.rpc?.code !== CODE.method)) throw error;
    });
  }

  const { version } = dialect;
  const listening = createListening(rpc, { dialect, capabilities }, request);
  return { rpc, spoken, version, server, capabilities, usesHeaders, request, admitLogs, ping, ...listening };
}

type Request = (method: string, params: Params, options: RequestOptions) => Promise<Params>;

/** Both listen functions settle as `Connection.listen` does. A server that refuses has no notifications to send. */
function createListening(rpc: RpcClient, negotiated: Omit<Negotiated, 'server'>, request: Request) {
  const { dialect, capabilities } = negotiated;
  const { listenMethod } = dialect;
  /** Asks for these notifications by a request of their own, where the dialect has one. */
  const listenTo =
    listenMethod === undefined
      ? undefined
      : (notifications: Params, options: RequestOptions = {}): Promise<boolean> =>
          request(listenMethod, { notifications }, options).then(
            () => Promise.reject(new UpstreamError('the server ended the subscription')),
            (error) => (error instanceof RpcError ? false : Promise.reject(error)),
          );

  const topicOf = (list: string) => `${list}ListChanged`;
  /** The lists whose changes the server announces, as far as is known. */
  let announced = ['tools', 'resources', 'prompts'].filter((list) => capabilities.has(`${list}.listChanged`));

  /** Asks for changes of lists; from a legacy server, for everything that it sends by itself. */
  async function listen(opened: () => void): Promise<boolean> {
    const hasStream = announced.length > 0 || capabilities.has('logging') || capabilities.has('resources.subscribe');
    // Without such a function the notifications come with the responses.
    if (!listenTo && !rpc.connection.listen) return false;
    const goesOn = listenTo ? listenToLists(opened) : hasStream && rpc.connection.listen?.(opened);
    if (await goesOn) return true;
    announced = [];
    return false;
  }

  async function listenToLists(opened: () => void): Promise<boolean> {
    if (!listenTo || announced.length === 0) return false;
    const onAcknowledged = (accepted: unknown) => {
      announced = announced.filter((list) => isObject(accepted) && accepted[topicOf(list)] === true);
      opened();
    };
    return listenTo(Object.fromEntries(announced.map((list) => [topicOf(list), true])), { onAcknowledged });
  }

  return { listen, listenTo, announces: (list: string) => announced.includes(list) };
}
