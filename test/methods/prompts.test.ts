import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileError } from '../../src/files/read.ts';
import type { SkillFiles } from '../../src/model.ts';
import { type Answer, modernParams, startServer } from '../harness/server.ts';
import { sketch } from '../harness/sketch.ts';
import { skillText } from '../harness/tree.ts';

const FILES = {
  '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files'),
  'home/.claude/skills/pdf/SKILL.md': skillText('pdf', 'Shadowed'),
  '.codex/skills/pdf/SKILL.md': skillText('pdf', 'Another'),
  '.agents/skills/My Notes/SKILL.md': skillText('My Notes', 'Odd but fine'),
};
const greet = { definition: { name: 'server:greet', arguments: [] }, get: () => ({ messages: [] }) };

test('every visible skill is a prompt with the text that loading gives, beside the prompts of sources', async (t) => {
  const { ask, eras } = startServer(t, FILES, {}, { prompts: [greet] });
  const own = { 'My Notes': 'Odd but fine', 'claude:pdf': 'Work with PDF files', 'codex:pdf': 'Another' };
  const definitions = Object.entries(own).map(([name, description]) => ({ name, title: name, description }));
  for (const speak of eras) {
    assert.deepEqual((await speak('prompts/list')).result.prompts, [...definitions, greet.definition]);
    for (const { name, description } of definitions) {
      const { result } = await speak('prompts/get', { name });
      const loaded = (await speak('tools/call', { name: 'skill', arguments: { name } })).result.content[0];
      assert.deepEqual([result.description, result.messages], [description, [{ role: 'user', content: loaded }]]);
    }
  }
  // A client is shown its spelling; any spelling, and the full name of a shadowed skill, is answered.
  const { result } = await ask('prompts/list', modernParams({}, 'claude-code'));
  const names = result.prompts.map(({ name }: Answer) => name);
  assert.match(names.join(), /^My_Notes_[0-9a-f]{8},claude__pdf,codex__pdf,server__greet$/);
  for (const client of ['claude-code', 'unknown'])
    for (const name of [...names, 'My Notes', 'claude:pdf', 'claude@global:pdf', 'server:greet'])
      assert.ok((await ask('prompts/get', modernParams({ name }, client))).result?.messages, `${client} ${name}`);
});

test('what is no prompt is -32602; a skill that its server cannot give is -32603; without prompts there is no method', async (t) => {
  const read = () => Promise.reject(new FileError('unreadable', 'the server is away'));
  const away = sketch('far@mcp', 'away', { files: { read } as unknown as SkillFiles });
  const { ask } = startServer(t, FILES, {}, { skills: [away] });
  for (const params of [{ name: 'none' }, { name: 'pdf' }, { name: 5 }, {}, { name: 'codex:pdf', arguments: 'x' }])
    assert.equal((await ask('prompts/get', params)).error.code, -32602, JSON.stringify(params));
  const error = { code: -32603, message: 'internal error: the server is away' };
  assert.deepEqual((await ask('prompts/get', { name: 'far:away' })).error, error);
  const without = startServer(t, FILES, { prompts: false });
  assert.equal((await without.shakeHands()).result.capabilities.prompts, undefined);
  for (const method of ['prompts/list', 'prompts/get']) assert.equal((await without.ask(method)).error.code, -32601);
});
