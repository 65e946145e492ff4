/**
 * Mends the text of a SKILL.md: makes the edits that its findings have. Leaves alone: the file (inspect.ts).
 * Always true: the text has the same name and description as before, unless the name was to be changed; mending twice
 * changes nothing more.
 */
import { readHead } from '../../skills/front-matter.ts';
import { applyEdits } from '../text-edits.ts';
import type { Finding, FixOption, Rule } from './rules.ts';

interface Mended {
  readonly text: string;
  readonly findings: readonly Finding[];
  /** How many findings were mended. */
  readonly count: number;
}

/** `check`: the findings in a text. */
export async function mend(
  text: string,
  findings: readonly Finding[],
  options: readonly FixOption[],
  check: (text: string) => Promise<readonly Finding[]>,
): Promise<Mended> {
  let now: Mended = { text, findings, count: 0 };
  const done = new Set<Rule>();
  // One rule after the other: its edits do not overlap, and mending one can bring others to light.
  for (;;) {
    const open = now.findings.filter(({ rule, fix }) => fix && options.includes(fix.by) && !done.has(rule));
    const [first] = open;
    if (!first) return now;
    done.add(first.rule);
    const fixes = open.filter(({ rule }) => rule === first.rule).flatMap(({ fix }) => fix ?? []);
    const edited = applyEdits(
      now.text,
      fixes.flatMap(({ edits }) => edits),
    );
    const next = { text: edited, findings: await check(edited), count: now.count + fixes.length };
    if (await isSafe(now, next, options)) now = next;
  }
}

// --- internal ---

/** Whether the skill is still what it was, and its front matter no worse. */
async function isSafe(before: Mended, after: Mended, options: readonly FixOption[]): Promise<boolean> {
  const isBroken = ({ findings }: Mended) => findings.some(({ rule }) => rule === 'yaml' || rule === 'front-matter');
  if (isBroken(after) && !isBroken(before)) return false;
  const [old, next] = [await readHead(Buffer.from(before.text)), await readHead(Buffer.from(after.text))];
  if (old.kind === 'unusable') return true;
  if (next.kind === 'unusable' || next.description !== old.description) return false;
  return next.name === old.name || options.includes('fix-names');
}
