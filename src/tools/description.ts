/**
 * The description of the `skill` tool: how to use it, and which skills there are.
 * Owns: the wording, and fitting it into a budget. Leaves alone: the form and the budget of a client (methods/hosts.ts).
 * Always true: `compact` and `auto` are never longer than their budget; equal skills give equal text; nothing in a name or
 * a description can end its element or begin another.
 */
import { LEAST_ABOUT } from '../limits.ts';
import type { ListedSkill, ToolView } from '../model.ts';
import { cut, shorten, visibleLine, xml } from '../text.ts';

/** `onCompact`: called when the full form is longer than the budget of a client that may get either. */
export function describeSkills(listed: readonly ListedSkill[], view: ToolView, onCompact = () => {}): string {
  const { describe, budget, spell } = view;
  const search = spell('skills.search');
  if (describe === 'list') return describePlainly(listed);
  if (describe === 'full') return describeFully(listed, search);
  if (describe === 'auto') {
    // White space may go, so it may fit when the descriptions are longer. When they are far longer it is not made.
    const size = listed.reduce((sum, { skill }) => sum + skill.description.length, 0);
    const full = size > 4 * budget ? undefined : describeFully(listed, search);
    if (full !== undefined && full.length <= budget) return full;
    onCompact();
  }
  return describeCompactly(listed, search, budget);
}

// --- internal ---

const NONE = 'No skills were found.';

function describeFully(listed: readonly ListedSkill[], search: string | undefined): string {
  const finder = search === undefined ? '' : ` ${search} looks inside them.`;
  const entries = listed.map(({ id, skill }) => entryFor(id, skill.description, skill.location));
  if (entries.length === 0) entries.push(entryFor('none', NONE, 'none'));
  const lead = `Load a skill: instructions for one kind of task, written by this user, their team or a plugin.

How to use it:
- Before you start a task, look through the skills listed below. When a description fits, load that skill and follow it.
- Give its name and nothing else: {"name": "pdf"}. Case does not matter.
- Several skills may share a name. A prefix chooses one of them: {"name": "claude:pdf"}, {"name": "some-plugin:pdf"}.
- The answer names the skill's base directory; paths inside the skill are relative to it.
- Load only what is listed, and nothing twice.

Where skills come from: directories with a SKILL.md in this project, in the user's home, and in plugins; the location says which. Skills that are added or changed while this server runs appear here by themselves.${finder}

<available_skills>`;
  return [lead, ...entries, '</available_skills>'].join('\n');
}

const entryFor = (name: string, description: string, location: string) => `<skill>
<name>${xml(visibleLine(name))}</name>
<description>${xml(visibleLine(description))}</description>
<location>${location}</location>
</skill>`;

function describePlainly(listed: readonly ListedSkill[]): string {
  const lines = listed.map(({ id, skill }) => `- ${visibleLine(id)}: ${visibleLine(skill.description)}`);
  return `Load a skill by name to get specialized instructions.

Available skills:
${lines.join('\n') || `- none: ${NONE}`}`;
}

const LEAD = 'Load the skill that fits your task, by its name, before you start, and follow it.';
const shell = (lines: readonly string[]) => `${LEAD}\n<available_skills>\n${lines.join('\n')}\n</available_skills>`;

/** All names with descriptions of one length; or all names; or as many names as fit, and the number of the others. */
function describeCompactly(listed: readonly ListedSkill[], search: string | undefined, budget: number): string {
  if (listed.length === 0) return shell([`none: ${NONE}`]);
  const more = (count: number) => `… and ${count} more${search === undefined ? '' : `: find them with ${search}`}`;
  const all = entriesWithin(listed, budget - shell([]).length);
  const hasAll = all.length === listed.length;
  const shown = hasAll ? all : entriesWithin(listed, budget - shell([more(listed.length)]).length);
  const tail = hasAll ? [] : [more(listed.length - shown.length)];
  const textWith = (length: number) => {
    const isBare = length < LEAST_ABOUT;
    const lines = shown.map(({ name, about }) => (isBare ? name : `- ${name}: ${xml(shorten(about, length))}`));
    return shell([...lines, ...tail]);
  };
  // The greatest length that fits, by bisection.
  let length = 0;
  for (let limit = budget; length < limit; ) {
    const middle = Math.ceil((length + limit) / 2);
    if (textWith(middle).length <= budget) length = middle;
    else limit = middle - 1;
  }
  return textWith(length);
}

/** The first skills whose names fit. Of ten thousand, only some hundred are looked into. */
function entriesWithin(listed: readonly ListedSkill[], budget: number) {
  const entries: { readonly name: string; readonly about: string }[] = [];
  let room = budget;
  for (const { id, skill } of listed) {
    if (id.length >= room) continue;
    const name = xml(visibleLine(id));
    if (name.length >= room) continue;
    room -= name.length + 1;
    // Descriptions may be long, and white space may go.
    entries.push({ name, about: visibleLine(cut(skill.description, 2 * budget)) });
  }
  return entries;
}
