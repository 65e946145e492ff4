/** A command of the built program that ends by itself: `runCommand(tree, ['list'])`, in a process of its own. */
import { spawnSync } from 'node:child_process';
import { CACHE_HOME, PROGRAM } from './program.ts';
import type { Tree } from './tree.ts';

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The working directory is the tree; the home is an empty directory inside it, unless `home` has been written. */
export function runCommand(tree: Tree, args: readonly string[], env: Readonly<Record<string, string>> = {}): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: tree.path,
    env: { PATH: process.env.PATH, HOME: tree.at('home'), XDG_CACHE_HOME: CACHE_HOME, ...env },
    encoding: 'utf8',
    input: '',
    timeout: 60_000,
  });
  return { status, stdout, stderr };
}

/** What `--json` gives. */
// biome-ignore lint/suspicious/noExplicitAny: tests look deep into data whose shape is what they assert.
export function dataOf({ stdout }: Ran): any {
  return JSON.parse(stdout);
}
