/** Our own tools over the skills of a temporary directory. */
import type { TestContext } from 'node:test';
import { createRegistry } from '../../src/catalog/registry.ts';
import { type SkillwireOptions, settingsFrom } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { Contribution, ToolResult } from '../../src/model.ts';
import { type Call, EncodedResult } from '../../src/protocol/index.ts';
import { createSkillSource } from '../../src/skills/source.ts';
import { createOwnTools } from '../../src/tools/index.ts';
import { makeTree } from './tree.ts';

/** `more`: what another source has. Calls see what is there now. */
export async function openTools(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  options: SkillwireOptions = {},
  more: Contribution = {},
) {
  const tree = makeTree(t, files);
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line), 'warn');
  const settings = settingsFrom({ cwd: tree.path, home: tree.at('home'), log, ...options });
  const registry = createRegistry([createSkillSource(settings), { name: 'more', load: async () => more }], settings);
  const tools = new Map(createOwnTools(settings).map((tool) => [tool.definition.name, tool]));
  const snapshot = await registry.refresh('start');
  const outcome = async (name: string, args: unknown, on = snapshot) => tools.get(name)?.run(args, on, {} as Call);
  /** The result as a client gets it. */
  const call = async (name: string, args: unknown): Promise<ToolResult & { readonly text: string }> => {
    const given = await outcome(name, args, await registry.refresh('call'));
    const result = given instanceof EncodedResult ? JSON.parse(`${Buffer.from(given.body)}}`) : given;
    return { ...result, text: result.content[0].text };
  };
  return { tree, lines, tools, registry, snapshot, outcome, call };
}
