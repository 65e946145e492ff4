/** One SKILL.md, checked: `await found(t, text)` gives its findings as `line:column rule`. */
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { inspect } from '../../src/cli/check/inspect.ts';
import type { FixOption } from '../../src/cli/check/rules.ts';
import { makeTree } from './tree.ts';

/** In a directory of that name, beside the other files. */
export interface Around {
  readonly directory?: string;
  readonly files?: Readonly<Record<string, string>>;
}

export async function found(t: TestContext, text: string | Uint8Array, around: Around = {}) {
  return (await inspectText(t, text, [], around)).findings.map(({ line, column, rule }) => `${line}:${column} ${rule}`);
}

export async function messages(t: TestContext, text: string | Uint8Array, around: Around = {}) {
  return (await inspectText(t, text, [], around)).findings.map(({ message }) => message);
}

/** The text after mending it. */
export async function mended(t: TestContext, text: string, fixes: readonly FixOption[], around: Around = {}) {
  return (await inspectText(t, text, fixes, around)).after;
}

async function inspectText(
  t: TestContext,
  text: string | Uint8Array,
  fixes: readonly FixOption[],
  { directory = 'pdf', files = {} }: Around,
) {
  const tree = makeTree(t);
  for (const [name, content] of Object.entries(files)) tree.write(`${directory}/${name}`, content);
  const path = tree.write(`${directory}/SKILL.md`, text);
  const { findings } = await inspect({ path, home: tree.at(directory), name: 'SKILL.md' }, fixes);
  return { findings, after: readFileSync(path, 'utf8') };
}

/** Front matter of a good skill, with more lines in it. */
export function withHead(...lines: readonly string[]): string {
  return ['---', 'name: pdf', 'description: About pdf', ...lines, '---', '# pdf', ''].join('\n');
}
