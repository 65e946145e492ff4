/**
 * The description of the `skill` tool: how to use it, and which skills there are.
 * Owns: the wording, and fitting it into a budget. Leaves alone: which skills are listed (catalog), for whom (hosts).
 * Always true: `compact` is never longer than its budget; equal skills give equal text.
 */
import type { Listed, View } from '../model.ts';
import { oneLine, shorten, xml } from '../text.ts';

/** `search`: the name of the tool that finds skills that are not shown, if there is one. */
export function describeSkills(listed: readonly Listed[], view: View, search: string | undefined): string {
  switch (view.describe) {
    case 'full':
      return describeFully(listed, search);
    case 'list':
      return describePlainly(listed);
    case 'compact':
      return describeCompactly(listed, view.budget, search);
  }
}

// --- internal ---

const NONE = 'No skills were found.';

function describeFully(listed: readonly Listed[], search: string | undefined): string {
  const finder = search === undefined ? '' : ` ${search} looks inside them.`;
  return `Load a skill: instructions for one kind of task, written by this user, their team or a plugin.

How to use it:
- Before you start a task, look through the skills listed below. When a description fits, load that skill and follow it.
- Give its name and nothing else: {"name": "pdf"}. Case does not matter.
- Several skills may share a name. A prefix chooses one of them: {"name": "claude:pdf"}, {"name": "some-plugin:pdf"}.
- The answer names the skill's base directory; paths inside the skill are relative to it.
- Load only what is listed, and nothing twice.

Where skills come from: directories with a SKILL.md in this project, in the user's home, and in plugins; the location says which. Skills that are added or changed while this server runs appear here by themselves.${finder}

<available_skills>
${listed.length === 0 ? NO_ENTRY : listed.map(entryOf).join('\n')}
</available_skills>`;
}

const NO_ENTRY = `<skill>
<name>none</name>
<description>${NONE}</description>
<location>none</location>
</skill>`;

function entryOf({ id, skill }: Listed): string {
  return `<skill>
<name>${xml(id)}</name>
<description>${xml(skill.description)}</description>
<location>${skill.location}</location>
</skill>`;
}

function describePlainly(listed: readonly Listed[]): string {
  const lines = listed.map(({ id, skill }) => `- ${oneLine(id)}: ${oneLine(skill.description)}`);
  return `Load a skill by name to get specialized instructions.

Available skills:
${listed.length === 0 ? `- none: ${NONE}` : lines.join('\n')}`;
}

// Below this a description says nothing, and the room is better used for names.
const SHORTEST_DESCRIPTION = 12;

/** All names with descriptions of one length; or all names; or as many as fit and how many more there are. */
function describeCompactly(listed: readonly Listed[], budget: number, search: string | undefined): string {
  if (listed.length === 0) return shorten(shell(LEAD, [`none: ${NONE}`]), budget);
  const names = namesWithin(listed, budget);
  const finder = search === undefined ? '' : ` ${search} finds more about them.`;
  const leads = [LEAD + finder, SHORT_LEAD + finder, SHORT_LEAD].filter((lead) => shell(lead, names).length <= budget);
  if (names.length < listed.length || leads.length === 0) return describePartly(names, listed.length, budget, search);
  for (const lead of leads) {
    const lines = linesWithin(listed, names, budget - shell(lead, names).length);
    if (lines) return shell(lead, lines);
  }
  return shell(leads[0] ?? SHORT_LEAD, names);
}

const shell = (lead: string, lines: readonly string[]) =>
  `${lead}\n<available_skills>\n${lines.join('\n')}\n</available_skills>`;

/** The names up to the first that cannot fit: of ten thousand, a hundred are looked at. */
function namesWithin(listed: readonly Listed[], budget: number): readonly string[] {
  const names: string[] = [];
  let length = 0;
  for (const { id } of listed) {
    const name = xml(oneLine(id));
    length += name.length + 1;
    if (length > budget) break;
    names.push(name);
  }
  return names;
}

/** Each name with as much of its description as all can have in this room; undefined when that is too little. */
function linesWithin(listed: readonly Listed[], names: readonly string[], room: number): readonly string[] | undefined {
  const abouts = listed.map(({ skill }) => oneLine(skill.description));
  // What is around a description, and what its escapes may add to it.
  const fixed = abouts.reduce((sum, about) => sum + '- : '.length + xml(about).length - about.length, 0);
  const longest = abouts.reduce((most, about) => Math.max(most, about.length), 0);
  const need = (length: number) => abouts.reduce((sum, about) => sum + Math.min(about.length, length), fixed);
  const length = largest(SHORTEST_DESCRIPTION, longest, (one) => need(one) <= room);
  if (length === undefined) return undefined;
  return names.map((name, at) => `- ${name}: ${xml(shorten(abouts[at] ?? '', length))}`);
}

function describePartly(names: readonly string[], total: number, budget: number, search: string | undefined): string {
  const partly = (count: number) => {
    const more = `… and ${total - count} more`;
    return shell(SHORT_LEAD, [
      ...names.slice(0, count),
      search === undefined ? more : `${more}: find them with ${search}`,
    ]);
  };
  const count = largest(0, Math.min(names.length, total - 1), (one) => partly(one).length <= budget) ?? 0;
  return shorten(partly(count), budget);
}

const LEAD =
  'Load a skill: instructions for one kind of task. When one of these fits the task, load it by its name before you start, and follow it.';
const SHORT_LEAD = 'Load the skill that fits your task, by name.';

/** The largest whole number from `low` to `high` that fits; undefined when not even `low` does. */
function largest(low: number, high: number, fits: (value: number) => boolean): number | undefined {
  if (!fits(low)) return undefined;
  let [good, limit] = [low, Math.max(low, high)];
  while (good < limit) {
    const middle = Math.ceil((good + limit) / 2);
    if (fits(middle)) good = middle;
    else limit = middle - 1;
  }
  return good;
}
