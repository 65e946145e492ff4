/**
 * MCP clients on stdin and stdout, and over HTTP, that verify every answer. Of a server under load its CPU is measured.
 * All servers are asked in one revision of MCP, the newest that all of them speak.
 * On pipes the client must be the faster of the two: a server that waits for its client is woken for every request,
 * which costs as much as answering it and hides what servers differ in. So one answer is parsed and checked before, all
 * others must have its length, and what one piece brought is asked for again in one.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { makeDirectory, start, urlFrom } from '../programs.js';

const home = makeDirectory();
const VERSION = '2025-11-25';
const clientInfo = { name: 'bench', version: '1' };
const HELLO = { method: 'initialize', params: { protocolVersion: VERSION, capabilities: {}, clientInfo } };
const READY = { method: 'notifications/initialized' };
// All ids have seven digits, so that all answers to one request have one length.
const FIRST_ID = 1_000_000;

/** A server on stdin and stdout, for one `request` or one `load` at a time; `take(lines)` belongs to whoever waits. */
export function connect(args) {
  const child = start(process.execPath, args, home, 'pipe');
  const client = { child, log: '', nextId: FIRST_ID, take: () => {} };
  child.stderr.setEncoding('utf8').on('data', (text) => {
    client.log = (client.log + text).slice(-300);
  });
  client.gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended (${code}): ${client.log}`);
  });
  // Nobody waits for a server that is ended on purpose.
  client.gone.catch(() => {});
  child.stdin.on('error', () => {});
  eachPiece(child.stdout, (lines) => client.take(lines));
  client.load = (call, amount) => loadPipe(client, call, amount);
  client.request = (call) => request(client, call);
  client.initialize = async () => {
    const answer = await client.request(HELLO);
    child.stdin.write(encode(READY));
    return answer;
  };
  return client;
}

/** A server that prints its URL on stderr. */
export async function connectHttp(args) {
  const child = start(process.execPath, args, home);
  const url = await urlFrom(child);
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const post = (message) => fetch(url, { method: 'POST', headers, body: encode(message) });
  const session = (await post({ id: 0, ...HELLO })).headers.get('mcp-session-id');
  headers['mcp-protocol-version'] = VERSION;
  // Not every server has sessions.
  if (session) headers['mcp-session-id'] = session;
  await post(READY);
  const request = async (call) => {
    const text = await (await post({ id: FIRST_ID, ...call })).text();
    return { ...JSON.parse(/\{.*\}/.exec(text)[0]), length: text.length };
  };
  return { child, request, load: (call, amount) => loadHttp({ child, request }, call, amount) };
}

export function memoryMiB({ pid }) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

export async function end({ child }) {
  if (child.kill('SIGKILL')) await once(child, 'exit');
}

export const wrong = ({ method }, got) => new Error(`wrong answer to ${method}: ${JSON.stringify(got).slice(0, 300)}`);

// --- internal ---

const encode = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

/** The answer has its `length`, and when it `arrived`, taken before it is parsed: a long one takes time. */
async function request(client, call) {
  const id = client.nextId++;
  const answer = new Promise((done, fail) => {
    client.take = (lines) => {
      const arrived = performance.now();
      for (const line of lines) {
        const message = JSON.parse(Buffer.from(line, 'latin1').toString());
        if (message.id === id && message.result) done({ ...message, length: line.length, arrived });
        else if (message.id !== undefined) fail(wrong(call, message));
      }
    };
  });
  client.child.stdin.write(encode({ id, ...call }));
  return Promise.race([answer, client.gone]);
}

/** The server's CPU for each of `count` calls, `width` of them in flight, in microseconds. */
async function loadPipe(client, call, { count, width }) {
  const { length } = await request(client, call);
  let [sent, answered] = [0, 0];
  const send = (amount) => {
    sent += amount;
    client.child.stdin.write(Array.from({ length: amount }, () => encode({ id: client.nextId++, ...call })).join(''));
  };
  const finished = new Promise((done, fail) => {
    client.take = (lines) => {
      for (const line of lines) {
        if (line.length === length) answered++;
        else if (!line.includes('"method":"notifications/')) fail(wrong(call, line));
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

/** CPU time of all threads of a process so far. /proc/PID/stat would count in steps of 10 ms. */
function cpuMicros({ pid }) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return times.reduce((sum, time) => sum + Number(time) / 1000, 0);
}

/** Hands over the complete lines of each chunk, each character of a line being one byte. */
function eachPiece(stream, take) {
  let rest = '';
  stream.setEncoding('latin1').on('data', (text) => {
    rest += text;
    // An answer of many chunks is looked through once, when it is whole.
    if (!text.includes('\n')) return;
    const lines = rest.split('\n');
    rest = lines.pop();
    take(lines);
  });
}
