/**
 * The built program in a process of its own, and a client on its pipes that records every message.
 * `startProgram(t, { tree, args })`, then `handshake`, `request`, `call`; it is killed when the test ends.
 * Over HTTP: web.ts. With upstream servers: hub.ts. In this process: peer.ts.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Tree } from './tree.ts';

// Seen from .test-build/test/harness. `npm run coverage` starts the same program from its modules.
export const PROGRAM =
  process.env.SKILLWIRE_TEST_PROGRAM ?? fileURLToPath(new URL('../../../dist/skillwire.cjs', import.meta.url));

// What Node compiles of the program is kept for the whole run, as it is for a user; the homes of tests are removed.
export const CACHE_HOME = fileURLToPath(new URL('../../cache', import.meta.url));

// Where Node writes down what it has run, when coverage is measured.
const { NODE_V8_COVERAGE } = process.env;
const COVERAGE = NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE };

export type Json = Readonly<Record<string, unknown>>;

// biome-ignore lint/suspicious/noExplicitAny: tests look deep into answers whose shape is what they assert.
export type Answer = any;

export interface ProgramOptions {
  readonly args?: readonly string[];
  /** The working directory and, unless `home` is given, an empty home inside it. */
  readonly tree: Tree;
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than `skillwire`. */
  readonly entry?: string;
  /** A command that starts the program, such as one that takes a right away from it. */
  readonly through?: readonly string[];
}

export interface Program {
  readonly child: ChildProcessWithoutNullStreams;
  /** Every message the program has written so far. */
  readonly received: readonly Answer[];
  /** Lines on stdout that are not JSON. Always empty, or something is very wrong. */
  readonly noise: readonly string[];
  stderr(): string;
  send(message: unknown): void;
  sendRaw(text: string | Uint8Array): void;
  /** Sends a request with a fresh id and waits for the whole answer, result or error. */
  request(method: string, params?: Json): Promise<Answer>;
  /** `tools/call`, giving the result. */
  call(tool: string, args: Json): Promise<Answer>;
  /** The text of the `skill` tool's answer. */
  skill(name: string): Promise<string>;
  /** The description of the `skill` tool. */
  description(): Promise<string>;
  /** Waits until `test` holds for a message; messages that came before count too. */
  waitFor(test: (message: Answer) => boolean, what: string): Promise<Answer>;
  /** The next message, in the order they came, each once. */
  receive(): Promise<Answer>;
  waitForStderr(pattern: RegExp): Promise<string>;
  handshake(version?: string, client?: string): Promise<Answer>;
  /** Closes stdin and gives the exit code. */
  end(): Promise<number | null>;
  exit(): Promise<number | null>;
}

// Far above what anything here takes: the machine may be busy with the rest of the suite.
const PATIENCE_MS = 30_000;

export function startProgram(
  t: TestContext,
  { args = [], tree, home, env = {}, entry = PROGRAM, through = [] }: ProgramOptions,
): Program {
  const [command = process.execPath, ...rest] = [...through, process.execPath, entry, ...args];
  const child = spawn(command, rest, {
    cwd: tree.path,
    env: { PATH: process.env.PATH, HOME: home ?? tree.at('home'), XDG_CACHE_HOME: CACHE_HOME, ...COVERAGE, ...env },
  });
  // A process that is killed has no time to write down what it has run.
  t.after(() => child.kill(NODE_V8_COVERAGE === undefined ? 'SIGKILL' : 'SIGTERM'));
  const received: Answer[] = [];
  const noise: string[] = [];
  const waiters = new Set<() => void>();
  const wake = () => {
    for (const waiter of [...waiters]) waiter();
  };
  let stderr = '';
  let nextId = 1000;
  let taken = 0;
  let exited = false;
  const exit = once(child, 'close').then(([code]) => {
    exited = true;
    wake();
    return code as number | null;
  });
  child.stdin.on('error', () => {}); // The program may end first.
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    wake();
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    try {
      received.push(JSON.parse(line));
    } catch {
      noise.push(line);
    }
    wake();
  });

  function until<T>(look: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        settle();
        reject(
          new Error(
            `${why} while waiting for ${what}\nreceived: ${JSON.stringify(received).slice(-2000)}\nstderr: ${stderr.slice(-2000)}`,
          ),
        );
      };
      const timer = setTimeout(() => fail('time ran out'), PATIENCE_MS);
      const settle = () => {
        clearTimeout(timer);
        waiters.delete(check);
      };
      const check = () => {
        const found = look();
        if (found !== undefined) {
          settle();
          resolve(found);
        } else if (exited) fail('the program ended');
      };
      waiters.add(check);
      check();
    });
  }

  const program: Program = {
    child,
    received,
    noise,
    stderr: () => stderr,
    sendRaw: (text) => void child.stdin.write(text),
    send: (message) => program.sendRaw(`${JSON.stringify(message)}\n`),
    async request(method, params) {
      const id = nextId++;
      program.send({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
      return program.waitFor((message) => message.id === id && message.method === undefined, `${method} (${id})`);
    },
    async call(tool, args) {
      const answer = await program.request('tools/call', { name: tool, arguments: args });
      if (answer.error) throw new Error(`tools/call ${tool}: ${JSON.stringify(answer.error)}`);
      return answer.result;
    },
    skill: async (name) => (await program.call('skill', { name })).content[0].text,
    async description() {
      const { result } = await program.request('tools/list');
      return result.tools.find((tool: Answer) => tool.name === 'skill').description;
    },
    waitFor: (test, what) => until(() => received.find(test), what),
    async receive() {
      const at = taken++;
      return until(() => received[at], `message ${at + 1}`);
    },
    waitForStderr: (pattern) => until(() => pattern.exec(stderr)?.[0], `stderr ${pattern}`),
    async handshake(version = '2025-11-25', client = 'test') {
      const answer = await program.request('initialize', {
        protocolVersion: version,
        capabilities: {},
        clientInfo: { name: client, version: '1' },
      });
      program.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return answer;
    },
    end() {
      child.stdin.end();
      return exit;
    },
    exit: () => exit,
  };
  return program;
}

/** The `_meta` that a modern request carries. */
export function modern(params: Json = {}, client?: string): Json {
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      ...(client
        ? {
            'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
          }
        : {}),
    },
  };
}
