/**
 * The `skills.read` tool: one file of a skill, for clients whose models cannot read resources.
 * Owns: its schema and error texts. Leaves alone: which files a skill has (skills/contents.ts).
 */
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import type { Settings } from '../config.ts';
import { FileError } from '../files/read.ts';
import { MAX_FILE_BYTES } from '../limits.ts';
import { stackOf } from '../log.ts';
import type { SkillFiles, Tool } from '../model.ts';
import type { Call } from '../protocol/index.ts';
import { contentOf, textOf } from '../skills/contents.ts';
import { isPlainSegment, uriOf } from '../skills/uris.ts';
import { echo, printable } from '../text.ts';
import * as own from './tool.ts';

export const ReadInput = v.strictObject({
  name: own.requiredText('name is required: the name of a skill, as text'),
  path: own.requiredText('path is required: that of a file in the skill, as text'),
});
const INPUT = own.objectSchema({
  name: own.requiredTextSchema('Name of the skill (case-insensitive)'),
  path: own.requiredTextSchema('Path of the file, relative to the skill: references/forms.md'),
});

const DESCRIPTION =
  "Read one file that belongs to a skill: a reference, a script, a template. Give the skill's name and the file's path in it.";

export function readTool({ log }: Settings): Tool {
  const form = { name: 'skills.read', title: 'Read Skill File', description: DESCRIPTION, inputSchema: INPUT };
  return own.ownTool(form, ReadInput, ({ name, path: asked }, { names, uris }, call) =>
    own.withSkill(names, name, async (listed) => {
      const { directory, files } = listed.skill;
      const path = asked.replace(/^(?:\.\/+)+|(?<!\/)\/+$/g, '');
      try {
        if (!path.split('/').every(isPlainSegment)) throw new FileError('refused', 'it is not a path inside the skill');
        const bytes = await files.read(path, MAX_FILE_BYTES, call);
        const text = textOf(bytes);
        if (text !== undefined) return own.success(text);
        // A folded copy has no URI of its own.
        const [root = pathToFileURL(directory).href] = [...uris].find(([, one]) => one === listed) ?? [];
        return { content: [{ type: 'resource', resource: contentOf(uriOf(root, path), path, bytes) }] };
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        if (error.kind === 'unreadable') log.error(`cannot read ${path} in ${directory}: ${stackOf(error)}`);
        return own.failure(`"${echo(asked)}" of skill '${listed.id}' ${await explain(error, files, path, call)}`);
      }
    }),
  );
}

// --- internal ---

/** A path that leads nowhere is answered with what is in its directory or, where that is missing too, in the skill. */
async function explain({ kind, message }: FileError, files: SkillFiles, path: string, call: Call): Promise<string> {
  if (kind !== 'missing' && kind !== 'directory') return `cannot be read: ${printable(message)}`;
  const look = (at: string) => files.list(at, call).catch(() => undefined);
  const named = kind === 'directory' ? path : path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const inNamed = await look(named);
  const [directory, children] = inNamed ? [named, inNamed] : ['', await look('')];
  const names = own.linesFor(
    children ?? [],
    (child) => printable(child.name) + (child.kind === 'directory' ? '/' : ''),
  );
  const where = directory === '' ? 'The skill' : `"${echo(directory)}"`;
  const there = children ? ` ${where} contains: ${names.join(', ') || 'nothing'}.` : '';
  return `${kind === 'directory' ? 'is a directory' : 'does not exist'}.${there}`;
}
