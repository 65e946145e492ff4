import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tool } from '../../src/model.ts';
import { type Answer, modernParams, startServer } from '../harness/server.ts';
import { skillText } from '../harness/tree.ts';

const SAID = { type: 'text', text: 'theirs' };
const toolOf = (name: string): Tool => {
  return { definition: { name, inputSchema: { type: 'object' } }, run: () => ({ content: [SAID] }) };
};
const namesIn = ({ result }: Answer): string[] => result.tools.map(({ name }: Answer) => name);

test('our own tools come first, then those of sources, which take no name of ours; every spelling can be called', async (t) => {
  const tools = ['skill', 'more', 'server:do.it', 'more'].map(toolOf);
  const { ask } = startServer(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') }, {}, { tools });
  const own = ['skills.list', 'skill', 'skills.search', 'skills.read'];
  assert.deepEqual(namesIn(await ask('tools/list')), [...own, 'more', 'server:do.it']);
  const { result } = await ask('tools/call', { name: 'skill', arguments: { name: 'pdf' } });
  assert.match(result.content[0].text, /^Loading/);
  const safe = [...own.map((name) => name.replace('.', '_')), 'more', 'server__do_it'];
  assert.deepEqual(namesIn(await ask('tools/list', modernParams({}, 'claude-code'))), safe);
  for (const client of ['unknown', 'claude-code'])
    for (const name of ['server:do.it', 'server__do_it'])
      assert.deepEqual((await ask('tools/call', modernParams({ name }, client))).result.content, [SAID]);
});
