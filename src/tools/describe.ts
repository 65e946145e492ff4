/**
 * The description of the `skill` tool: how to use it, and which skills there are.
 * Owns: the wording, and fitting it into a budget. Leaves alone: which skills are listed (catalog), for whom (hosts).
 * Always true: `compact` is never longer than its budget; equal skills give equal text.
 */
import type { Listed, View } from '../model.ts';
import { oneLine, shorten, xml } from './text.ts';

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
- Before you start a task, look through <available_skills>. When a description fits, load that skill and follow it.
- Give its name and nothing else: {"name": "pdf"}. Case does not matter.
- Several skills may share a name. A prefix chooses one of them: {"name": "claude:pdf"}, {"name": "some-plugin:pdf"}.
- The answer names the skill's base directory; paths inside the skill are relative to it.
- Load only what is listed, and nothing twice.

Where skills come from: directories with a SKILL.md in this project, in the user's home, and in plugins; <location> says which. Skills that are added or changed while this server runs appear here by themselves.${finder}

<available_skills>
${listed.length === 0 ? NO_ENTRY : listed.map(entryOf).join('\n')}
</available_skills>`;
}

const NO_ENTRY = `<skill>
<name>none</name>
<description>${NONE}</description>
<location>none</location>
</skill>`;

// A skill that has not changed is the same object in the next snapshot, and so is its entry.
const entries = new WeakMap<object, { readonly id: string; readonly entry: string }>();

function entryOf({ id, skill }: Listed): string {
  const known = entries.get(skill);
  if (known?.id === id) return known.entry;
  const entry = `<skill>
<name>${xml(id)}</name>
<description>${xml(skill.description)}</description>
<location>${skill.location}</location>
</skill>`;
  entries.set(skill, { id, entry });
  return entry;
}

function describePlainly(listed: readonly Listed[]): string {
  const lines = listed.map(({ id, skill }) => `- ${oneLine(id)}: ${oneLine(skill.description)}`);
  return `Load a skill by name to get specialized instructions.

Available skills:
${listed.length === 0 ? `- none: ${NONE}` : lines.join('\n')}`;
}

// Below this a description says nothing, and the room is better used for names.
const SHORTEST_DESCRIPTION = 12;

function describeCompactly(listed: readonly Listed[], budget: number, search: string | undefined): string {
  const finder = search === undefined ? '' : ` ${search} finds more about them.`;
  const wrap = (lead: string, lines: readonly string[]) =>
    `${lead}\n<available_skills>\n${lines.join('\n')}\n</available_skills>`;
  if (listed.length === 0) return shorten(wrap(LEAD, [`none: ${NONE}`]), budget);
  const named = listed.map(({ id, skill }) => ({
    name: xml(oneLine(id)),
    about: xml(oneLine(skill.description)),
  }));

  const withDescriptions = (length: number) =>
    wrap(
      LEAD + finder,
      named.map(({ name, about }) => `- ${name}: ${shorten(about, length)}`),
    );
  const longest = Math.max(...named.map(({ about }) => about.length));
  const length = largest(SHORTEST_DESCRIPTION, longest, (one) => withDescriptions(one).length <= budget);
  if (length !== undefined) return withDescriptions(length);

  const names = named.map(({ name }) => name);
  const bare = wrap(SHORT_LEAD, names);
  if (bare.length <= budget) return bare;
  const partly = (count: number) => {
    const rest = names.length - count;
    const pointer = search === undefined ? `… and ${rest} more` : `… and ${rest} more: find them with ${search}`;
    return wrap(SHORT_LEAD, [...names.slice(0, count), pointer]);
  };
  const count = largest(0, names.length - 1, (one) => partly(one).length <= budget) ?? 0;
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
