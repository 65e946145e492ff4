/**
 * The `skill` tool: a name in, the skill's text out.
 * Owns: its schema, header and error texts. Leaves alone: what a name means (skills/resolve.ts).
 */
import * as v from 'valibot';
import type { FirstLists } from '../catalog/first-lists.ts';
import { type Log, messageOf, stackOf } from '../log.ts';
import type { ListedSkill, Skill, Snapshot, Tool, ToolResult } from '../model.ts';
import { invalidParams } from '../protocol/index.ts';
import { oneLine, printable, shorten } from '../text.ts';
import { describeSkills } from './description.ts';
import { failure, success } from './result.ts';

const REQUIRED = 'name is required: the name of the skill to load, as text';

/** A provider, a plugin and a name, each as long as a path may be; a longer text is no name, and costs time to compare. */
export const LONGEST_SKILL_NAME = 4096;
const TOO_LONG = `name must have at most ${LONGEST_SKILL_NAME} characters`;

export const SkillInput = v.strictObject({
  name: v.pipe(v.string(REQUIRED), v.maxLength(LONGEST_SKILL_NAME, TOO_LONG), v.regex(/\S/, REQUIRED)),
});

export const SKILL_INPUT_SCHEMA = {
  type: 'object',
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST_SKILL_NAME,
      pattern: '\\S',
      description: 'Name of the skill to load (case-insensitive)',
    },
  },
  required: ['name'],
  additionalProperties: false,
} as const;

/** Codex asks its user for approval unless all of these are said. */
export const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

export function skillTool(lists: FirstLists, log: Log): Tool {
  return {
    name: 'skill',
    fresh: false,
    define: (snapshot, view) => ({
      name: view.spell('skill'),
      title: 'Load Skill',
      description: describeSkills(snapshot.names.visible, view, view.shows(SEARCH) ? view.spell(SEARCH) : undefined),
      inputSchema: SKILL_INPUT_SCHEMA,
      annotations: { title: 'Load Skill', ...READ_ONLY },
    }),
    async run(args, snapshot) {
      const parsed = v.safeParse(SkillInput, renameCommand(args));
      if (!parsed.success)
        throw invalidParams(
          parsed.issues[0].type === 'strict_object' ? strictness(parsed.issues[0]) : parsed.issues[0].message,
        );
      const { name } = parsed.output;
      const found = await findSkill(name, snapshot, lists);
      return found.kind === 'found' ? load(found.id, found.skill, log) : found.failure;
    },
  };
}

export type FoundSkill =
  | { readonly kind: 'found'; readonly id: string; readonly skill: Skill }
  /** What the model is told when a name means no skill, or several. */
  | { readonly kind: 'not-found'; readonly failure: ToolResult };

/** A name that the snapshot does not know is looked up again when it may be that of a skill on a late server. */
export async function findSkill(name: string, snapshot: Snapshot, lists: FirstLists): Promise<FoundSkill> {
  const known = snapshot.names.resolve(name);
  const late = known.kind === 'missing' ? await lists.lookAgain(name.trim()) : undefined;
  const resolution = late ? late.snapshot.names.resolve(name) : known;
  switch (resolution.kind) {
    case 'found':
      return resolution;
    case 'ambiguous':
      return notFound(ambiguityOf(name, resolution.ids));
    case 'missing':
      if (late?.offline === undefined) return notFound(absenceOf(name, late?.snapshot ?? snapshot));
      return notFound(`Skill '${echo(name)}' cannot be loaded: the server is not connected (${late.offline})`);
  }
}

/** What loading a skill shows: where it comes from, then its SKILL.md as it is. Throws when that cannot be read. */
export async function loadedText({ id, skill }: ListedSkill): Promise<string> {
  return `${headerOf(id, skill)}\n\n${await skill.read()}`;
}

// --- internal ---

const notFound = (text: string): FoundSkill => ({ kind: 'not-found', failure: failure(text) });

// The tool that finds skills by their text, if the client is shown it.
const SEARCH = 'skills.search';

/** Older clients send `{command}`. */
function renameCommand(args: unknown): unknown {
  if (typeof args !== 'object' || args === null || !('command' in args) || Object.keys(args).length !== 1) return args;
  return { name: args.command };
}

function strictness({ path }: { readonly path?: readonly { readonly key: unknown }[] | undefined }): string {
  const key = String(path?.[0]?.key);
  return key === 'name' ? REQUIRED : `only name is taken, not ${shorten(oneLine(key), 60)}`;
}

async function load(id: string, skill: Skill, log: Log): Promise<ToolResult> {
  let text: string;
  try {
    text = await loadedText({ id, skill });
  } catch (error) {
    log.error(`cannot read ${skill.file}: ${stackOf(error)}`);
    return failure(`Skill '${oneLine(id)}' cannot be read: ${printable(messageOf(error))}`);
  }
  return success(text);
}

function headerOf(id: string, { directory, file, location, provider, plugin }: Skill): string {
  const lines = [
    `Loading: ${id}`,
    `Base directory: ${directory}`,
    `Path: ${file}`,
    `Location: ${location}`,
    `Provider: ${provider}${location === 'mcp' ? ' (MCP)' : ''}`,
    ...(plugin ? [`Plugin: ${plugin.name}@${plugin.marketplace}`] : []),
  ];
  return lines.map(printable).join('\n');
}

// Enough to recognise what was asked for; the answer must not echo megabytes.
const LONGEST_ECHO = 100;
const LONGEST_ABOUT = 160;
const MOST_SHOWN = 50;

function ambiguityOf(name: string, ids: readonly string[]): string {
  const lines = ids.slice(0, MOST_SHOWN).map((id) => `- ${oneLine(id)}`);
  if (ids.length > MOST_SHOWN) lines.push(`… and ${ids.length - MOST_SHOWN} more`);
  return `Skill '${echo(name)}' is ambiguous: ${ids.length} skills have that name.

${lines.join('\n')}

To load one of them, use the full name.`;
}

function absenceOf(name: string, { names }: Snapshot): string {
  const near = names.near(name).map(oneLine);
  const shown = names.visible.slice(0, MOST_SHOWN).map(lineOf);
  const rest = names.visible.length - shown.length;
  return [
    `Skill '${echo(name)}' not found.`,
    ...(near.length > 0 ? [`Did you mean: ${near.join(', ')}?`] : []),
    `Available skills:\n${shown.length === 0 ? '- none' : shown.join('\n')}${rest > 0 ? `\n… and ${rest} more` : ''}`,
    'Use the exact skill name (case-insensitive) to load a skill.',
  ].join('\n\n');
}

function lineOf({ id, skill }: ListedSkill): string {
  return `- ${oneLine(id)}: ${shorten(oneLine(skill.description), LONGEST_ABOUT)}`;
}

function echo(name: string): string {
  return shorten(oneLine(name), LONGEST_ECHO);
}
