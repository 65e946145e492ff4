/**
 * What our own tools have in common: how arguments are checked, how a name becomes a skill, the form of results.
 * Leaves alone: what each tool does. Always true: an argument that a tool does not have, or a value that it does not take,
 * is an "invalid params" error; a name that no skill has is a failure that the model can do something about.
 */
import * as v from 'valibot';
import { MAX_ABOUT, MAX_LINES } from '../limits.ts';
import type { ListedSkill, Names, Resolution, Snapshot, Tool, ToolOutcome, ToolResult } from '../model.ts';
import { type Call, invalidParams } from '../protocol/index.ts';
import { echo, shorten, visibleLine } from '../text.ts';

type Definition = Tool['definition'] & { readonly inputSchema: { readonly properties: object } };

/** `schema` checks the arguments, and the definition's `inputSchema` tells clients the same. */
export function ownTool<Args>(
  definition: Definition,
  schema: v.GenericSchema<unknown, Args>,
  run: (args: Args, snapshot: Snapshot, call: Call) => ToolOutcome | Promise<ToolOutcome>,
): Tool {
  const { title, inputSchema } = definition;
  const known = Object.keys(inputSchema.properties).join(', ');
  return {
    definition: { ...definition, annotations: { title, ...READ_ONLY } },
    run(args, snapshot, call) {
      const parsed = v.safeParse(schema, args);
      if (parsed.success) return run(parsed.output, snapshot, call);
      const [{ type, expected, path, message }] = parsed.issues;
      const isUnknown = type === 'strict_object' && expected === 'never';
      const name = echo(String(path?.[0]?.key));
      throw invalidParams(isUnknown ? `there is no argument "${name}"; this tool takes ${known}` : message);
    },
  };
}

/** A text that is not blank. `message`: for one that is missing, blank or not a text. */
export function requiredText(message: string) {
  // A missing value is checked as a blank one, so that it gets the same message.
  return v.optional(v.pipe(v.string(message), v.regex(/\S/, message)), '');
}

/** The JSON Schema of the same. */
export function requiredTextSchema(description: string) {
  return { type: 'string', minLength: 1, pattern: '\\S', description };
}

export const TEXT = { type: 'string' };

/** The JSON Schema of an object that has these members and no others. */
export function objectSchema(properties: Readonly<Record<string, object>>, required = Object.keys(properties)) {
  // Older drafts of JSON Schema refuse an empty list.
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false };
}

export function success(text: string): ToolResult {
  return { content: [{ type: 'text', text }] };
}

/** The text is always there too: many hosts show their models nothing else. */
export function structured(lines: readonly string[], structuredContent: object): ToolResult {
  return { ...success(lines.join('\n')), structuredContent };
}

/** A failure that the model can do something about: a result, not an exception. */
export function failure(text: string): ToolResult {
  return { ...success(text), isError: true };
}

/** What `use` gives for the skill of that name; for a name that means no skill, or several, a failure. */
export function withSkill<T>(names: Names, name: string, use: (listed: ListedSkill) => T): T | ToolResult {
  const found = names.resolve(name);
  return found.kind === 'found' ? use(found.listed) : failure(whyNot(name, found, names));
}

/** One line per item, up to MAX_LINES, and how many more there are. */
export function linesFor<T>(items: readonly T[], lineFor: (item: T) => string): readonly string[] {
  const rest = items.length - MAX_LINES;
  return [...items.slice(0, MAX_LINES).map(lineFor), ...(rest > 0 ? [`… and ${rest} more`] : [])];
}

/** The name that loads the skill, and its description. */
export function skillLine({ id, skill }: ListedSkill): string {
  return `- ${id}: ${shorten(visibleLine(skill.description), MAX_ABOUT)}`;
}

// --- internal ---

/** Codex asks its user for approval unless all of these are given. */
const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** Why a name loads no skill, and what to do about it. */
function whyNot(name: string, found: Exclude<Resolution, { kind: 'found' }>, { visible }: Names): string {
  const subject = `Skill '${echo(name)}'`;
  if (found.kind === 'ambiguous') {
    const lines = linesFor(found.ids, (id) => `- ${id}`).join('\n');
    const fault = `${subject} is ambiguous: ${found.ids.length} skills have that name.`;
    return `${fault}\n\n${lines}\n\nTo load one of them, use the full name.`;
  }
  const near = found.near.join(', ');
  return [
    `${subject} not found.`,
    ...(near === '' ? [] : [`Did you mean: ${near}?`]),
    `Available skills:\n${linesFor(visible, skillLine).join('\n') || '- none'}`,
    'Use the exact skill name (case-insensitive) to load a skill.',
  ].join('\n\n');
}
