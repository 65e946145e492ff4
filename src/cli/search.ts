/**
 * `skillwire search`: the skills that contain all words, best first, with the place where the first word stands.
 * Owns: the output. Leaves alone: how skills are searched, and which queries are accepted (as by `skills.search`).
 */
import * as v from 'valibot';
import { type Hit, searchSkills } from '../skills/search.ts';
import { counted, echo, shorten, visibleLine } from '../text.ts';
import { SearchInput } from '../tools/search.ts';
import type { SearchValues } from './commands.ts';
import { dataOf, type Output, openOutput, originOf } from './output.ts';
import { UsageError } from './parse.ts';
import { withView } from './view.ts';

/** Gives the exit code: 1 when nothing was found. */
export async function search(values: SearchValues, words: readonly string[]): Promise<number> {
  const query = words.join(' ');
  const { issues } = v.safeParse(SearchInput, { query });
  if (issues) throw new UsageError(issues[0].message);
  const { total, hits } = await withView(values, ({ snapshot }) =>
    searchSkills(snapshot.names.listed, query, values.limit),
  );
  const output = openOutput(values);
  if (values.json) {
    const results = hits.map(({ listed, score, excerpt }) => ({ ...dataOf(listed), score, excerpt }));
    output.json({ query, total, results });
  } else {
    const more = hits.length < total ? `; the best ${hits.length}` : '';
    output.lines([
      `${counted(total, 'skill')} for "${echo(query)}"${more}`,
      ...hits.flatMap((hit) => linesOf(hit, output)),
    ]);
  }
  return total > 0 ? 0 : 1;
}

// --- internal ---

function linesOf({ listed, excerpt }: Hit, { paint, width }: Output): readonly string[] {
  return [
    '',
    `${paint('bold', listed.id)}  ${originOf(listed.skill)}`,
    `  ${shorten(visibleLine(listed.skill.description), width - 2)}`,
    `  … ${excerpt} …`,
  ];
}
