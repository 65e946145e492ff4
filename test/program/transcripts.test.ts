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
 * The first word of a file's name says who can hold it: `legacy`, `modern`, `both` (one connection, two eras), `pipe`.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
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
  const { follow, connection } = overHttp(program);
  const streams = new Map<unknown, AbortController>();
  let session: Record<string, string> = {};
  return connection(async (text) => {
    const message = parse(text);
    // Over HTTP one stops a stream by hanging up.
    const stopped = message?.method === 'notifications/cancelled' && streams.get(message.params?.requestId);
    if (stopped) return stopped.abort();
    const hangUp = new AbortController();
    const headers = { ...POSTED, ...session, ...headersOf(message) };
    const response = await fetch(url, { method: 'POST', headers, body: text, signal: hangUp.signal });
    const id = response.headers.get('mcp-session-id');
    if (id) session = { 'mcp-session-id': id };
    if (response.headers.get('content-type') === 'text/event-stream') {
      streams.set(message.id, hangUp);
      void follow(response);
    } else {
      const body = await response.text();
      if (body !== '') program.put(body);
    }
    const accept = { accept: 'text/event-stream', ...session };
    if (message?.method === 'notifications/initialized') void follow(await fetch(url, { headers: accept }));
  });
}

/** One stream for everything that comes, POSTs for everything that goes. */
async function connectSse(t: TestContext, tree: Tree): Promise<Connection> {
  const { program, url, at } = await startWeb(t, { tree, transport: 'sse', args: ARGS });
  const { follow, connection } = overHttp(program);
  const endpoint = at(await follow(await fetch(url)));
  return connection(async (body) => void (await fetch(endpoint, { method: 'POST', headers: POSTED, body })));
}

const TRANSPORTS = [
  { name: 'stdio', kinds: ['legacy', 'modern', 'both', 'pipe'], connect: connectStdio },
  { name: 'http', kinds: ['legacy', 'modern', 'both'], connect: connectHttp },
  { name: 'sse', kinds: ['legacy', 'modern', 'both'], connect: connectSse },
];
const FOLDER = join(TOP, 'test', 'transcripts');
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'));

// Each waits more than it works.
describe('transcripts', { concurrency: 4 }, () => {
  for (const { name, kinds, connect } of TRANSPORTS) {
    for (const file of FILES.filter((one) => kinds.includes(one.split('-', 1)[0] ?? ''))) {
      test(`${name}: ${file}`, (t) => play(t, parseTranscript(readFileSync(join(FOLDER, file), 'utf8')), connect));
    }
  }
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

async function play(t: TestContext, steps: readonly Step[], connect: (typeof TRANSPORTS)[number]['connect']) {
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
  const at = open.findIndex((pattern) => matches(message, pattern));
  const meant = open.find((pattern: Answer) => pattern.id === message.id) ?? open[0];
  if (at === -1) assert.deepEqual(message, fill(meant, message));
  return open.toSpliced(at, 1);
}

function matches(message: unknown, pattern: unknown): boolean {
  try {
    assert.deepEqual(message, fill(pattern, message));
    return true;
  } catch {
    return false; // It may be meant for another expectation.
  }
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

const POSTED = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

function overHttp(program: Program) {
  const followed: Promise<void>[] = [];
  /** Gives the endpoint that the stream names in its first event, where it names one. */
  const follow = (response: Response) =>
    new Promise<string>((endpoint) => {
      const read = async () => {
        let text = '';
        for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          const events = (text + chunk).split('\n\n');
          text = events.pop() ?? '';
          for (const event of events) {
            const [, data] = /^data: (.*)$/m.exec(event) ?? [];
            if (event.startsWith('event: endpoint')) endpoint(data ?? '');
            else if (data !== undefined) program.put(data);
          }
        }
      };
      followed.push(read().catch(() => {})); // We hung up.
    });
  const connection = (post: (text: string) => Promise<void>): Connection => {
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
        await Promise.all([...followed, program.exit()]);
      },
    };
  };
  return { follow, connection };
}

function parse(text: string): Answer {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Some texts are sent because they are not JSON.
  }
}

/** What a modern client repeats of its body beside it. */
function headersOf(message: Answer): Record<string, string> {
  const version = message?.params?._meta?.['io.modelcontextprotocol/protocolVersion'];
  if (version === undefined) return {};
  const name = message.params.name ?? message.params.uri;
  const named = typeof name === 'string' ? `=?base64?${Buffer.from(name).toString('base64')}?=` : undefined;
  return {
    'mcp-protocol-version': String(version),
    'mcp-method': String(message.method),
    ...(named === undefined ? {} : { 'mcp-name': named }),
  };
}
