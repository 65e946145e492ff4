import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSkillwire } from '../../src/index.ts';
import { ERAS } from '../harness/host.ts';
import { createPeer } from '../harness/peer.ts';
import { type Answer, modern, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const FILES = {
  '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files'),
  '.codex/skills/pdf/SKILL.md': skillText('pdf', 'Another'),
  '.agents/skills/My Notes/SKILL.md': skillText('My Notes', 'Odd but fine'),
};

test('every skill is a prompt under the name that loads it, and gives the text that loading gives', async (t) => {
  const program = startProgram(t, { tree: makeTree(t, FILES) });
  for (const [, speak] of ERAS) {
    const ask = speak(program);
    const { prompts } = (await ask('prompts/list')).result;
    assert.deepEqual(prompts, [
      { name: 'My Notes', title: 'My Notes', description: 'Odd but fine' },
      { name: 'claude:pdf', title: 'claude:pdf', description: 'Work with PDF files' },
      { name: 'codex:pdf', title: 'codex:pdf', description: 'Another' },
    ]);
    for (const { name, description } of prompts) {
      const { result } = await ask('prompts/get', { name });
      assert.equal(result.description, description);
      assert.deepEqual(result.messages, [{ role: 'user', content: { type: 'text', text: await program.skill(name) } }]);
    }
    for (const name of ['none', '', 5, undefined]) {
      assert.equal((await ask('prompts/get', { name })).error.code, -32602);
    }
  }
});

test('a host that takes only plain characters is shown such names, and every spelling answers', async (t) => {
  const program = startProgram(t, { tree: makeTree(t, FILES) });
  await program.handshake('2025-11-25', 'claude-code');
  const { prompts } = (await program.request('prompts/list')).result;
  assert.deepEqual(
    prompts.map((prompt: Answer) => prompt.name),
    ['My_Notes_b7472276', 'claude__pdf', 'codex__pdf'],
  );
  for (const name of ['My_Notes_b7472276', 'My Notes', 'claude__pdf', 'claude:pdf']) {
    assert.equal((await program.request('prompts/get', { name })).result.messages.length, 1);
  }
});

test('a skill that can no longer be read is an error, not an empty prompt', async (t) => {
  const tree = makeTree(t, FILES);
  const program = startProgram(t, { tree, args: ['--no-refresh'] });
  await program.request('prompts/list');
  tree.remove('.claude/skills/pdf');
  const { error } = await program.request('prompts/get', { name: 'claude:pdf' });
  assert.deepEqual(error, { code: -32602, message: 'invalid params: prompt "claude:pdf" is no longer there' });
  assert.doesNotMatch(program.stderr(), /failed/);
});

test('--no-prompts leaves prompts out altogether', async (t) => {
  const program = startProgram(t, { tree: makeTree(t, FILES), args: ['--no-prompts'] });
  assert.equal((await program.handshake()).result.capabilities.prompts, undefined);
  for (const method of ['prompts/list', 'prompts/get']) {
    assert.equal((await program.request(method)).error.code, -32601);
  }
});

test('a prompt of an embedder is listed beside the skills, and a client with skills of its own sees it too', async (t) => {
  const tree = makeTree(t, FILES);
  const get = () => ({ messages: [] });
  const source = { name: 'mine', load: async () => ({ prompts: [{ definition: { name: 'greet' }, get }] }) };
  const options = { cwd: tree.path, home: tree.at('home'), autoRefresh: false, skipOwn: true, sources: [source] };
  const skillwire = createSkillwire(options);
  t.after(() => skillwire.close());
  const peer = createPeer(skillwire.handle);
  const namesFor = async (client: string) =>
    (await peer.request('prompts/list', modern({}, client))).result.prompts.map(({ name }: Answer) => name);
  assert.deepEqual(await namesFor('somebody new'), ['My Notes', 'claude:pdf', 'codex:pdf', 'greet']);
  assert.deepEqual(await namesFor('codex-mcp-client'), ['claude__pdf', 'greet']);
});
