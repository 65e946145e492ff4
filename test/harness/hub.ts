/**
 * The built program with `--hub` in front of upstream servers in processes of their own: `upstream` makes an entry of the
 * hand-written server in test/fixtures, `startHub` starts the program with such entries. Over HTTP: connections.ts, sdk-servers.ts.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, startWeb, type WebExchange } from './connections.ts';
import { type Answer, environmentOf, PROGRAM, type ProgramOptions, startProgram } from './program.ts';
import { makeTree, type Tree } from './tree.ts';

/** A program of test/fixtures, as an entry. */
export function fixture(name: string, ...args: readonly string[]) {
  const file = fileURLToPath(new URL(`../fixtures/${name}.js`, import.meta.url));
  return { command: process.execPath, args: [file, ...args] };
}

/** `traits`: how it behaves, see test/fixtures/upstream.ts. */
export const upstream = (...traits: readonly string[]) => fixture('upstream', ...traits);

/** It lists these tools besides its own. */
export const withTools = (...tools: readonly object[]) => upstream(`tools=${JSON.stringify(tools)}`);

/** A tool that takes nothing. */
export const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

export const fileOf = (servers: object) => JSON.stringify({ mcpServers: servers });

/** For files that are edited: the timer finds the edits. */
export const OFTEN = ['--refresh-interval', '200'];

/** What a list must have. */
export const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

/** The ids of the processes that have written themselves into a journal. */
export const pidsIn = (journal: string) =>
  [...readFileSync(journal, 'utf8').matchAll(/(?:started|grandchild) (\d+)/g)].map(([, pid]) => Number(pid));

export type HubProgram = Awaited<ReturnType<typeof startHub>>;

/** The skills are those of `./skills`, if there are any, and of the servers. */
const viewOf = (tree: Tree) => [
  ...['--hub', '--no-default-dirs', '--no-plugins'],
  ...(existsSync(tree.at('skills')) ? ['--skill-dir', 'skills'] : []),
];

/** With these servers in the user's own file, after a handshake. */
export async function startHub(
  t: TestContext,
  servers: object,
  { tree = makeTree(t), args = [], version, ...rest }: Partial<ProgramOptions> & { readonly version?: string } = {},
) {
  tree.write('home/.kode.json', fileOf(servers));
  const program = startProgram(t, { tree, args: [...viewOf(tree), ...args], ...rest });
  await program.handshake(version);
  const names = async (list: 'tools' | 'prompts'): Promise<readonly string[]> =>
    (await program.request(`${list}/list`)).result[list].map(({ name }: { name: string }) => name);
  /** Asks when a change is announced, until the names are as wanted. */
  const until = async (list: 'tools' | 'prompts', test: (names: readonly string[]) => boolean, what: string) => {
    const changes = () => program.received.filter(({ method }) => method === `notifications/${list}/list_changed`);
    for (let seen = -1; ; ) {
      const before = changes().length;
      const found = await names(list);
      if (test(found)) return found;
      seen = before;
      await program.until(() => changes().length > seen || undefined, what);
    }
  };
  return {
    ...program,
    tree,
    toolNames: () => names('tools'),
    waitForTools: (test: (names: readonly string[]) => boolean, what = 'its tools') => until('tools', test, what),
    waitForPrompts: (test: (names: readonly string[]) => boolean) => until('prompts', test, 'its prompts'),
    textOf: async (name: string, args: object = {}): Promise<string> =>
      (await program.call(name, args)).content[0].text,
  };
}

/** Settles when the journal has that. */
export const noted = (tree: Tree, journal: string, what: RegExp) =>
  eventually(() => what.test(readFileSync(tree.at(journal), 'utf8')), String(what));

/** What `doctor` says with the hub. It does not block this process, which may be one of the servers. */
export function examine(
  tree: Tree,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly text: string }> {
  const all = [PROGRAM, 'doctor', ...viewOf(tree), ...args];
  return new Promise((done) => {
    execFile(process.execPath, all, { cwd: tree.path, env: environmentOf(tree) }, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), text: stdout + stderr }),
    );
  });
}

/** By its name, the status of each server. */
export async function statesOf(tree: Tree): Promise<Readonly<Record<string, Answer>>> {
  const { upstreams } = JSON.parse((await examine(tree, '--json')).text);
  return Object.fromEntries(upstreams.map((one: Answer) => [one.name, one]));
}

/** A server of the older transport: it answers by the stream that GET opens, with what `answer` gives. */
export function startOlder(t: TestContext, answer: (method: string, params: Answer) => object) {
  let stream: WebExchange | undefined;
  return startWeb(t, (exchange) => {
    const { verb, id, method, body, response } = exchange;
    if (verb === 'GET') stream = exchange;
    if (verb === 'GET') return exchange.event('event: endpoint\ndata: /post\n\n');
    response.writeHead(202).end();
    return id === undefined || stream?.event({ id, result: answer(method, Object(body.params)) });
  });
}
