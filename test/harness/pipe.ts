/** A pipe of the operating system, as a shell makes it. Node connects children by sockets, which behave differently. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { Tree } from './tree.ts';

export interface Pipe {
  /** For us; it does not wait for data. */
  readonly reader: number;
  /** For the child; ours must be closed once the child has it. */
  readonly writer: number;
  closeReader(): void;
  closeWriter(): void;
}

export function makePipe(t: TestContext, tree: Tree, name: string): Pipe {
  const path = makeFifo(tree, name);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  const open = new Set([reader, writer]);
  const close = (end: number) => {
    if (open.delete(end)) closeSync(end);
  };
  t.after(() => {
    for (const end of open) closeSync(end);
  });
  return { reader, writer, closeReader: () => close(reader), closeWriter: () => close(writer) };
}

export function makeFifo(tree: Tree, name: string): string {
  const path = tree.at(name);
  execFileSync('mkfifo', [path]);
  return path;
}
