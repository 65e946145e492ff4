import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tool } from '../../src/model.ts';
import { type Answer, createPeer, modernParams, startServer } from '../harness/server.ts';
import { skillText } from '../harness/tree.ts';

const FILES = { '.claude/skills/pdf/SKILL.md': skillText('pdf'), '.codex/skills/git/SKILL.md': skillText('git') };
const says = (text: string) => ({ content: [{ type: 'text', text }] });
const toolOf = (name: string, run: Tool['run'] = () => says(name)): Tool => {
  return { definition: { name, inputSchema: { type: 'object' } }, run };
};
const namesIn = ({ result }: Answer): string[] => result.tools.map(({ name }: Answer) => name);

test('our own tools come first, then those of sources, the same bytes in every session; a source takes no name', async (t) => {
  const tools = [toolOf('skill', () => says('theirs')), toolOf('more'), toolOf('server:do.it'), toolOf('more')];
  const { ask, server } = startServer(t, FILES, {}, { tools });
  const own = ['skills.list', 'skill', 'skills.search', 'skills.read'];
  assert.deepEqual(namesIn(await ask('tools/list')), [...own, 'more', 'server:do.it']);
  const { result } = await ask('tools/call', { name: 'skill', arguments: { name: 'pdf' } });
  assert.match(result.content[0].text, /^Loading/);
  const safe = [...own.map((name) => name.replace('.', '_')), 'more', 'server__do_it'];
  const texts = new Set<string>();
  for (const { ask: askAlone, received } of [1, 2].map(() => createPeer(server.dispatcher))) {
    assert.deepEqual(namesIn(await askAlone('tools/list', modernParams({}, 'claude-code'))), safe);
    texts.add(JSON.stringify(received));
  }
  assert.equal(texts.size, 1);
});

test('every spelling of a tool answers every client', async (t) => {
  const long = `server:${'long.'.repeat(12)}name`;
  const { ask } = startServer(t, FILES, {}, { tools: [toolOf('server:do.it'), toolOf(long)] });
  const clients = ['unknown', 'claude-code', 'cursor-vscode'];
  const lists = await Promise.all(clients.map((client) => ask('tools/list', modernParams({}, client))));
  const spellings = new Set(lists.flatMap((list) => namesIn(list).slice(4)));
  assert.equal(spellings.size, 5);
  for (const client of clients)
    for (const name of spellings) {
      const { result } = await ask('tools/call', modernParams({ name, arguments: null }, client));
      assert.ok([long, 'server:do.it'].includes(result?.content[0].text), `${client} ${name}`);
    }
});
