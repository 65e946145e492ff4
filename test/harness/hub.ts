/**
 * The built program with `--hub` in front of upstream servers: `startHub` starts it with entries of upstreams.ts, `doctor`
 * gives what that command says of them. Servers over HTTP: connections.ts, sdk-servers.ts.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { eventually } from './connections.ts';
import { type Answer, environmentOf, PROGRAM, type ProgramOptions, startProgram } from './program.ts';
import { makeTree, type Tree } from './tree.ts';

export const fileOf = (servers: object) => JSON.stringify({ mcpServers: servers });

/** An entry behind a script of the shell, which runs it as "$@" and has `file` as "$0". */
export function behind(script: string, file: string, { command, args }: { command: string; args: readonly string[] }) {
  return { command: 'sh', args: ['-c', script, file, command, ...args] };
}

/** What a list must have. */
export const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

/** The skills are those of `./skills`, if there are any, and of the servers. */
const viewOf = (tree: Tree) => [
  ...['--hub', '--no-default-dirs', '--no-plugins'],
  ...(existsSync(tree.at('skills')) ? ['--skill-dir', 'skills'] : []),
];

/** With these servers in the user's own file, after a handshake. */
export async function startHub(
  t: TestContext,
  servers: object,
  { tree = makeTree(t), args = [], ...rest }: Partial<ProgramOptions> = {},
) {
  tree.write('home/.kode.json', fileOf(servers));
  const program = startProgram(t, { tree, args: [...viewOf(tree), ...args], ...rest });
  await program.handshake();
  const names = async (list: 'tools' | 'prompts'): Promise<readonly string[]> =>
    (await program.request(`${list}/list`)).result[list].map(({ name }: { name: string }) => name);
  /** Asks when a change is announced, until the names are as wanted. */
  const until = async (list: 'tools' | 'prompts', test: (names: readonly string[]) => boolean) => {
    const changes = () => program.received.filter(({ method }) => method === `notifications/${list}/list_changed`);
    for (;;) {
      const before = changes().length;
      const found = await names(list);
      if (test(found)) return found;
      await program.until(() => changes().length > before || undefined, `other ${list} than ${found}`);
    }
  };
  return {
    ...program,
    tree,
    toolNames: () => names('tools'),
    waitForTools: (test: (names: readonly string[]) => boolean) => until('tools', test),
    waitForPrompts: (test: (names: readonly string[]) => boolean) => until('prompts', test),
    textOf: async (name: string, args: object = {}): Promise<string> =>
      (await program.call(name, args)).content[0].text,
  };
}

/** Settles when the journal has that. */
export const noted = (journal: string, what: RegExp) =>
  eventually(() => existsSync(journal) && what.test(readFileSync(journal, 'utf8')), String(what));

/** What `doctor` says with the hub. It does not block this process, which may be one of the servers. */
export function doctor(tree: Tree, ...args: readonly string[]): Promise<string> {
  const all = [PROGRAM, 'doctor', ...viewOf(tree), ...args];
  return new Promise((done) => {
    execFile(process.execPath, all, { cwd: tree.path, env: environmentOf(tree) }, (_error, stdout, stderr) =>
      done(stdout + stderr),
    );
  });
}

/** By its name, the status of each server. */
export async function statesOf(tree: Tree): Promise<Readonly<Record<string, Answer>>> {
  const { upstreams } = JSON.parse(await doctor(tree, '--json'));
  return Object.fromEntries(upstreams.map((one: Answer) => [one.name, one]));
}
