/**
 * The built program in a process of its own. `startProgram(t, { tree, args })` puts a client on its pipes that records
 * every message; `startWeb` serves HTTP, for the requests of http.ts; `runCommand` runs what ends by itself. All of them see
 * the tree as working directory, an empty home inside it, and nothing else of this machine.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Tree } from './tree.ts';

/** The checkout, wherever the tests were compiled to. */
export const TOP = fileURLToPath(new URL('..', import.meta.resolve('skillwire')));
export const PROGRAM = join(TOP, 'dist', 'skillwire.cjs');
export const STDIO_PROGRAM = join(TOP, 'dist', 'skillwire-stdio.cjs');

/** For tests about unreadable files, which root could read: starts a program without that right. */
export const WITHOUT_PRIVILEGE: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] : [];

/** An environment in which the program says how long each of its intervals is, and has them 300 times as often. */
export const FAST_INTERVALS = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    const { setInterval } = globalThis;
    globalThis.setInterval = (run, ms, ...rest) => {
      process.stderr.write('interval of ' + ms + ' ms\\n');
      return setInterval(run, ms / 300, ...rest);
    };`)}`,
};

// biome-ignore lint/suspicious/noExplicitAny: tests look deep into answers whose shape is what they assert.
export type Answer = any;

export interface ProgramOptions {
  readonly tree: Tree;
  readonly args?: readonly string[];
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than `skillwire`. */
  readonly entry?: string;
  /** A command that starts the program, such as one that takes a right away from it. */
  readonly through?: readonly string[];
}

export type Program = ReturnType<typeof startProgram>;

/** What the environment of every program here is. */
export const environmentOf = (tree: Tree, home = tree.at('home')) => ({ PATH: process.env.PATH ?? '', HOME: home });

export function startProgram(t: TestContext, options: ProgramOptions) {
  const { tree, args = [], home, env, entry = PROGRAM, through = [] } = options;
  const [command = '', ...rest] = [...through, process.execPath, entry, ...args];
  const child: ChildProcessWithoutNullStreams = spawn(command, rest, {
    cwd: tree.path,
    env: { ...environmentOf(tree, home), ...env },
  });
  t.after(() => child.kill('SIGKILL'));
  const received: Answer[] = [];
  const noise: string[] = [];
  /** Says `more` when there is something new to look at. */
  const news = new EventEmitter().setMaxListeners(0);
  let [stderr, nextId, taken, hasExited] = ['', 1000, 0, false];
  const exit = once(child, 'close').then(([code]) => {
    hasExited = true;
    news.emit('more');
    return code as number | null;
  });
  child.stdin.on('error', () => {}); // The program may end first.
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    news.emit('more');
  });
  /** Takes a line of its output, or a message that it sent by another way. */
  const put = (line: string) => {
    try {
      received.push(JSON.parse(line));
    } catch {
      noise.push(line);
    }
    news.emit('more');
  };
  createInterface({ input: child.stdout }).on('line', put);

  async function until<T>(look: () => T | undefined, what: string): Promise<T> {
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (hasExited || deadline.aborted) {
        const state = `received: ${JSON.stringify(received).slice(-2000)}\nstderr: ${stderr.slice(-2000)}`;
        throw new Error(`${hasExited ? 'the program ended' : 'time ran out'} while waiting for ${what}\n${state}`);
      }
      await once(news, 'more', { signal: deadline }).catch(() => {}); // The deadline, which is seen above.
    }
  }

  const sendRaw = (text: string | Uint8Array) => void child.stdin.write(text);
  const send = (message: unknown) => sendRaw(`${JSON.stringify(message)}\n`);
  /** Waits until `test` holds for a message; messages that came before count too. */
  const waitFor = (test: (message: Answer) => boolean, what: string): Promise<Answer> => {
    let at = 0; // Each message is looked at once: a test may wait behind a hundred thousand.
    const next = () => {
      while (at < received.length) if (test(received[at++])) return received[at - 1];
      return undefined;
    };
    return until(next, what);
  };
  /** Sends a request with a fresh id and waits for the whole answer, result or error. */
  const request = (method: string, params?: object): Promise<Answer> => {
    const id = nextId++;
    send({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
    return waitFor((message) => message.id === id && message.method === undefined, `${method} (${id})`);
  };
  /** `tools/call`, giving the result. */
  const call = async (tool: string, args: object): Promise<Answer> => {
    const answer = await request('tools/call', { name: tool, arguments: args });
    if (answer.error) throw new Error(`tools/call ${tool}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  };
  /** The description of the `skill` tool. */
  const description = async (): Promise<string> =>
    (await request('tools/list')).result.tools.find((tool: Answer) => tool.name === 'skill').description;
  /** Waits for that on stderr. `from`: what was there already does not count. */
  const waitForStderr = (pattern: RegExp, from = 0): Promise<string> =>
    until(() => pattern.exec(stderr.slice(from))?.[0], `stderr ${pattern}`);

  return {
    ...{ child, put, send, sendRaw, request, call, description, until, waitFor, waitForStderr },
    /** Every message the program has written so far. */
    received: received as readonly Answer[],
    /** Lines on stdout that are not JSON. Always empty, or something is very wrong. */
    noise: noise as readonly string[],
    stderr: () => stderr,
    /** The text of the `skill` tool's answer. */
    skill: async (name: string): Promise<string> => (await call('skill', { name })).content[0].text,
    /** The names that the `skill` tool lists, in its order. */
    names: async (): Promise<readonly string[]> =>
      [...(await description()).matchAll(/<name>(.*)<\/name>/g)].map(([, name = '']) => unescapeXml(name)),
    /** The next message, in the order they came, each once. */
    receive(): Promise<Answer> {
      const at = taken++;
      return until(() => received[at], `message ${at + 1}`);
    },
    /** What was not received in this way, and what is not a message. */
    rest: () => [...received.slice(taken), ...noise],
    /** Announcements that the tools have changed. */
    notices: () => received.filter(({ method }) => method === 'notifications/tools/list_changed'),
    /** The next refresh by the timer that begins after this moment and has come to its end. */
    nextRefresh: () => waitForStderr(/(?:refresh \([^)]*timer.*\n[\s\S]*){2}/, stderr.length),
    async handshake(version = '2025-11-25', client = 'test'): Promise<Answer> {
      const clientInfo = { name: client, version: '1' };
      const answer = await request('initialize', { protocolVersion: version, capabilities: {}, clientInfo });
      send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return answer;
    },
    /** Closes stdin and gives the exit code. */
    end(): Promise<number | null> {
      child.stdin.end();
      return exit;
    },
    exit: () => exit,
  };
}

/** `url`: the MCP endpoint. */
export async function startWeb(
  t: TestContext,
  { transport = 'http', args = [], ...rest }: ProgramOptions & { readonly transport?: 'http' | 'sse' },
) {
  const program = startProgram(t, { ...rest, args: ['--transport', transport, '--port', '0', ...args] });
  const url = (await program.waitForStderr(/listening on \S+/)).replace('listening on ', '');
  return { program, url, at: (path: string) => new URL(path, url).href };
}

export function runCommand(
  tree: Tree,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: tree.path,
    env: { ...environmentOf(tree), ...env },
    encoding: 'utf8',
    input,
    timeout: PATIENCE_MS,
  });
  return { status, stdout, stderr };
}

/** The `_meta` that a modern request carries. */
export function modern(params: object = {}, client?: string): object {
  const prefix = 'io.modelcontextprotocol/';
  const info = client === undefined ? {} : { [`${prefix}clientInfo`]: { name: client, version: '1' } };
  const meta = { [`${prefix}protocolVersion`]: '2026-07-28', [`${prefix}clientCapabilities`]: {}, ...info };
  return { ...params, _meta: meta };
}

// --- internal ---

// Far above what anything here takes: the machine may be busy with the rest of the suite.
const PATIENCE_MS = 30_000;

const unescapeXml = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
