/**
 * The description of the `skill` tool: how to use it, and which skills there are.
 * Owns: the wording, and fitting it into a budget. Leaves alone: which skills are listed (catalog/), the form that each
 * client gets (methods/host-profiles.ts).
 * Always true: `compact` is never longer than its budget; equal skills give equal text.
 */
import type { ListedSkill, ToolView } from '../model.ts';
import { cut, shorten, visibleLine, xml } from '../text.ts';

/** `search`: the name of the tool that finds skills that are not shown, if there is one. */
export function describeSkills(listed: readonly ListedSkill[], view: ToolView, search: string | undefined): string {
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

function describeFully(listed: readonly ListedSkill[], search: string | undefined): string {
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

function entryOf({ id, skill }: ListedSkill): string {
  return `<skill>
<name>${xml(id)}</name>
<description>${xml(visibleLine(skill.description))}</description>
<location>${skill.location}</location>
</skill>`;
}

function describePlainly(listed: readonly ListedSkill[]): string {
  const lines = listed.map(({ id, skill }) => `- ${visibleLine(id)}: ${visibleLine(skill.description)}`);
  return `Load a skill by name to get specialized instructions.

Available skills:
${listed.length === 0 ? `- none: ${NONE}` : lines.join('\n')}`;
}

// A shorter description says nothing, and names make better use of the space.
const SHORTEST_DESCRIPTION = 12;

// When not all names fit, one that takes the space of many is left out; search finds it.
const LONGEST_NAME = 100;

/** All names with descriptions of one length; or all names; or as many names as fit, and the number of the others. */
function describeCompactly(listed: readonly ListedSkill[], budget: number, search: string | undefined): string {
  if (listed.length === 0) return shorten(shell(LEAD, [`none: ${NONE}`]), budget);
  const finder = search === undefined ? '' : ` ${search} finds more about them.`;
  const all = entriesWithin(listed, budget, Infinity);
  if (all.length === listed.length) {
    const text = describeEntries(all, [LEAD + finder, SHORT_LEAD + finder, SHORT_LEAD], [], budget);
    if (text !== undefined) return text;
  }
  const short = entriesWithin(listed, budget, LONGEST_NAME);
  const tail = (count: number) => [
    `… and ${listed.length - count} more${search === undefined ? '' : `: find them with ${search}`}`,
  ];
  const partly = (count: number) =>
    shell(SHORT_LEAD, [...short.slice(0, count).map(({ name }) => name), ...tail(count)]);
  const count = largest(0, Math.min(short.length, listed.length - 1), (one) => partly(one).length <= budget) ?? 0;
  const text = describeEntries(short.slice(0, count), [LEAD, SHORT_LEAD], tail(count), budget);
  return text ?? shorten(partly(count), budget);
}

const shell = (lead: string, lines: readonly string[]) =>
  `${lead}\n<available_skills>\n${lines.join('\n')}\n</available_skills>`;

interface Entry {
  /** Escaped. */
  readonly name: string;
  readonly description: string;
}

/** The first skills whose names fit, in their order: of ten thousand, only some hundred are escaped and measured. */
function entriesWithin(listed: readonly ListedSkill[], budget: number, longest: number): readonly Entry[] {
  const entries: Entry[] = [];
  let room = budget;
  for (const { id, skill } of listed) {
    if (id.length > longest || id.length >= room) continue;
    const name = xml(visibleLine(id));
    if (name.length >= room) continue;
    room -= name.length + 1;
    entries.push({ name, description: skill.description });
  }
  return entries;
}

/** With the first lead that leaves space for descriptions, else the first that fits; undefined when none does. */
function describeEntries(
  entries: readonly Entry[],
  leads: readonly string[],
  tail: readonly string[],
  budget: number,
): string | undefined {
  const bare = entries.map(({ name }) => name);
  const fitting = leads.filter((lead) => shell(lead, [...bare, ...tail]).length <= budget);
  for (const lead of fitting) {
    const lines = linesWithin(entries, budget - shell(lead, [...bare, ...tail]).length);
    if (lines) return shell(lead, [...lines, ...tail]);
  }
  return fitting[0] === undefined ? undefined : shell(fitting[0], [...bare, ...tail]);
}

/** Each name with as much of its description as fits for all; undefined when that is too little. */
function linesWithin(entries: readonly Entry[], room: number): readonly string[] | undefined {
  // Descriptions may be long, and never more than the whole space is shown.
  const abouts = entries.map(({ description }) => visibleLine(cut(description, 2 * room + SHORTEST_DESCRIPTION)));
  const shownAs = (about: string, length: number) => xml(shorten(about, length));
  const longest = abouts.reduce((most, about) => Math.max(most, about.length), 0);
  const need = (length: number) =>
    abouts.reduce((sum, about) => sum + '- : '.length + shownAs(about, length).length, 0);
  const length = largest(SHORTEST_DESCRIPTION, longest, (one) => need(one) <= room);
  if (length === undefined || entries.length === 0) return undefined;
  return entries.map(({ name }, at) => `- ${name}: ${shownAs(abouts[at] ?? '', length)}`);
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
