/**
 * Refreshes as lines of the log.
 * Always true: a refresh is one line; one that brings nothing new is a line for people only when the timer asked for it,
 * so that they see the timer run; a Problem is logged when it first appears, and again when it comes back.
 */
import type { Log } from '../log.ts';
import type { Problem, Snapshot } from '../model.ts';
import { counted } from '../text.ts';
import type { Refreshed } from './registry.ts';

export function createRefreshReport(log: Log): (refreshed: Refreshed) => void {
  let reported: ReadonlyMap<string, Problem> = new Map();
  return ({ reason, before, after, change, milliseconds }) => {
    const found = `${counted(after.names.listed.length, 'skill')} in ${milliseconds} ms`;
    const now = new Map(after.problems.map((problem) => [`${problem.where}: ${problem.what}`, problem]));
    for (const [text, { mild }] of now) if (!reported.has(text)) log[mild ? 'debug' : 'warn'](text);
    reported = now;
    if (!before) return log.info(`ready: ${found}`);
    const { added, changed, removed } = change;
    const news = [
      ...(added + changed + removed > 0 ? [`${added} added, ${changed} changed, ${removed} removed`] : []),
      ...compareKeys('tool', toolsIn(before), toolsIn(after)),
      ...compareKeys('resource', before.resources, after.resources),
      ...compareKeys('prompt', promptsIn(before), promptsIn(after)),
    ];
    const isTimed = reason.split(', ').includes('timer');
    const level = news.length > 0 || isTimed ? 'info' : 'debug';
    log[level](`refresh (${reason}): ${[...(news.length > 0 ? news : ['no change']), found].join('; ')}`);
  };
}

// --- internal ---

const toolsIn = ({ tools }: Snapshot) => new Set(tools.map(({ name }) => name));
const promptsIn = ({ prompts }: Snapshot) => new Set(prompts.map(({ definition }) => definition.name));

interface Keys {
  has(key: string): boolean;
  keys(): Iterable<string>;
}

/** "26 tools added" */
function compareKeys(noun: string, before: Keys, after: Keys): readonly string[] {
  const countIn = (one: Keys, other: Keys) => [...one.keys()].filter((key) => !other.has(key)).length;
  const counts = [
    ['added', countIn(after, before)],
    ['removed', countIn(before, after)],
  ] as const;
  return counts.flatMap(([word, count]) => (count > 0 ? [`${counted(count, noun)} ${word}`] : []));
}
