/**
 * Small upstream servers for the hub, and clients of them: a process that runs a script (`scriptTarget`), a web server in
 * this process that answers what a test wants (`startWeb`), and `connect`, which closes its client at the end.
 */
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { openClient } from '../../src/hub/client.ts';
import type { ActiveTarget } from '../../src/hub/entries.ts';

type Json = Readonly<Record<string, unknown>>;

// Some tests put another in its place.
const realTimeout = setTimeout;

/** Waits until `test` is true; for things without an event, such as the end of a process that is not our child. */
export async function eventually(test: () => boolean, what: string, patience = 10_000): Promise<void> {
  for (const start = performance.now(); !test(); await new Promise((turn) => realTimeout(turn, 5)))
    if (performance.now() - start > patience) throw new Error(`time ran out while waiting for ${what}`);
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** In its working directory, with nothing of its own environment. */
export const command = (name: string, args: readonly string[], env = {}) =>
  ({ kind: 'stdio', command: name, args, env, cwd: process.cwd() }) as const;

/**
 * A process that runs `onMessage` for each message, with `id`, `method`, `params`, and `send(message)`, `result(value)`,
 * `refuse(code)` to answer. `initialize` and `ping` are answered by themselves unless `onMessage` returns true.
 */
export function scriptTarget(onMessage: string, atStart = '') {
  const script = `
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    ${atStart}
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const result = (value) => send({ id, result: value });
      const refuse = (code) => send({ id, error: { code, message: 'refused', data: { why: method } } });
      const isDone = (() => { ${onMessage} })();
      if (isDone || id === undefined || method === undefined) return;
      if (method === 'ping') result({});
      else if (method !== 'initialize') refuse(-32601);
      else result({ protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'script', version: '1' } });
    });`;
  return command(process.execPath, ['-e', script]);
}

export const contextWith = (more = {}) => ({
  env: process.env,
  identity: { name: 'test', version: '1' },
  hops: 1,
  log: () => {},
  ...more,
});

export async function connect(t: TestContext, target: ActiveTarget) {
  const client = await openClient(target, contextWith());
  t.after(() => client.close());
  return client;
}

export interface WebExchange {
  readonly verb: string;
  readonly path: string;
  /** Empty for GET, DELETE and responses. */
  readonly method: string;
  readonly id: unknown;
  readonly body: Json;
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
  /** One JSON body. */
  json(status: number, message: object, headers?: Readonly<Record<string, string>>): true;
  /** One event; the first opens the stream. */
  event(message: object | string, id?: string): true;
}

/** True for an exchange that it answers itself. */
export type About = (exchange: WebExchange) => boolean | undefined | Promise<boolean | undefined>;

/** What `about` does not answer is answered as by a legacy server with sessions. `exchanges`: all, in their order. */
export async function startWeb(t: TestContext, about: About) {
  const exchanges: WebExchange[] = [];
  let sessions = 0;
  const url = await listen(t, async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const body: Json = text === '' ? {} : JSON.parse(text);
    const { id, method = '' } = body;
    const json = (status: number, message: object, headers = {}): true => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
      return true;
    };
    const event = (message: object | string, mark?: string): true => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      const data = typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message });
      response.write(`${mark === undefined ? '' : `id: ${mark}\n`}${data === message ? data : `data: ${data}\n\n`}`);
      return true;
    };
    const { method: verb = '', url: path = '', headers } = request;
    const exchange = { verb, path, method: String(method), id, body, headers, response, json, event };
    exchanges.push(exchange);
    if (await about(exchange)) return;
    const result = RESULTS[String(method)];
    if (id === undefined || method === '') response.writeHead(verb === 'GET' ? 405 : 202).end();
    else if (result === undefined) json(200, { id, error: { code: -32601, message: `unknown ${method}` } });
    else json(200, { id, result }, method === 'initialize' ? { 'mcp-session-id': `session-${++sessions}` } : {});
  });
  return { url, exchanges, count: (name: string) => exchanges.filter(({ method }) => method === name).length };
}

/** Any handler on a port of its own. */
export async function listen(t: TestContext, handler: RequestListener): Promise<URL> {
  const server = createServer(handler);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
}

export const DONE = { content: [{ type: 'text', text: 'done' }] };
const LEGACY = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'web', version: '1' },
};
/** What a server in this process answers by itself. It has the tool `one`. */
const RESULTS: Readonly<Record<string, object>> = {
  initialize: LEGACY,
  ping: {},
  'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
  'tools/call': DONE,
};

export const httpTarget = ({ href: url }: URL, headers = {}, fallback = false) =>
  ({ kind: 'http', url, headers, fallback }) as const;

/** The older transport for `startWeb`: it answers by the stream. `accept` responds to a POST. */
export function sseServer(
  endpoint: string,
  accept = ({ response }: WebExchange) => void response.writeHead(202).end(),
) {
  let stream: WebExchange | undefined;
  const about = (exchange: WebExchange): boolean => {
    const { verb, id, method } = exchange;
    if (verb === 'GET') stream = exchange;
    if (verb === 'GET') return exchange.event(`event: endpoint\ndata: ${endpoint}\n\n`);
    accept(exchange);
    if (id !== undefined && method !== '') stream?.event({ id, result: RESULTS[method] ?? DONE });
    return true;
  };
  return { about, stream: () => stream };
}
