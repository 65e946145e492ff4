/**
 * The `skill` tool: loads a skill by its name.
 * Owns: its schema, header and error texts. Leaves alone: which skill a name means (skills/names.ts).
 */
import type { Registry } from '../catalog/registry.ts';
import { type Log, messageOf, stackOf } from '../log.ts';
import type { ListedSkill, Resolution, Skill, Snapshot, Tool, ToolOutcome, ToolView } from '../model.ts';
import { EncodedResult, isObject } from '../protocol/index.ts';
import { SizedCache } from '../sized-cache.ts';
import { echo, oneLine, printable } from '../text.ts';
import { describeSkills } from './description.ts';
import { LONGEST_SKILL_NAME } from './limits.ts';
import { countOf, linesFor, skillLine } from './summary.ts';
import { checkedArguments, failure, inputOf, READ_ONLY, requiredText, success } from './tool.ts';

/** Characters of encoded results that are kept: the few skills that are loaded again and again fit in. */
const MAX_ENCODED = 4 * 1024 * 1024;

const REQUIRED = 'name is required: the name of the skill to load, as text';
const TOO_LONG = `name must have at most ${LONGEST_SKILL_NAME} characters`;
export const SKILL_INPUT = inputOf(
  {
    name: requiredText(LONGEST_SKILL_NAME, REQUIRED, 'Name of the skill to load (case-insensitive)', TOO_LONG),
  },
  {},
);

export function skillTool(registry: Registry, log: Log): Tool {
  const encoded = new SizedCache<Skill, { id: string; bytes: Buffer; result: EncodedResult }>(MAX_ENCODED);

  async function load({ id, skill }: ListedSkill): Promise<ToolOutcome> {
    try {
      // Always asked: a file that can no longer be read is an error at once.
      const reading = skill.read();
      // The bytes are nearly always in memory, and to await them would take longer than the rest.
      const bytes = Buffer.isBuffer(reading) ? reading : await reading;
      const known = encoded.get(skill);
      if (known?.id === id && (known.bytes === bytes || known.bytes.equals(bytes))) return known.result;
      const result = new EncodedResult(success(headed(id, skill, bytes)));
      encoded.set(skill, { id, bytes, result }, result.body.length);
      return result;
    } catch (error) {
      log.error(`cannot read ${skill.file}: ${stackOf(error)}`);
      return failure(`Skill '${oneLine(id)}' cannot be read: ${printable(messageOf(error))}`);
    }
  }

  /** The budgets that were too small so far: a few, from the table of hosts. */
  const reported = new Set<number>();
  function warnOnce(count: number, { budget, inBytes }: ToolView): void {
    if (reported.has(budget)) return;
    reported.add(budget);
    log.warn(
      `the full list of ${countOf(count)} is longer than the ${budget} ${inBytes ? 'bytes' : 'characters'} that a client takes in a tool's description; it is shown a compact list (see --describe and --description-budget)`,
    );
  }

  return {
    name: 'skill',
    title: 'Load Skill',
    inputSchema: SKILL_INPUT.schema,
    annotations: { title: 'Load Skill', ...READ_ONLY },
    define: ({ names }, view) => {
      const search = view.shows(SEARCH) ? view.spell(SEARCH) : undefined;
      const onCompact = () => warnOnce(names.visible.length, view);
      return { description: describeSkills(names.visible, view, search, onCompact), _meta: ALWAYS_LOADED };
    },
    run(args, snapshot) {
      const { name } = checkedArguments(SKILL_INPUT, renameCommand(args));
      return withSkill(name, snapshot, registry, load);
    },
  };
}

/**
 * What `use` gives for the skill of that name; for a name that means no skill, or several, a failure for the model.
 * A name that the snapshot lacks may belong to a server that comes late: `use` then gets a later snapshot.
 */
export function withSkill(
  name: string,
  snapshot: Snapshot,
  registry: Registry,
  use: (listed: ListedSkill, snapshot: Snapshot) => Promise<ToolOutcome>,
): ToolOutcome | Promise<ToolOutcome> {
  const find = ({ names }: Snapshot) => {
    const resolution = names.resolve(name);
    return resolution.kind === 'missing' ? undefined : resolution;
  };
  const useIn = (current: Snapshot, resolution: Exclude<Resolution, { kind: 'missing' }>) =>
    resolution.kind === 'found' ? use(resolution, current) : failure(ambiguityOf(name, resolution.ids));
  const known = find(snapshot);
  if (known) return useIn(snapshot, known);
  return registry.find(name.trim(), find).then((found) => {
    if (found.kind === 'found') return useIn(found.snapshot, found.item);
    if (found.kind === 'missing') return failure(absenceOf(name, snapshot));
    return failure(`Skill '${echo(name)}' cannot be loaded: the server is not connected (${found.state})`);
  });
}

/** A header that says where the skill comes from, then its SKILL.md unchanged. Throws when that cannot be read. */
export async function loadText({ id, skill }: ListedSkill): Promise<string> {
  return headed(id, skill, await skill.read());
}

// --- internal ---

// Claude Code keeps other tools from its model until the model searches for them, and so their lists of skills too.
const ALWAYS_LOADED = { 'anthropic/alwaysLoad': true };

// The tool that finds skills by their text, if the client is shown it.
const SEARCH = 'skills.search';

/** Older clients send `{command}`. */
function renameCommand(args: unknown): unknown {
  if (!isObject(args) || !('command' in args) || Object.keys(args).length !== 1) return args;
  return { name: args.command };
}

function headed(id: string, { directory, file, location, provider, plugin }: Skill, bytes: Buffer): string {
  const lines = [
    `Loading: ${id}`,
    `Base directory: ${directory}`,
    `Path: ${file}`,
    `Location: ${location}`,
    `Provider: ${provider}${location === 'mcp' ? ' (MCP)' : ''}`,
    ...(plugin ? [`Plugin: ${plugin.name}@${plugin.marketplace}`] : []),
  ];
  return `${lines.map(printable).join('\n')}\n\n${bytes}`;
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
