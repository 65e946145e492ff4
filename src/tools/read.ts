/**
 * The `skills.read` tool: one file of a skill, for clients whose models cannot read resources.
 * Owns: its schema and error texts. Leaves alone: which files a skill has (skills/contents.ts).
 */
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import type { FirstLists } from '../catalog/first-lists.ts';
import type { ListedSkill, Snapshot, Tool, ToolResult } from '../model.ts';
import { contentOf, textOf } from '../skills/media-types.ts';
import { isPlainSegment, uriOf } from '../skills/uris.ts';
import { oneLine, printable, shorten } from '../text.ts';
import { checkedArguments } from './arguments.ts';
import { LONGEST_PATH, LONGEST_SKILL_NAME, MAX_READ_BYTES, MOST_LINES } from './limits.ts';
import { failure, READ_ONLY, success } from './result.ts';
import { findSkill } from './skill.ts';

const NAME = `name must be the name of a skill, as text of at most ${LONGEST_SKILL_NAME} characters`;
const PATH = `path must be the path of a file in the skill, as text of at most ${LONGEST_PATH} characters`;

export const ReadInput = v.strictObject({
  name: v.pipe(v.string(NAME), v.maxLength(LONGEST_SKILL_NAME, NAME), v.regex(/\S/, NAME)),
  path: v.pipe(v.string(PATH), v.nonEmpty(PATH), v.maxLength(LONGEST_PATH, PATH)),
});

export const READ_INPUT_SCHEMA = {
  type: 'object',
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST_SKILL_NAME,
      pattern: '\\S',
      description: 'Name of the skill (case-insensitive)',
    },
    path: {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST_PATH,
      description: 'Path of the file, relative to the skill: references/forms.md',
    },
  },
  required: ['name', 'path'],
  additionalProperties: false,
} as const;

export function readTool(lists: FirstLists): Tool {
  return {
    name: 'skills.read',
    title: 'Read Skill File',
    description:
      "Read one file that belongs to a skill: a reference, a script, a template. Give the skill's name and the file's path in it.",
    inputSchema: READ_INPUT_SCHEMA,
    annotations: { title: 'Read Skill File', ...READ_ONLY },
    async run(args, snapshot, { signal }) {
      const { name, path } = checkedArguments(ReadInput, args, ARGUMENTS);
      const found = await findSkill(name, snapshot, lists);
      if (found.kind === 'not-found') return found.failure;
      const plain = plainPath(path);
      if (plain === undefined) {
        return failure(
          `"${echo(path)}" is not a path inside the skill. Give one that is relative to it and goes only down, such as references/forms.md.`,
        );
      }
      return readFile(found.snapshot, found, plain, signal);
    },
  };
}

// --- internal ---

const ARGUMENTS = { name: 'the name of a skill', path: 'the path of a file in the skill' };

/** Plain names separated by slashes; a leading `./` is ignored. */
function plainPath(path: string): string | undefined {
  const segments = path.replace(/^(?:\.\/+)+/, '').split('/');
  return segments.every(isPlainSegment) ? segments.join('/') : undefined;
}

async function readFile(
  snapshot: Snapshot,
  listed: ListedSkill,
  path: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { id, skill } = listed;
  const reading = await skill.files.read(path, signal, MAX_READ_BYTES);
  const miss = (why: string) => failure(`"${echo(path)}" of skill '${oneLine(id)}' ${why}`);
  switch (reading.kind) {
    case 'read':
      return resultOf(snapshot, listed, path, reading.bytes);
    case 'missing':
      return miss(`does not exist.${await filesIn(listed, path.split('/').slice(0, -1).join('/'), signal)}`);
    case 'directory':
      return miss(`is a directory.${await filesIn(listed, path, signal)}`);
    case 'moving':
      return miss('is changing right now. Try again.');
    case 'refused':
      return miss(`${printable(reading.why)}.`);
  }
}

function resultOf({ uris }: Snapshot, { skill }: ListedSkill, path: string, bytes: Uint8Array): ToolResult {
  const text = textOf(bytes);
  if (text !== undefined) return success(text);
  const root = uris.rootOf(skill);
  const uri = root === undefined ? pathToFileURL(`${skill.directory}/${path}`).href : uriOf(root, path);
  return { content: [{ type: 'resource', resource: contentOf(uri, path, bytes) }] };
}

/** The entries of a directory, for a model that has given a wrong path. */
async function filesIn({ skill }: ListedSkill, directory: string, signal: AbortSignal): Promise<string> {
  const children = await skill.files.list(directory, signal);
  if (!children) return '';
  const names = children.map(({ name, kind }) => oneLine(name) + (kind === 'directory' ? '/' : ''));
  const rest = names.length - MOST_LINES;
  const shown = [...names.slice(0, MOST_LINES), ...(rest > 0 ? [`and ${rest} more`] : [])];
  const where = directory === '' ? 'The skill' : `"${echo(directory)}"`;
  return ` ${where} contains: ${shown.join(', ') || 'nothing'}.`;
}

function echo(path: string): string {
  return shorten(oneLine(path), 200);
}
