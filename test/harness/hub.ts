/**
 * Upstream servers in processes of their own, and the built program with `--hub` in front of them.
 * `upstream` and `scripted` make entries for `mcpServers`; `startHub` starts the program with such entries.
 * The servers are in test/fixtures/. For upstream servers over HTTP see legacy-web.ts and sdk-servers.ts.
 */
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Script } from '../fixtures/scripted.ts';
import { type Program, type ProgramOptions, startProgram } from './program.ts';
import { makeTree, type Tree } from './tree.ts';

/** The hand-written server of test/fixtures/upstream.ts; `traits` say how it behaves. */
export function upstream(...traits: string[]): { command: string; args: string[] } {
  return fixture('upstream', ...traits);
}

export function fixture(name: string, ...args: string[]): { command: string; args: string[] } {
  // Seen from .test-build/test/harness.
  const file = fileURLToPath(new URL(`../fixtures/${name}.js`, import.meta.url));
  return { command: process.execPath, args: [file, ...args] };
}

export interface HubProgram extends Program {
  readonly tree: Tree;
  /** Names of the tools that are listed now. */
  toolNames(): Promise<string[]>;
  /** Waits until the list of tool names is as wanted. */
  waitForTools(test: (names: readonly string[]) => boolean, what: string): Promise<string[]>;
}

export interface HubOptions extends ProgramOptions {
  /** Of the handshake. */
  readonly version: string;
  /** Skills of the usual directories and plugins too. */
  readonly defaults: boolean;
}

/** The program with `--hub` and these servers in the user's own file; with `defaults` the user's own skills too. */
export async function startHub(
  t: TestContext,
  servers: Readonly<Record<string, unknown>>,
  { tree = makeTree(t), args = [], defaults = false, version, ...options }: Partial<HubOptions> = {},
): Promise<HubProgram> {
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: servers }));
  const program = startProgram(t, {
    tree,
    args: ['--hub', ...(defaults ? [] : ['--no-default-dirs', '--no-plugins']), ...args],
    ...options,
  });
  await program.handshake(version);
  const toolNames = async () => {
    const { result } = await program.request('tools/list');
    return result.tools.map((tool: { name: string }) => tool.name);
  };
  return {
    ...program,
    tree,
    toolNames,
    async waitForTools(test, what) {
      for (let seen = 0; ; ) {
        const names = await toolNames();
        if (test(names)) return names;
        const changes = () => program.received.filter(({ method }) => method === 'notifications/tools/list_changed');
        await program.waitFor(() => changes().length > seen, what);
        seen = changes().length;
      }
    },
  };
}

export const promptNames = async (program: Program): Promise<readonly string[]> =>
  (await program.request('prompts/list')).result.prompts.map(({ name }: { name: string }) => name);

/** Waits until the list of prompts is as wanted, and gives it. */
export async function waitForPrompts(
  program: Program,
  test: (names: readonly string[]) => boolean,
): Promise<readonly string[]> {
  for (let seen = 0; ; ) {
    const names = await promptNames(program);
    if (test(names)) return names;
    const changes = () => program.received.filter(({ method }) => method === 'notifications/prompts/list_changed');
    await program.waitFor(() => changes().length > seen, 'a change of the prompts');
    seen = changes().length;
  }
}

/** Whether a process of that id is still there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until `test` is true; for things without an event, such as the end of a process that is not our child. */
export async function eventually(test: () => boolean, what: string, patience = 10_000): Promise<void> {
  const deadline = Date.now() + patience;
  while (!test()) {
    if (Date.now() > deadline) throw new Error(`time ran out while waiting for ${what}`);
    await new Promise((done) => setTimeout(done, 25));
  }
}

export interface Scripted {
  readonly entry: { readonly command: string; readonly args: readonly string[] };
  /** From now on it answers this. */
  rewrite(script: Script): void;
  /** How often that was asked of it. */
  count(method: string): number;
}

/** A server that answers what the script says: see test/fixtures/scripted.ts. */
export function scripted(tree: Tree, name: string, script: Script): Scripted {
  const rewrite = (next: Script) => void tree.write(`${name}.json`, JSON.stringify(next));
  rewrite(script);
  const journal = tree.write(`${name}.log`, '');
  return {
    entry: fixture('scripted', tree.at(`${name}.json`), journal),
    rewrite,
    count: (method) =>
      readFileSync(journal, 'utf8')
        .split('\n')
        .filter((line) => line === method).length,
  };
}
