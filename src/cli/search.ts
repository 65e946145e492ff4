/**
 * `skillwire search`: the skills that contain all words, best first, with the place where the first word stands.
 * Owns: the output. Leaves alone: how skills are searched, and how long a query may be: as for the `skills.search` tool.
 */
import { RpcError } from '../protocol/index.ts';
import { type Hit, patternOf, searchSkills, wordsOf } from '../skills/search.ts';
import { oneLine } from '../text.ts';
import { SEARCH_INPUT } from '../tools/search.ts';
import { countOf } from '../tools/summary.ts';
import { checkedArguments } from '../tools/tool.ts';
import { clip, type Output, openOutput, paragraph } from './output.ts';
import { UsageError, type Values } from './parse.ts';
import { dataOf, originOf } from './skill-data.ts';
import { withShown } from './view.ts';
import type { SEARCH_OPTIONS } from './view-options.ts';

/** Gives the exit code: 1 when nothing was found. */
export async function search(values: Values<typeof SEARCH_OPTIONS>, words: readonly string[]): Promise<number> {
  const query = checkedQuery(words.join(' '));
  const { total, hits } = await withShown(values, ({ snapshot }) =>
    searchSkills(snapshot.names.listed, query, values.limit, new AbortController().signal),
  );
  const output = openOutput(values);
  if (values.json) {
    const results = hits.map(({ listed, score, excerpt }) => ({ ...dataOf(listed), score, excerpt }));
    output.json({ query, total, results });
  } else {
    const head = `${countOf(total)} for "${oneLine(query)}"${hits.length < total ? `; the best ${hits.length}` : ''}`;
    const mark = createMarker(query, output);
    output.lines([head, ...hits.flatMap((hit) => ['', ...hitLines(hit, mark, output)])]);
  }
  return total > 0 ? 0 : 1;
}

// --- internal ---

function checkedQuery(query: string): string {
  if (query.trim() === '') throw new UsageError('query is required: the words to look for');
  try {
    return checkedArguments(SEARCH_INPUT, { query }).query;
  } catch (error) {
    throw error instanceof RpcError ? new UsageError(error.message.replace(/^invalid params: /, '')) : error;
  }
}

function hitLines(
  { listed, excerpt }: Hit,
  mark: (text: string) => string,
  { width, paint }: Output,
): readonly string[] {
  const about = clip(oneLine(listed.skill.description), width - INDENT.length);
  const around = paragraph(`… ${oneLine(excerpt)} …`, width - INDENT.length);
  return [
    `${paint('bold', oneLine(listed.id))}  ${oneLine(originOf(listed.skill))}`,
    ...[about, ...around].map((line) => INDENT + mark(line)),
  ];
}

const INDENT = '  ';

/** Gives a function that highlights the words of the query. */
function createMarker(query: string, { paint }: Output): (text: string) => string {
  const longestFirst = wordsOf(query).toSorted((a, b) => b.length - a.length);
  const words = new RegExp(longestFirst.map((word) => patternOf(word).source).join('|'), 'giu');
  return (text) => text.replace(words, (word) => paint('yellow', word));
}
