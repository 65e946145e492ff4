import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, modern, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const EXTENSION = { extensions: { 'io.modelcontextprotocol/skills': {} } };

/** What is said of tools in instructions, and which tools are listed. */
async function introduced(
  program: ReturnType<typeof startProgram>,
  client: string,
  capabilities: object,
): Promise<readonly Answer[]> {
  const { result } = await program.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities,
    clientInfo: { name: client, version: '1' },
  });
  return [result.instructions, (await program.request('tools/list')).result.tools];
}

test('instructions name exactly the tools that this client is shown, as it is shown them (11.9)', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  for (const args of [[], ['--tools', 'skill,read'], ['--tools', 'search'], ['--tools', 'auto']]) {
    const program = startProgram(t, { tree, args });
    for (const client of ['somebody', 'claude-code'])
      for (const capabilities of [{}, EXTENSION]) {
        const [text, tools] = await introduced(program, client, capabilities);
        const shown = tools.map(({ name }: Answer) => name);
        const named = new Set(text.match(/\bskills[._]\w+|\bskill tool/g) ?? []);
        const expected = shown.map((name: string) => (name === 'skill' ? 'skill tool' : name));
        assert.deepEqual([...named].sort(), expected.sort(), `${args} ${client} ${JSON.stringify(capabilities)}`);
        // Nor do descriptions of tools.
        const others = tools.flatMap(({ name, description }: Answer) => (name === 'skill' ? [] : [description]));
        for (const word of others.join(' ').match(/\bskills[._]\w+|\bskill(?= tool)/g) ?? [])
          assert.ok(shown.includes(word), `${args} ${client} ${word}`);
      }
  }
});

test('server/discover gives each client its own (11.9)', async (t) => {
  const program = startProgram(t, { tree: makeTree(t) });
  const of = async (client: string) =>
    (await program.request('server/discover', modern({}, client))).result.instructions;
  assert.match(await of('somebody'), /skills\.list/);
  assert.match(await of('claude-code'), /skills_list/);
});

test('the schema of the skill tool says that case does not matter (11.14)', async (t) => {
  const program = startProgram(t, { tree: makeTree(t) });
  const { tools } = (await program.request('tools/list')).result;
  const { inputSchema } = tools.find(({ name }: Answer) => name === 'skill');
  assert.equal(inputSchema.properties.name.description, 'Name of the skill to load (case-insensitive)');
});
