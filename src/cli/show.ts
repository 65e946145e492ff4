/**
 * `skillwire show`: one skill as an agent gets it.
 * Owns: what a person is told of a name that means no skill, or several. Leaves alone: the text (tools/skill.ts).
 */
import { basename, dirname } from 'node:path';
import { messageOf } from '../log.ts';
import type { Problem, Resolution, Snapshot } from '../model.ts';
import { nameKey } from '../skills/names.ts';
import { echo } from '../text.ts';
import { skillText } from '../tools/skill.ts';
import type { ViewValues } from './commands.ts';
import { dataOf, openOutput } from './output.ts';
import { complain } from './process.ts';
import { withView } from './view.ts';

/** Gives the exit code. */
export async function show(values: ViewValues, [name = '']: readonly string[]): Promise<number> {
  const shown = await withView(values, ({ snapshot }) => load(name, snapshot));
  const output = openOutput(values);
  if (values.json) output.json('error' in shown ? { name, ...shown } : shown);
  else if ('text' in shown) output.text(shown.text);
  if (!('error' in shown)) return 0;
  complain(shown.error);
  return 1;
}

// --- internal ---

async function load(name: string, snapshot: Snapshot) {
  const resolution = snapshot.names.resolve(name);
  if (resolution.kind !== 'found') return { error: whyNot(name, resolution, snapshot) };
  try {
    return { ...dataOf(resolution.listed), text: await skillText(resolution.listed) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

function whyNot(name: string, found: Exclude<Resolution, { kind: 'found' }>, { names, problems }: Snapshot): string {
  if (found.kind === 'ambiguous')
    return `several skills are called "${echo(name)}": use one of the full names ${found.ids.join(', ')}`;
  // A skill in a directory of that name that was not loaded: a person can mend it.
  const key = nameKey(name.slice(name.lastIndexOf(':') + 1));
  const loaded = new Set(names.listed.map(({ skill }) => skill.file));
  const isMeant = ({ where }: Problem) => nameKey(basename(dirname(where))) === key && !loaded.has(where);
  const faults = problems.filter(isMeant).map(({ where, what }) => `${where}: ${what}`);
  if (faults.length > 0) return `no skill "${echo(name)}" is loaded: ${faults.join('; ')}`;
  const near = found.near.length > 0 ? `did you mean ${found.near.join(', ')}?` : 'skillwire list shows all';
  return `there is no skill "${echo(name)}"; ${near}`;
}
