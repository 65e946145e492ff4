/**
 * The description of the `skill` tool: how to use it, and which skills there are.
 * Owns: the wording, and fitting it into a budget. Leaves alone: the form that each client gets (methods/host-profiles.ts).
 * Always true: `compact` and `auto` are never longer than their budget; equal skills give equal text.
 */
import type { ListedSkill, ToolView } from '../model.ts';
import { cut, shorten, visibleLine, xml, xmlLine } from '../text.ts';

/**
 * `search`: the name of the tool that finds skills that are not shown, if there is one. `onCompact`: called when the form
 * was left open and the full one does not fit.
 */
export function describeSkills(
  listed: readonly ListedSkill[],
  { describe, budget, inBytes }: ToolView,
  search: string | undefined,
  onCompact: () => void = () => {},
): string {
  if (describe === 'full') return describeFully(listed, search);
  if (describe === 'list') return describePlainly(listed);
  const lengthOf = (text: string) => (inBytes ? Buffer.byteLength(text) : text.length);
  if (describe === 'auto') {
    // The entries of thousands of skills need not be made to see that they do not fit.
    const full = listed.length * SHORTEST_ENTRY > budget ? undefined : describeFully(listed, search);
    if (full !== undefined && lengthOf(full) <= budget) return full;
    onCompact();
  }
  let text = describeCompactly(listed, search, budget);
  // Where bytes count, as many characters fewer as it has bytes too many, in proportion.
  for (let room = budget; lengthOf(text) > budget; ) {
    room = Math.floor((room * budget) / lengthOf(text));
    text = describeCompactly(listed, search, room);
  }
  return text;
}

// --- internal ---

const NONE = 'No skills were found.';

function describeFully(listed: readonly ListedSkill[], search: string | undefined): string {
  const finder = search === undefined ? '' : ` ${search} looks inside them.`;
  const entries = listed.map(({ id, skill }) => entry(id, skill.description, skill.location));
  if (entries.length === 0) entries.push(entry('none', NONE, 'none'));
  const lead = `Load a skill: instructions for one kind of task, written by this user, their team or a plugin.

How to use it:
- Before you start a task, look through the skills listed below. When a description fits, load that skill and follow it.
- Give its name and nothing else: {"name": "pdf"}. Case does not matter.
- Several skills may share a name. A prefix chooses one of them: {"name": "claude:pdf"}, {"name": "some-plugin:pdf"}.
- The answer names the skill's base directory; paths inside the skill are relative to it.
- Load only what is listed, and nothing twice.

Where skills come from: directories with a SKILL.md in this project, in the user's home, and in plugins; the location says which. Skills that are added or changed while this server runs appear here by themselves.${finder}

<available_skills>`;
  // Joined in one step: the text of ten thousand skills has megabytes, and is not copied once more.
  return [lead, ...entries, '</available_skills>'].join('\n');
}

const entry = (name: string, description: string, location: string) => `<skill>
<name>${xmlLine(name)}</name>
<description>${xmlLine(description)}</description>
<location>${location}</location>
</skill>`;

const SHORTEST_ENTRY = entry('', '', '').length;

function describePlainly(listed: readonly ListedSkill[]): string {
  const lines = listed.map(({ id, skill }) => `- ${visibleLine(id)}: ${visibleLine(skill.description)}`);
  return `Load a skill by name to get specialized instructions.

Available skills:
${lines.join('\n') || `- none: ${NONE}`}`;
}

const LEAD = 'Load the skill that fits your task, by its name, before you start, and follow it.';

// A shorter description says nothing, and names make better use of the space.
const SHORTEST_DESCRIPTION = 12;

// When not all names fit, one that takes the space of many is left out; search finds it.
const LONGEST_NAME = 100;

/** All names with descriptions of one length; or all names; or as many names as fit, and the number of the others. */
function describeCompactly(listed: readonly ListedSkill[], search: string | undefined, budget: number): string {
  const more = (count: number) => `… and ${count} more${search === undefined ? '' : `: find them with ${search}`}`;
  const roomBeside = (lines: readonly string[]) => budget - shell(lines).length;
  const all = entriesWithin(listed, roomBeside([]), Number.POSITIVE_INFINITY);
  const hasAll = all.length === listed.length;
  const shown = hasAll ? all : entriesWithin(listed, roomBeside([more(listed.length)]), LONGEST_NAME);
  const tail = hasAll ? [] : [more(listed.length - shown.length)];
  const bare = [...shown.map(({ name }) => name), ...tail];
  const lines = linesWithin(shown, roomBeside(bare));
  return lines ? shell([...lines, ...tail]) : shorten(shell(listed.length > 0 ? bare : [`none: ${NONE}`]), budget);
}

const shell = (lines: readonly string[]) => `${LEAD}\n<available_skills>\n${lines.join('\n')}\n</available_skills>`;

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
    const name = xmlLine(id);
    if (name.length >= room) continue;
    room -= name.length + 1;
    entries.push({ name, description: skill.description });
  }
  return entries;
}

/** Each name with as much of its description as fits for all; undefined when that is too little. */
function linesWithin(entries: readonly Entry[], room: number): readonly string[] | undefined {
  // Descriptions may be long, and never more than the whole space is shown.
  const abouts = entries.map(({ description }) => visibleLine(cut(description, 2 * room + SHORTEST_DESCRIPTION)));
  const shownAs = (about: string, length: number) => xml(shorten(about, length));
  const fits = (length: number) =>
    abouts.reduce((sum, about) => sum + '- : '.length + shownAs(about, length).length, 0) <= room;
  if (entries.length === 0 || !fits(SHORTEST_DESCRIPTION)) return undefined;
  // The greatest length that fits, by bisection.
  let length = SHORTEST_DESCRIPTION;
  let limit = abouts.reduce((most, about) => Math.max(most, about.length), length);
  while (length < limit) {
    const middle = Math.ceil((length + limit) / 2);
    if (fits(middle)) length = middle;
    else limit = middle - 1;
  }
  return entries.map(({ name }, at) => `- ${name}: ${shownAs(abouts[at] ?? '', length)}`);
}
