/**
 * The skills that an agent finds by itself, left out of what it is shown (`--skip-own`).
 * Owns: the directories that each agent reads. Leaves alone: which client is which agent (host-profiles.ts).
 * Always true: a skill that is left out still loads by its name; one that the agent may not find by itself is shown, for
 * a skill that is shown twice costs less than one that is not shown at all.
 */
import { dirname, join } from 'node:path';
import { lazy } from '../lazy.ts';
import type { Skill, Snapshot } from '../model.ts';
import { claudeHome, codexHome, expandHome, type Surroundings } from '../skills/roots.ts';
import { perSnapshot } from './lists.ts';

export type Agent = keyof ReturnType<typeof agents>;

/** The snapshot without the skills that this agent finds by itself. `agent` undefined: the snapshot itself. */
export type ShowTo = (snapshot: Snapshot, agent: Agent | undefined) => Snapshot;

export function createShowTo(surroundings: Surroundings): ShowTo {
  const without = perSnapshot((snapshot, agent: Agent): Snapshot => {
    const { names } = snapshot;
    const isOwn = createOwnTest(agents()[agent], surroundings);
    // Of one directory that several agents link to, only the first is listed: the agent at hand may have another link.
    const found = [...names.originals].filter(([copy]) => isOwn(copy)).map(([, original]) => original);
    const own = new Set([...found, ...names.listed.map(({ skill }) => skill).filter(isOwn)]);
    const [listed, visible] = [names.listed, names.visible].map((all) => all.filter(({ skill }) => !own.has(skill)));
    return { ...snapshot, names: { ...names, listed: listed ?? [], visible: visible ?? [] } };
  }, String);
  return (snapshot, agent) => (agent === undefined ? snapshot : without(snapshot, agent));
}

// --- internal ---

interface Habits {
  /** Each has a directory `skills`; those in the home begin with `~/`, the others are in the project. */
  readonly directories: readonly string[];
  /** One more in the home, which its user may have moved. */
  readonly home?: (surroundings: Surroundings) => string;
  /** It searches these deeply. Other agents read only what lies directly in them. */
  readonly isDeep?: true;
  /** It reads Claude Code's plugins too. */
  readonly hasPlugins?: true;
}

const alike = (name: string): Habits => ({ directories: [name, `~/${name}`] });

const UNIVERSAL = ['.agents', '~/.agents'];

const agents = lazy(
  () =>
    ({
      amp: { directories: ['.agents', '~/.config/agents'] },
      antigravity: { directories: ['.agent', '~/.gemini/antigravity'] },
      claude: { directories: ['.claude'], home: claudeHome, hasPlugins: true },
      cline: { directories: ['.cline', '~/.cline', ...UNIVERSAL] },
      codex: { directories: ['.codex', ...UNIVERSAL], home: codexHome, isDeep: true },
      continue: { directories: ['.continue', '~/.continue', '.claude'] },
      copilot: { directories: ['.github', '.claude', '~/.copilot', ...UNIVERSAL] },
      crush: { directories: ['.crush', '~/.config/crush'] },
      cursor: { directories: ['.cursor', '~/.cursor', '.claude', '.codex', ...UNIVERSAL] },
      gemini: { directories: ['.gemini', '~/.gemini', ...UNIVERSAL] },
      goose: { directories: ['.goose', '~/.config/goose', '.claude', '~/.claude', '~/.config/agents', ...UNIVERSAL] },
      junie: alike('.junie'),
      kilo: alike('.kilocode'),
      kiro: alike('.kiro'),
      kode: alike('.kode'),
      opencode: {
        directories: ['.opencode', '~/.config/opencode', '.claude', '~/.claude', ...UNIVERSAL],
        isDeep: true,
      },
      qwen: { directories: ['.qwen', '~/.qwen', ...UNIVERSAL] },
      roo: { directories: ['.roo', '~/.roo', ...UNIVERSAL] },
      windsurf: { directories: ['.windsurf', '~/.codeium/windsurf'] },
    }) as const satisfies Readonly<Record<string, Habits>>,
);

function createOwnTest({ directories, home, isDeep, hasPlugins }: Habits, surroundings: Surroundings) {
  const all = [...directories.map((path) => expandHome(surroundings, path)), ...(home ? [home(surroundings)] : [])];
  const roots = new Set(all.map((directory) => join(directory, 'skills')));
  return ({ root, directory, location }: Skill): boolean => {
    if (location === 'plugin') return hasPlugins === true;
    return roots.has(root) && (isDeep === true || dirname(directory) === root);
  };
}
