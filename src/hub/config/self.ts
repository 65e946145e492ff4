/** Whether an entry starts this program: every host that uses skillwire has such an entry. Loops have a guard besides (hops.ts). */
import type { Entry } from './entries.ts';

export function startsSkillwire(entry: Entry | Error): boolean {
  if (entry instanceof Error || entry.kind !== 'stdio') return false;
  // The first word that is neither an option nor a program that runs others. Later ones may be any directory or name.
  const isProgram = (word: string) => !/^-|^\/[a-z]$/i.test(word) && !RUNNERS.has(programName(word));
  return /^skillwire(?:-stdio)?$/.test(programName([entry.command, ...entry.args].find(isProgram) ?? ''));
}

// --- internal ---

const RUNNERS: ReadonlySet<string> = new Set('npx npm pnpx pnpm yarn bunx bun deno node cmd exec dlx run x'.split(' '));

/** `C:\npm\npx.CMD` is `npx`, `skillwire@0.2.0` and `dist/skillwire.cjs` are `skillwire`. */
function programName(word: string): string {
  // Not by one pattern: the time must stay linear.
  const file = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1).toLowerCase();
  const version = file.indexOf('@', 1);
  return (version === -1 ? file : file.slice(0, version)).replace(/\.(?:cjs|mjs|js|cmd|exe|ps1)$/, '');
}
