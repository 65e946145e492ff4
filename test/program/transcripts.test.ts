/**
 * The conversations of test/transcripts, one file each, over every transport that can hold them.
 *
 *   # a promise              begins a step; its name in the test report
 *   > {"jsonrpc":…}          is sent, exactly as it stands
 *   < {"jsonrpc":…}          must come; the answers to what was just sent may come in any order
 *   ! add NAME | drop NAME   a skill appears or vanishes
 *   ! stop                   the server is told to end
 *
 * In an expected message `"<any>"` is any value, `<any>` inside a text is any part of it, and a member
 * `"<any>": "<any>"` allows further members. Everything else must be equal, and whatever comes without being
 * expected is a failure: also what comes after the last line, until the connection is closed.
 *
 * The first word of a file's name says who speaks: `legacy`, `modern`, `both` (one connection, two eras). What begins with
 * `pipe` needs stdio.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { ask, eventually, openStream } from '../harness/http.ts';
import { type Answer, type Program, startProgram, startWeb, TOP } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

/** One client's connection to a server over a tree. */
interface Connection {
  readonly program: Program;
  /** Hands over one message as text, well-formed or not. What comes back is put into what the program has sent. */
  send(text: string): void;
  /** Ends the connection; settles when nothing more can come. */
  close(): Promise<unknown>;
}

// The watcher is quicker, but the timer is the truth: it decides how long a list_changed may take here.
const ARGS = ['--refresh-interval', '500'];

async function connectStdio(t: TestContext, tree: Tree): Promise<Connection> {
  const program = startProgram(t, { tree, args: ARGS });
  return { program, send: (text) => program.sendRaw(`${text}\n`), close: program.end };
}

/** Every text a POST, in order; what a session is told without asking comes on its GET stream. */
async function connectHttp(t: TestContext, tree: Tree): Promise<Connection> {
  const { program, url } = await startWeb(t, { tree, args: ARGS });
  const streams = new Map<unknown, Stream>();
  let session = {};
  return overHttp(program, streams, async (raw) => {
    const message = parse(raw);
    // Over HTTP one stops a stream by hanging up.
    const stopped = message?.method === 'notifications/cancelled' && streams.get(message.params?.requestId);
    if (stopped) return void stopped.close();
    const stream = await openStream(t, url, { raw, headers: { ...session, ...headersOf(message) } }, program.put);
    const { 'content-type': type, 'mcp-session-id': id } = stream.headers;
    if (id !== undefined) session = { 'mcp-session-id': id };
    if (type === 'text/event-stream') streams.set(message.id, stream);
    else await stream.ended;
    if (message?.method !== 'notifications/initialized') return;
    streams.set('GET', await openStream(t, url, { headers: session }, program.put));
  });
}

/** One stream for everything that comes, POSTs for everything that goes. */
async function connectSse(t: TestContext, tree: Tree): Promise<Connection> {
  const { program, url, at } = await startWeb(t, { tree, transport: 'sse', args: ARGS });
  let endpoint = '';
  const stream = await openStream(t, url, {}, (data) => {
    if (endpoint === '') endpoint = at(data);
    else program.put(data);
  });
  await eventually(() => endpoint !== '', 'the endpoint');
  return overHttp(program, new Map([['GET', stream]]), async (raw) => void (await ask(endpoint, { raw })));
}

const TRANSPORTS = { stdio: connectStdio, http: connectHttp, sse: connectSse };
const FOLDER = join(TOP, 'test', 'transcripts');
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'));

// Each waits more than it works.
describe('transcripts', { concurrency: 4 }, () => {
  for (const [name, connect] of Object.entries(TRANSPORTS))
    for (const file of FILES.filter((one) => name === 'stdio' || !one.startsWith('pipe-')))
      test(`${name}: ${file}`, (t) => play(t, parseTranscript(readFileSync(join(FOLDER, file), 'utf8')), connect));
});

// --- playing ---

interface Step {
  readonly promise: string;
  readonly lines: (readonly [mark: string, rest: string])[];
}

function parseTranscript(text: string): readonly Step[] {
  const steps: Step[] = [];
  for (const line of text.split('\n')) {
    const [mark, rest] = [line.slice(0, 2), line.slice(2)];
    if (mark === '# ') steps.push({ promise: rest, lines: [] });
    else if (['> ', '< ', '! '].includes(mark)) steps.at(-1)?.lines.push([mark, rest]);
    else assert.equal(line, '', 'a line of a transcript begins with "# ", "> ", "< " or "! "');
  }
  return steps;
}

async function play(t: TestContext, steps: readonly Step[], connect: typeof connectHttp) {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files'),
    '.claude/skills/xlsx/SKILL.md': skillText('xlsx', 'Work with tables'),
  });
  const connection = await connect(t, tree);
  let isWhole = true;
  for (const { promise, lines } of steps) {
    // The steps build on each other: after a failed one the rest would only repeat the news.
    if (!isWhole) break;
    isWhole = false;
    await t.test(promise, async () => {
      await playStep(lines, connection, tree);
      isWhole = true;
    });
  }
  await connection.close();
  if (isWhole) assert.deepEqual(connection.program.rest(), [], 'messages came that were not expected');
  assert.equal(await connection.program.exit(), 0);
}

async function playStep(lines: Step['lines'], connection: Connection, tree: Tree): Promise<void> {
  let open: unknown[] = [];
  for (const [at, [mark, line]] of lines.entries()) {
    const text = line.replaceAll('<tree>', JSON.stringify(tree.path).slice(1, -1));
    if (mark === '> ') connection.send(text);
    else if (mark === '! ') act(text.split(' '), connection, tree);
    else {
      open.push(JSON.parse(text));
      if (lines[at + 1]?.[0] === '< ') continue;
      while (open.length > 0) open = without(open, await connection.program.receive());
    }
  }
}

function act([verb, name = '']: readonly string[], connection: Connection, tree: Tree): void {
  if (verb === 'add') tree.write(`.claude/skills/${name}/SKILL.md`, skillText(name));
  else if (verb === 'drop') tree.remove(`.claude/skills/${name}`);
  else if (verb === 'stop') connection.program.child.kill('SIGTERM');
  else assert.fail(`a transcript cannot do "${verb}"`);
}

/** The expectations less the one that the message fulfils. */
function without(open: readonly unknown[], message: Answer): unknown[] {
  const at = open.findIndex((pattern) => isDeepStrictEqual(message, fill(pattern, message)));
  const meant = open.find((pattern: Answer) => pattern.id === message.id) ?? open[0];
  if (at === -1) assert.deepEqual(message, fill(meant, message));
  return open.toSpliced(at, 1);
}

const ANY = '<any>';

/** The pattern with its blanks filled from the message wherever they allow it. */
function fill(pattern: unknown, actual: unknown): unknown {
  if (pattern === ANY) return actual;
  if (typeof pattern === 'string') {
    const parts = pattern.split(ANY).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return typeof actual === 'string' && new RegExp(`^${parts.join('.*')}$`, 's').test(actual) ? actual : pattern;
  }
  if (Array.isArray(pattern))
    return pattern.map((one, at) => fill(one, Array.isArray(actual) ? actual[at] : undefined));
  if (typeof pattern !== 'object' || pattern === null) return pattern;
  const members = typeof actual === 'object' && actual !== null ? new Map(Object.entries(actual)) : new Map();
  const named = Object.entries(pattern).filter(([key]) => key !== ANY);
  const filled = named.map(([key, one]) => [key, fill(one, members.get(key))]);
  return Object.fromEntries(ANY in pattern ? [...members, ...filled] : filled);
}

// --- over HTTP ---

type Stream = Awaited<ReturnType<typeof openStream>>;

function overHttp(
  program: Program,
  streams: ReadonlyMap<unknown, Stream>,
  post: (text: string) => Promise<void>,
): Connection {
  let last = Promise.resolve();
  return {
    program,
    send(text) {
      last = last.then(() => post(text));
      last.catch(() => {}); // Seen by `close`.
    },
    async close() {
      await last;
      program.child.kill('SIGTERM');
      await Promise.all([program.exit(), ...[...streams.values()].map(({ ended }) => ended)]);
    },
  };
}

function parse(text: string): Answer {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Some texts are sent because they are not JSON.
  }
}

/** What a modern client repeats of its body beside it. */
function headersOf(message: Answer): object {
  const version = message?.params?._meta?.['io.modelcontextprotocol/protocolVersion'];
  if (version === undefined) return {};
  const { method, params } = message;
  const named = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
  return { 'mcp-protocol-version': version, 'mcp-method': method, ...named };
}
