/**
 * The `skill` tool: loads a skill by its name.
 * Owns: its schema, and the header before a skill's text. Leaves alone: which skill a name means (skills/names.ts), the
 * description (description.ts). Always true: a skill of this machine is answered from the snapshot, without a look at the
 * disk; its answer is encoded once.
 */
import * as v from 'valibot';
import type { Settings } from '../config.ts';
import { FileError } from '../files/read.ts';
import { MAX_SKILL_BYTES } from '../limits.ts';
import type { ListedSkill, Tool, ToolOutcome } from '../model.ts';
import { type Call, EncodedResult, isObject } from '../protocol/index.ts';
import { counted, printable } from '../text.ts';
import { describeSkills } from './description.ts';
import { failure, objectSchema, ownTool, requiredText, requiredTextSchema, success, withSkill } from './tool.ts';

const NAME_REQUIRED = 'name is required: the name of the skill to load, as text';
export const SkillInput = v.strictObject({ name: requiredText(NAME_REQUIRED) });
const INPUT = objectSchema({ name: requiredTextSchema('Name of the skill to load (case-insensitive)') });

export function skillTool({ log }: Settings): Tool {
  // By the listed skill, because its name is in the text. The results go when their snapshot does.
  const encoded = new WeakMap<ListedSkill, EncodedResult>();
  const load = (listed: ListedSkill, call: Call): ToolOutcome | Promise<ToolOutcome> => {
    const { bytes } = listed.skill;
    if (!bytes) return loadUpstream(listed, call);
    const result = encoded.get(listed) ?? new EncodedResult(success(withHeader(listed, bytes)));
    encoded.set(listed, result);
    return result;
  };

  const form = { name: 'skill', title: 'Load Skill', inputSchema: INPUT, _meta: ALWAYS_LOADED };
  const schema = v.pipe(v.unknown(), v.transform(renameCommand), SkillInput);
  const tool = ownTool(form, schema, ({ name }, { names }, call) =>
    withSkill(names, name, (listed) => load(listed, call)),
  );
  let isWarned = false;
  return {
    ...tool,
    define({ names: { visible } }, view) {
      const description = describeSkills(visible, view, () => {
        const fault = `${counted(visible.length, 'skill')} in full are over the ${view.budget} characters of a client`;
        if (!isWarned) log.warn(`${fault}: it is shown a compact list (see --describe and --description-budget)`);
        isWarned = true;
      });
      return { ...tool.definition, description };
    },
  };
}

/** A header that says where the skill comes from, then its SKILL.md unchanged. `call`: for an upstream skill. */
export async function skillText(listed: ListedSkill, call?: Call): Promise<string> {
  const { bytes, files } = listed.skill;
  return withHeader(listed, bytes ?? (await files.read('SKILL.md', MAX_SKILL_BYTES, call)));
}

// --- internal ---

// Claude Code keeps other tools from its model until the model searches for them, and so their lists of skills too.
const ALWAYS_LOADED = { 'anthropic/alwaysLoad': true };

/** Older clients send `{command}`. */
function renameCommand(args: unknown): unknown {
  const isOld = isObject(args) && 'command' in args && Object.keys(args).length === 1;
  return isOld ? { name: args.command } : args;
}

async function loadUpstream(listed: ListedSkill, call: Call): Promise<ToolOutcome> {
  try {
    return success(await skillText(listed, call));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return failure(`Skill '${listed.id}' cannot be read: ${printable(error.message)}`);
  }
}

function withHeader({ id, skill }: ListedSkill, bytes: Buffer): string {
  const { directory, file, location, provider, plugin } = skill;
  const lines = [
    `Loading: ${id}`,
    `Base directory: ${directory}`,
    `Path: ${file}`,
    `Location: ${location}`,
    `Provider: ${provider}`,
    ...(plugin ? [`Plugin: ${plugin.name}@${plugin.marketplace}`] : []),
  ];
  return `${lines.map(printable).join('\n')}\n\n${bytes}`;
}
