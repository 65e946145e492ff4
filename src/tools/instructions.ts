/**
 * The names of the server's own tools, and what the model of a client is told of them.
 * Leaves alone: the tools (table.ts), whose code is loaded after the handshake.
 */
export const TOOL_NAMES = ['skill', 'list', 'search', 'read'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

/** The names that clients call them by. `wanted`: as in the options. */
export function ownToolNames(wanted: 'auto' | readonly ToolName[]): readonly string[] {
  return TOOL_NAMES.filter((name) => wanted === 'auto' || wanted.includes(name)).map((name) => SERVED_AS[name]);
}

/** The text that a client gives to its model. `shown`: the own tools that the client is shown, with its spelling. */
export function instructionsFor(shown: ReadonlyMap<string, string>): string {
  const advice = Object.entries(ADVICE).flatMap(([name, textFor]) => {
    const spelled = shown.get(name);
    return spelled === undefined ? [] : [textFor(spelled)];
  });
  return ['Skills are instructions for particular kinds of tasks.', ...advice].join(' ');
}

// --- internal ---

const SERVED_AS: Readonly<Record<ToolName, string>> = {
  skill: 'skill',
  list: 'skills.list',
  search: 'skills.search',
  read: 'skills.read',
};

const ADVICE: Readonly<Record<string, (name: string) => string>> = {
  skill: (name) =>
    `Before you start a task, see whether one of the skills in the description of the ${name} tool fits; if so, load it by name and follow it.`,
  'skills.list': (name) => `Prefer ${name} for exhaustive metadata about all skills.`,
  'skills.search': (name) => `Prefer ${name} to find a skill by words in its text.`,
  'skills.read': (name) => `${name} gives the files a skill refers to.`,
};
