/**
 * An MCP client on stdin and stdout that does as little as a client can, and verifies every answer.
 * Under load it compares bytes with an answer that was parsed and checked before: only the id may differ. Parsing each
 * answer would make this process, not the server, the slower of the two.
 */
import { cpuMicros, endChild, reasonIn, startChild } from './processes.js';

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
// All ids have seven digits, so that all answers to one request have one length.
const FIRST_ID = 1_000_000;
const PATIENCE_MS = 60_000;

/** Starts a server. Nothing is sent yet. */
export function connect({ node, args, cwd, home }) {
  const child = startChild(node, args, { cwd, home });
  const listeners = { line: undefined, notification: () => {}, gone: undefined, batchEnd: () => {} };
  let log = '';
  let nextId = FIRST_ID;
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log = (log + text).slice(-1_000_000);
  });
  const gone = new Promise((_, fail) => {
    child.once('exit', (code, signal) => fail(new Error(`the server ended (${code ?? signal}): ${reasonIn(log)}`)));
  });
  gone.catch(() => {});
  splitLines(child.stdout, listeners);
  const client = {
    pid: child.pid,
    child,
    gone,
    listeners,
    takeId: () => nextId++,
    write: (text) => child.stdin.write(text),
    log: () => log,
    cpu: () => cpuMicros(child.pid),
    notify: (method) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method })}\n`),
    onNotification(listener) {
      listeners.notification = listener;
    },
    request: (method, params) => request(client, { method, params }),
    end: () => endChild(child),
  };
  return client;
}

/** The handshake of the legacy era. */
export async function initialize(client) {
  const answer = await client.request('initialize', HELLO);
  const { result } = answer;
  if (typeof result?.serverInfo?.name !== 'string' && typeof result?.x !== 'string') throw wrong('initialize', result);
  client.notify('notifications/initialized');
  return answer;
}

/**
 * Sends one request and parses its answer. The answer also carries its `bytes`, when it `arrived` and the server's `cpu`
 * until then, taken before the parsing, which for a long list takes as long as much else that is measured.
 */
export async function request(client, call) {
  const id = client.takeId();
  const answer = new Promise((done, fail) => {
    client.listeners.line = (bytes) => {
      const arrived = performance.now();
      const cpu = client.cpu();
      const message = parse(bytes);
      if (message === undefined) return fail(wrong(call.method, bytes.subarray(0, 200).toString()));
      if (message.id === undefined) return client.listeners.notification(message);
      if (message.id !== id) return fail(wrong(call.method, `an answer to ${message.id} instead of ${id}`));
      done({ ...message, id, bytes, arrived, cpu });
    };
  });
  client.write(encode(call)(id));
  return withDeadline(client, answer, call.method);
}

/**
 * How many requests are in flight at once, in how many rounds. Many short ones: the speed of a machine changes within
 * seconds, and within a round all servers should have the same.
 */
export const WIDTHS = [
  { width: 1, label: 'serial', count: 500, rounds: 40 },
  { width: 64, label: '64 in flight', count: 2500, rounds: 80 },
];

/** V8 optimizes the code of a server while it runs, up to so many requests; what is measured is the state after that. */
export const WARM_UP = 40_000;

/**
 * Keeps `width` requests in flight until `count` have been answered.
 * Gives wall time and server CPU per request, in microseconds; one at a time, also how long each took.
 */
export async function load(client, call, template, { count, width }) {
  const text = encode(call);
  const outstanding = new Set();
  const send = (amount) => {
    let lines = '';
    for (let at = 0; at < amount; at++) {
      const id = client.takeId();
      outstanding.add(id);
      lines += text(id);
    }
    begun = performance.now();
    client.write(lines);
  };
  const times = [];
  let begun = 0;
  let answered = 0;
  let sent = Math.min(width, count);
  const finished = new Promise((done, fail) => {
    client.listeners.line = (bytes) => {
      if (bytes.includes('"method":"notifications/') && !bytes.includes('"result"')) return;
      if (outstanding.delete(template.idOf(bytes))) answered += 1;
      else fail(wrong(call.method, bytes.subarray(0, 200).toString()));
    };
    client.listeners.batchEnd = () => {
      if (width === 1 && times.length < answered) times.push((performance.now() - begun) * 1000);
      if (answered === count) return done();
      const more = Math.min(answered + width, count) - sent;
      if (more <= 0) return;
      sent += more;
      send(more);
    };
  });
  const cpuBefore = client.cpu();
  const begin = performance.now();
  send(sent);
  try {
    await withDeadline(client, finished, call.method);
  } finally {
    // Also after a wrong answer: nothing more is asked then.
    client.listeners.batchEnd = () => {};
  }
  const micros = (performance.now() - begin) * 1000;
  const cpu = client.cpu() - cpuBefore;
  return { micros: micros / count, cpu: cpu / count, rate: (count * 1e6) / micros, times };
}

/**
 * What every further answer to this request must look like: the same bytes around another id.
 * `idOf` gives the id of an answer that does, and undefined for any other.
 */
export function templateOf({ id, bytes }) {
  const at = bytes.indexOf(`"id":${id}`) + '"id":'.length;
  const end = at + String(id).length;
  const head = bytes.subarray(0, at);
  const tail = bytes.subarray(end);
  const idOf = (line) => {
    const same = line.length === bytes.length && head.compare(line, 0, at) === 0 && tail.compare(line, end) === 0;
    return same ? Number(line.latin1Slice(at, end)) : undefined;
  };
  return { idOf, length: bytes.length };
}

export function wrong(method, got) {
  return new Error(`wrong answer to ${method}: ${JSON.stringify(got)?.slice(0, 300)}`);
}

// --- internal ---

function encode({ method, params }) {
  const rest = `,"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}\n`;
  return (id) => `{"jsonrpc":"2.0","id":${id}${rest}`;
}

/** Undefined for what is no JSON object. */
function parse(bytes) {
  try {
    const message = JSON.parse(bytes.toString());
    return typeof message === 'object' && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Hands lines over as bytes. An answer of many chunks is joined once, when it is whole. */
function splitLines(stream, listeners) {
  let parts = [];
  stream.on('data', (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end);
      start = end + 1;
      const line = parts.length === 0 ? piece : Buffer.concat([...parts, piece]);
      parts = [];
      if (line.length > 0) listeners.line?.(line);
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
    listeners.batchEnd();
  });
}

async function withDeadline(client, promise, what) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`no answer to ${what} in ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, client.gone, late]);
  } finally {
    clearTimeout(timer);
  }
}
