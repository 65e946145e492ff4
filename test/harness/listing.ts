/** The skills that an agent is shown, and the warnings of the program, as short lines to compare in a test. */
import type { Program } from './program.ts';

/** `name (location)` of every skill in the `skill` tool's description, in its order. */
export async function listed(program: Program): Promise<readonly string[]> {
  const entries = (await program.description()).matchAll(ENTRY);
  return [...entries].map(([, name = '', location = '']) => `${unxml(name)} (${location})`);
}

/** Their names alone. */
export async function names(program: Program): Promise<readonly string[]> {
  return (await listed(program)).map((entry) => entry.replace(/ \(\w+\)$/, ''));
}

/** The warnings of a program so far, without the paths that differ from run to run, nor that it has no skills at all. */
export function warnings(program: Program, path: string): readonly string[] {
  const lines = program.stderr().split('\n');
  return lines.flatMap(
    (line) => /skillwire: warn: (?!no skills: )(.*)$/.exec(line)?.[1]?.replaceAll(`${path}/`, '') ?? [],
  );
}

const ENTRY = /<skill>\n<name>([^<]*)<\/name>\n<description>[^<]*<\/description>\n<location>(\w+)<\/location>/g;

function unxml(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
