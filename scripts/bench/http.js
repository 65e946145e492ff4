/**
 * `tools/call` over HTTP with keep-alive: this server beside a server on each generation of the official SDK, doing the
 * same, and beside bare `node:http` answering a constant of the same size. Side by side in one run, taking turns, since
 * the machine is never the same twice.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const PROGRAM = join(dirname(dirname(here)), 'dist', 'bin', 'skillwire.cjs');
const CONNECTIONS = 16;
const ROUNDS = 5;
const ROUND_MS = 1500;
const WARM_MS = 1500;

/** What every server answers with: about as much as a small skill. */
export const TEXT = `# Say hello\n\n${'Be brief, be kind, and say it in their language.\n'.repeat(20)}`;
const SKILL = `---\nname: hello\ndescription: Greets people\n---\n${TEXT}`;

/** Lines for people, one per measurement. */
export async function benchHttp(say) {
  const tree = mkdtempSync(join(tmpdir(), 'skillwire-bench-'));
  mkdirSync(join(tree, 'skills', 'hello'), { recursive: true });
  writeFileSync(join(tree, 'skills', 'hello', 'SKILL.md'), SKILL);
  const children = [];
  const start = (...args) => startServer(children, tree, args);
  try {
    const program = await start(PROGRAM, '--transport', 'http', '--port', '0');
    const runs = [
      { name: 'skillwire, modern', requests: modernRequest(program) },
      { name: 'skillwire, in a session', requests: await sessionRequest(program) },
      { name: 'SDK v2, modern', requests: modernRequest(await start(join(here, 'servers', 'sdk-v2.js'))) },
      { name: 'SDK v1, in a session', requests: await sessionRequest(await start(join(here, 'servers', 'sdk-v1.js'))) },
      { name: 'bare node:http', requests: modernRequest(await start(join(here, 'servers', 'bare.js'))) },
    ].map((run) => ({ ...run, rates: [] }));
    for (const { requests } of runs) await load(requests, WARM_MS);
    for (let round = 0; round < ROUNDS; round++) {
      for (const { requests, rates } of runs) rates.push(await load(requests, ROUND_MS));
    }
    report(
      runs.map(({ name, rates }) => ({ name, rate: median(rates) })),
      say,
    );
  } finally {
    for (const child of children) child.kill();
    rmSync(tree, { recursive: true, force: true });
  }
}

function report(rates, say) {
  const of = (part) => Math.max(...rates.filter(({ name }) => name.includes(part)).map(({ rate }) => rate));
  for (const { name, rate } of rates) say(`${name.padEnd(24)} ${Math.round(rate)} tools/call per second`);
  const worst = Math.min(...rates.filter(({ name }) => name.startsWith('skillwire')).map(({ rate }) => rate));
  say(`the slower way here is ${(worst / of('SDK')).toFixed(1)}x the faster SDK (wanted: at least 3x)`);
  say(`and ${Math.round((100 * worst) / of('bare'))} % of what node:http alone can do`);
}

/** Starts a server that prints its URL. */
async function startServer(children, cwd, args) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stderr })) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stderr.resume();
    return new URL(url);
  }
  throw new Error(`${args[0]} ended before it listened`);
}

const CALL = { name: 'skill', arguments: { name: 'hello' } };

function modernRequest(url) {
  const version = '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  };
  const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'skill' };
  return requestTo(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...CALL, _meta } }, headers);
}

async function sessionRequest(url) {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const opened = await fetch(url, { method: 'POST', headers, body });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id'), 'mcp-protocol-version': '2025-11-25' };
  const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await (await fetch(url, { method: 'POST', headers: { ...headers, ...session }, body: initialized })).text();
  // A session refuses an id that is in flight, so every connection has its own.
  return requestTo(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: CALL }, session);
}

/** One request per connection, as bytes. */
function requestTo(url, message, headers) {
  const texts = Array.from({ length: CONNECTIONS }, (_, at) => {
    const body = JSON.stringify({ ...message, id: at + 10 });
    const lines = Object.entries({
      host: url.host,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  });
  return { port: Number(url.port), texts };
}

/** Answers per second, every connection asking again as soon as it has been answered. */
async function load({ port, texts }, milliseconds) {
  const control = { stop: false };
  const begin = performance.now();
  const all = Promise.all(texts.map((text) => keepAsking(port, text, control)));
  setTimeout(() => {
    control.stop = true;
  }, milliseconds);
  const counts = await all;
  return (counts.reduce((sum, count) => sum + count, 0) * 1000) / (performance.now() - begin);
}

async function keepAsking(port, text, control) {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  let count = 0;
  let pending = '';
  await new Promise((done, fail) => {
    socket.on('error', fail);
    socket.on('close', () => fail(new Error(`the server hung up: ${pending.slice(0, 500)}`)));
    socket.setEncoding('latin1').on('data', (chunk) => {
      pending += chunk;
      if (!isWhole(pending)) return;
      if (!pending.startsWith('HTTP/1.1 200')) return fail(new Error(pending.slice(0, 500)));
      pending = '';
      count++;
      if (control.stop) done();
      else socket.write(text);
    });
    socket.write(text);
  });
  socket.removeAllListeners('close').destroy();
  return count;
}

function isWhole(answer) {
  const end = answer.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1];
  return length === undefined ? answer.endsWith('0\r\n\r\n') : answer.length >= end + 4 + Number(length);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
