/**
 * The `skills.read` tool: one file of a skill, for clients whose models cannot read resources.
 * Owns: its schema and error texts. Leaves alone: which files a skill has (skills/contents.ts).
 */
import { pathToFileURL } from 'node:url';
import type { Registry } from '../catalog/registry.ts';
import type { ListedSkill, Skill, Snapshot, Tool, ToolResult } from '../model.ts';
import { contentOf, textOf } from '../skills/media-types.ts';
import { isPlainSegment, uriOf } from '../skills/uris.ts';
import { echo, oneLine, printable } from '../text.ts';
import { LONGEST_SKILL_NAME } from './limits.ts';
import { withSkill } from './skill.ts';
import { linesFor } from './summary.ts';
import { checkedArguments, failure, inputOf, READ_ONLY, requiredText, success } from './tool.ts';

/** The longest path that most systems accept. */
const LONGEST_PATH = 4096;

/** The longest file that goes into a model's context in one piece; a resource may be longer. */
const MAX_READ_BYTES = 4 * 1024 * 1024;

const NAME = `name is required: name must be the name of a skill, as text of at most ${LONGEST_SKILL_NAME} characters`;
const PATH = `path is required: path must be that of a file in the skill, as text of at most ${LONGEST_PATH} characters`;
export const READ_INPUT = inputOf(
  {
    name: requiredText(LONGEST_SKILL_NAME, NAME, 'Name of the skill (case-insensitive)'),
    path: requiredText(LONGEST_PATH, PATH, 'Path of the file, relative to the skill: references/forms.md'),
  },
  {},
);

export function readTool(registry: Registry): Tool {
  return {
    name: 'skills.read',
    title: 'Read Skill File',
    description:
      "Read one file that belongs to a skill: a reference, a script, a template. Give the skill's name and the file's path in it.",
    inputSchema: READ_INPUT.schema,
    annotations: { title: 'Read Skill File', ...READ_ONLY },
    async run(args, snapshot, { signal }) {
      const { name, path } = checkedArguments(READ_INPUT, args);
      return withSkill(name, snapshot, registry, (listed, current) => readFile(current, listed, path, signal));
    },
  };
}

// --- internal ---

const OUTSIDE =
  'is not a path inside the skill. Give one that is relative to it and goes only down, such as references/forms.md.';

async function readFile(
  { uris }: Snapshot,
  { id, skill }: ListedSkill,
  asked: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  const segments = asked.replace(/^(?:\.\/+)+/, '').split('/');
  if (!segments.every(isPlainSegment)) return failure(`"${echo(asked)}" ${OUTSIDE}`);
  const path = segments.join('/');
  const reading = await skill.files.read(path, signal, MAX_READ_BYTES);
  const miss = (why: string) => failure(`"${echo(path)}" of skill '${oneLine(id)}' ${why}`);
  switch (reading.kind) {
    case 'read':
      return resultOf(uris.rootOf(skill), skill, path, reading.bytes);
    case 'missing':
      return miss(`does not exist.${await filesIn(skill, segments.slice(0, -1).join('/'), signal)}`);
    case 'directory':
      return miss(`is a directory.${await filesIn(skill, path, signal)}`);
    case 'moving':
      return miss('is changing right now. Try again.');
    case 'refused':
      return miss(`${printable(reading.why)}.`);
  }
}

function resultOf(root: string | undefined, skill: Skill, path: string, bytes: Uint8Array): ToolResult {
  const text = textOf(bytes);
  if (text !== undefined) return success(text);
  const uri = root === undefined ? pathToFileURL(`${skill.directory}/${path}`).href : uriOf(root, path);
  return { content: [{ type: 'resource', resource: contentOf(uri, path, bytes) }] };
}

/** The entries of a directory, for a model that has given a wrong path. */
async function filesIn(skill: Skill, directory: string, signal: AbortSignal): Promise<string> {
  const children = await skill.files.list(directory, signal);
  if (!children) return '';
  const shown = linesFor(children, ({ name, kind }) => oneLine(name) + (kind === 'directory' ? '/' : ''));
  const where = directory === '' ? 'The skill' : `"${echo(directory)}"`;
  return ` ${where} contains: ${shown.join(', ') || 'nothing'}.`;
}
