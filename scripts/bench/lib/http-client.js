/**
 * An MCP client over HTTP: raw sockets with keep-alive, one request after the other on each, every answer verified.
 * `node:http` as a client costs more than the servers that are measured, so requests are bytes made once, in which only
 * the id changes.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { endChild, reasonIn, startChild } from './processes.js';
import { templateOf, wrong } from './stdio-client.js';

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const FIRST_ID = 1_000_000;
const START_MS = 15_000;
const STALL_MS = 15_000;

/** Starts a server that prints its URL on stderr. */
export async function startHttpServer({ node, args, home }) {
  const child = startChild(node, args, { cwd: home, home, stdio: ['ignore', 'ignore', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  let log = '';
  try {
    for await (const line of createInterface({ input: child.stderr })) {
      log += `${line}\n`;
      const [url] = /http:\/\/[\w.]+:\d+\/\w*/.exec(line) ?? [];
      if (url === undefined) continue;
      child.stderr.on('data', () => {});
      child.stderr.resume();
      return { url: new URL(url), pid: child.pid, end: () => endChild(child) };
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error(`${basename(args[0])} ended before it listened: ${reasonIn(log)}`);
}

/** A request of either era as `{ url, body(id), headers }`. */
export const eras = {
  modern: async (url, call) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    };
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': call.method, 'mcp-name': call.params.name };
    return { url, headers, call: { ...call, params: { ...call.params, _meta } } };
  },
  legacy: async (url, call) => {
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
    const opened = await post(url, {}, { id: 0, method: 'initialize', params });
    const session = opened.headers.get('mcp-session-id');
    if (session === null) throw wrong('initialize', await opened.text());
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': LEGACY };
    await post(url, headers, { method: 'notifications/initialized' });
    return { url, headers, call };
  },
};

/** One request, its answer parsed, and the template that further answers must match. */
export async function probe(request) {
  const bodies = [];
  await runConnection(request, {
    nextId: () => (bodies.length === 0 ? FIRST_ID : undefined),
    accept: (body) => bodies.push(body),
  });
  const bytes = bodies[0];
  const message = JSON.parse(bytes.toString());
  if (message.id !== FIRST_ID) throw wrong(request.call.method, message);
  return { message, bytes, template: templateOf({ id: FIRST_ID, bytes }) };
}

/** Answers per second and wall microseconds of all connections together, for `milliseconds`. */
export async function loadHttp(request, template, { connections, milliseconds }) {
  let id = FIRST_ID;
  let answered = 0;
  const begin = performance.now();
  const run = () => {
    let current;
    return runConnection(request, {
      nextId() {
        current = performance.now() - begin < milliseconds ? ++id : undefined;
        return current;
      },
      accept(body) {
        if (template.idOf(body) !== current) throw wrong(request.call.method, body.subarray(0, 200).toString());
        answered += 1;
      },
    });
  };
  await Promise.all(Array.from({ length: connections }, run));
  return { answered, rate: (answered * 1000) / (performance.now() - begin) };
}

// --- internal ---

function post(url, headers, message) {
  const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return fetch(url, { method: 'POST', headers: { ...common, ...headers }, body });
}

/** Asks on one connection until `nextId` gives none. */
async function runConnection({ url, headers, call }, { nextId, accept }) {
  const bytes = encode(url, headers, call);
  const socket = connect(Number(url.port), url.hostname).setNoDelay(true);
  await once(socket, 'connect');
  let pending = [];
  try {
    await new Promise((done, fail) => {
      const ask = () => {
        const id = nextId();
        if (id === undefined) return done();
        socket.write(bytes(id));
      };
      socket.setTimeout(STALL_MS, () => fail(new Error(`no answer in ${STALL_MS / 1000} s`)));
      socket.on('error', fail).on('close', () => fail(new Error('the server closed the connection')));
      socket.on('data', (chunk) => {
        pending.push(chunk);
        try {
          const body = bodyOf(pending.length === 1 ? chunk : Buffer.concat(pending));
          if (body === undefined) return;
          pending = [];
          accept(body);
          ask();
        } catch (error) {
          fail(error);
        }
      });
      ask();
    });
  } finally {
    socket.removeAllListeners('close').destroy();
  }
}

/** The request as bytes, copied once per id: a socket may still hold the last one. */
function encode(url, headers, { method, params }) {
  const rest = `,"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`;
  const body = `{"jsonrpc":"2.0","id":${FIRST_ID}${rest}`;
  const lines = Object.entries({
    host: url.host,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n{"jsonrpc":"2.0","id":`;
  return (id) => head + id + rest;
}

/** The JSON in a whole response, or undefined while some of it is missing. Anything but 200 is an error. */
function bodyOf(response) {
  const end = response.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = response.latin1Slice(0, end).toLowerCase();
  if (!head.startsWith('http/1.1 200')) throw new Error(`HTTP answer: ${response.latin1Slice(0, 300)}`);
  const start = end + 4;
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  if (length !== undefined) {
    return response.length < start + Number(length) ? undefined : response.subarray(start, start + Number(length));
  }
  if (response.latin1Slice(response.length - 5) !== '0\r\n\r\n') return undefined;
  const body = joinChunks(response, start);
  if (!head.includes('text/event-stream')) return body;
  const at = body.indexOf('data: {');
  return body.subarray(at + 'data: '.length, body.indexOf(10, at));
}

function joinChunks(response, start) {
  const chunks = [];
  for (let at = start; ; ) {
    const lineEnd = response.indexOf('\r\n', at);
    const size = Number.parseInt(response.latin1Slice(at, lineEnd), 16);
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(response.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
