/**
 * The `skill` tool: loads a skill by its name.
 * Owns: its schema, header and error texts. Leaves alone: which skill a name means (skills/names.ts).
 */
import * as v from 'valibot';
import type { FirstLists } from '../catalog/first-lists.ts';
import { type Log, messageOf, stackOf } from '../log.ts';
import type { ListedSkill, Skill, Snapshot, Tool, ToolResult } from '../model.ts';
import { type EncodedResult, encodeResultBody, isObject } from '../protocol/index.ts';
import { SizedCache } from '../sized-cache.ts';
import { oneLine, printable, shorten } from '../text.ts';
import { checkedArguments } from './arguments.ts';
import { describeSkills } from './description.ts';
import { LONGEST_SKILL_NAME, MAX_ENCODED } from './limits.ts';
import { failure, READ_ONLY, success } from './result.ts';
import { linesFor, skillLine } from './summary.ts';

const WHAT = 'the name of the skill to load, as text';
const REQUIRED = `name is required: ${WHAT}`;
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

export function skillTool(lists: FirstLists, log: Log): Tool {
  const encoded = new SizedCache<Skill, Loaded>(MAX_ENCODED);

  async function load({ id, skill }: ListedSkill): Promise<ToolResult | EncodedResult> {
    try {
      // Always asked: a file that can no longer be read is an error at once.
      const text = await skill.read();
      const known = encoded.get(skill);
      if (known?.text === text && known.id === id) return known.result;
      const result = encodeResultBody(success(loadedText(id, skill, text)));
      encoded.set(skill, { id, text, result }, result.body.length);
      return result;
    } catch (error) {
      log.error(`cannot read ${skill.file}: ${stackOf(error)}`);
      return failure(`Skill '${oneLine(id)}' cannot be read: ${printable(messageOf(error))}`);
    }
  }

  return {
    name: 'skill',
    title: 'Load Skill',
    inputSchema: SKILL_INPUT_SCHEMA,
    annotations: { title: 'Load Skill', ...READ_ONLY },
    define: ({ names }, view) => ({
      description: describeSkills(names.visible, view, view.shows(SEARCH) ? view.spell(SEARCH) : undefined),
    }),
    async run(args, snapshot) {
      const { name } = checkedArguments(SkillInput, renameCommand(args), { name: WHAT });
      const found = await findSkill(name, snapshot, lists);
      return found.kind === 'found' ? load(found) : found.failure;
    },
  };
}

export type FoundSkill =
  /** `snapshot`: the one that has the skill; everything else of the call comes from it too. */
  | { readonly kind: 'found'; readonly id: string; readonly skill: Skill; readonly snapshot: Snapshot }
  /** For the model, when a name means no skill, or several. */
  | { readonly kind: 'not-found'; readonly failure: ToolResult };

/** A name that the snapshot does not know may belong to a server that comes late: it is then looked up again. */
export async function findSkill(name: string, snapshot: Snapshot, lists: FirstLists): Promise<FoundSkill> {
  const known = snapshot.names.resolve(name);
  const late = known.kind === 'missing' ? await lists.lookAgain(name.trim()) : undefined;
  const current = late?.snapshot ?? snapshot;
  const resolution = late ? current.names.resolve(name) : known;
  switch (resolution.kind) {
    case 'found':
      return { ...resolution, snapshot: current };
    case 'ambiguous':
      return notFound(ambiguityOf(name, resolution.ids));
    case 'missing':
      if (late?.offline === undefined) return notFound(absenceOf(name, current));
      return notFound(`Skill '${echo(name)}' cannot be loaded: the server is not connected (${late.offline})`);
  }
}

/** A header that says where the skill comes from, then its SKILL.md unchanged. Throws when that cannot be read. */
export async function loadText({ id, skill }: ListedSkill): Promise<string> {
  return loadedText(id, skill, await skill.read());
}

// --- internal ---

interface Loaded {
  readonly id: string;
  readonly text: string;
  readonly result: EncodedResult;
}

const notFound = (text: string): FoundSkill => ({ kind: 'not-found', failure: failure(text) });

// The tool that finds skills by their text, if the client is shown it.
const SEARCH = 'skills.search';

/** Older clients send `{command}`. */
function renameCommand(args: unknown): unknown {
  if (!isObject(args) || !('command' in args) || Object.keys(args).length !== 1) return args;
  return { name: args.command };
}

function loadedText(id: string, skill: Skill, text: string): string {
  return `${headerOf(id, skill)}\n\n${text}`;
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

function ambiguityOf(name: string, ids: readonly string[]): string {
  const lines = linesFor(ids, (id) => `- ${oneLine(id)}`);
  return `Skill '${echo(name)}' is ambiguous: ${ids.length} skills have that name.

${lines.join('\n')}

To load one of them, use the full name.`;
}

function absenceOf(name: string, { names }: Snapshot): string {
  const near = names.near(name).map(oneLine);
  const lines = linesFor(names.visible, skillLine);
  return [
    `Skill '${echo(name)}' not found.`,
    ...(near.length > 0 ? [`Did you mean: ${near.join(', ')}?`] : []),
    `Available skills:\n${lines.join('\n') || '- none'}`,
    'Use the exact skill name (case-insensitive) to load a skill.',
  ].join('\n\n');
}

/** Enough to recognise the name; a result must not repeat megabytes. */
const echo = (name: string) => shorten(oneLine(name), 100);
