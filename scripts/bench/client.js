/**
 * MCP clients on stdin and stdout, and over HTTP, that verify every answer. Of a server under load its CPU is measured.
 * On pipes the client must be the faster of the two all the same: a server that waits for its client is woken for every
 * request, which costs as much as answering it and hides what servers differ in. So answers are compared there with one
 * that was parsed and checked before, byte by byte except for the id, and what one piece brought is asked for again in one.
 * Always true: when this process exits, however it does, no server that it started is alive.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [LEGACY, MODERN] = ['2025-11-25', '2026-07-28'];
const CLIENT = { name: 'bench', version: '1' };
const HELLO = { method: 'initialize', params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT } };
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': CLIENT,
};
// All ids have seven digits, so that all answers to one request have one length.
const FIRST_ID = 1_000_000;
// No phase keeps a server so long; one that hangs is killed, which ends whoever waits for it.
const LONGEST_MS = 600_000;
const alive = new Set();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** A server on stdin and stdout, for one `request` or one `load` at a time; `take(lines)` belongs to whoever waits. */
export function connect(args, home) {
  const child = start(args, home, 'pipe');
  const client = { child, log: '', nextId: FIRST_ID, take: () => {} };
  child.stderr.setEncoding('utf8').on('data', (text) => {
    client.log = (client.log + text).slice(-100_000);
  });
  client.gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended (${code}): ${client.log.slice(-300)}`);
  });
  client.gone.catch(() => {});
  eachPiece(child.stdout, (lines) => client.take(lines));
  client.load = (call, amount) => loadPipe(client, call, amount);
  client.request = (call) => request(client, call);
  client.initialize = async () => {
    const answer = await client.request(HELLO);
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return answer;
  };
  return client;
}

/** A server that prints its URL on stderr. Legacy ones have a session. */
export async function connectHttp(args, home, isLegacy) {
  const child = start(args, home, ['ignore', 'ignore', 'pipe']);
  const url = await urlFrom(child);
  const common = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const post = (headers, message) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return fetch(url, { method: 'POST', headers: { ...common, ...headers }, body });
  };
  let session;
  if (isLegacy) {
    const opened = await post({}, { id: 0, ...HELLO });
    session = { 'mcp-protocol-version': LEGACY, 'mcp-session-id': opened.headers.get('mcp-session-id') };
    await post(session, { method: 'notifications/initialized' });
  }
  const request = async ({ method, params }) => {
    const own = { 'mcp-protocol-version': MODERN, 'mcp-method': method, 'mcp-name': params.name };
    const message = { id: FIRST_ID, method, params: session ? params : { ...params, _meta: META } };
    const text = await (await post(session ?? own, message)).text();
    return { ...JSON.parse(/\{.*\}/.exec(text)[0]), length: text.length };
  };
  return { child, request, load: (call, amount) => loadHttp({ child, request }, call, amount) };
}

/** CPU time of all threads of a process so far. /proc/PID/stat would count in steps of 10 ms. */
export function cpuMicros({ pid }) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return times.reduce((sum, time) => sum + Number(time) / 1000, 0);
}

export function memoryMiB({ pid }) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

export async function end({ child }) {
  if (!alive.has(child)) return;
  const killer = setTimeout(() => child.kill('SIGKILL'), 3000);
  if (child.stdin) child.stdin.end();
  else child.kill('SIGTERM');
  await once(child, 'exit');
  clearTimeout(killer);
}

export const wrong = ({ method }, got) => new Error(`wrong answer to ${method}: ${JSON.stringify(got).slice(0, 300)}`);

// --- internal ---

/** The answer has its `bytes`, and when it `arrived`, taken before it is parsed: a long one takes time. */
async function request(client, call) {
  const id = client.nextId++;
  const answer = new Promise((done, fail) => {
    client.take = (lines) => {
      const arrived = performance.now();
      for (const bytes of lines) {
        const message = JSON.parse(bytes.toString());
        if (message.id === id && message.result) done({ ...message, bytes, arrived });
        else if (message.id !== undefined) fail(wrong(call, message));
      }
    };
  });
  client.child.stdin.write(encoder(call)(id));
  return Promise.race([answer, client.gone]);
}

/** The server's CPU for each of `count` calls, `width` of them in flight, in microseconds. */
async function loadPipe(client, call, { count, width }) {
  const idIn = idReader(await request(client, call));
  const encode = encoder(call);
  const open = new Set();
  let [sent, answered] = [0, 0];
  const send = (amount) => {
    const ids = Array.from({ length: amount }, () => client.nextId++);
    for (const id of ids) open.add(id);
    sent += amount;
    client.child.stdin.write(ids.map(encode).join(''));
  };
  const finished = new Promise((done, fail) => {
    client.take = (lines) => {
      for (const line of lines) {
        if (open.delete(idIn(line))) answered++;
        else if (!line.includes('"method":"notifications/')) fail(wrong(call, line.toString()));
      }
      if (answered === count) done();
      else if (sent < count) send(Math.min(answered + width, count) - sent);
    };
  });
  const before = cpuMicros(client.child);
  send(Math.min(width, count));
  await Promise.race([finished, client.gone]);
  return (cpuMicros(client.child) - before) / count;
}

/** Gives the id of an answer that has the same bytes around it as this one, and undefined for any other. */
function idReader({ id, bytes }) {
  const at = bytes.indexOf(`"id":${id}`) + '"id":'.length;
  const end = at + String(id).length;
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(end)];
  const isSame = (line) => line.length === bytes.length && !head.compare(line, 0, at) && !tail.compare(line, end);
  return (line) => (isSame(line) ? Number(line.latin1Slice(at, end)) : undefined);
}

function encoder({ method, params = {} }) {
  const rest = `,"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}\n`;
  return (id) => `{"jsonrpc":"2.0","id":${id}${rest}`;
}

async function loadHttp({ child, request }, call, { count, width }) {
  const { length } = await request(call);
  let left = count;
  const ask = async () => {
    while (left-- > 0) {
      const answer = await request(call);
      if (!answer.result || answer.length !== length) throw wrong(call, answer);
    }
  };
  const before = cpuMicros(child);
  await Promise.all(Array.from({ length: width }, ask));
  return (cpuMicros(child) - before) / count;
}

/**
 * PATH, HOME and LANG only: some variables of a developer's shell change what is measured. NODE_EXTRA_CA_CERTS alone
 * doubles the start of Node 20, for every server alike, and so hides their difference.
 */
function start(args, home, stdio) {
  const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' };
  const limit = { timeout: LONGEST_MS, killSignal: 'SIGKILL' };
  const child = spawn(process.execPath, args, { cwd: home, env, stdio, ...limit });
  alive.add(child);
  child.once('exit', () => alive.delete(child));
  child.stdin?.on('error', () => {});
  return child;
}

/** Hands over the complete lines of each chunk. An answer of many chunks is joined once, when it is whole. */
function eachPiece(stream, take) {
  let parts = [];
  stream.on('data', (chunk) => {
    const lines = [];
    let begin = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, begin)) {
      const piece = chunk.subarray(begin, at);
      lines.push(parts.length === 0 ? piece : Buffer.concat([...parts, piece]));
      parts = [];
      begin = at + 1;
    }
    if (begin < chunk.length) parts.push(chunk.subarray(begin));
    if (lines.length > 0) take(lines);
  });
}

async function urlFrom(child) {
  for await (const line of createInterface({ input: child.stderr })) {
    const [url] = /http:\/\/[\w.]+:\d+\/\w*/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stderr.resume();
    return url;
  }
  throw new Error('a server ended before it listened');
}
