import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERAS } from '../harness/host.ts';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const argument = { name: 'a', value: '' };
const prompt = (name: unknown) => ({ ref: { type: 'ref/prompt', name }, argument });
const resource = (uri: unknown) => ({ ref: { type: 'ref/resource', uri }, argument });

for (const [era, speak] of ERAS) {
  test(`completion is declared, and gives a ${era} client no values for what skills serve`, async (t) => {
    const program = startProgram(t, { tree: makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') }) });
    const ask = speak(program);
    const { capabilities } = (era === 'modern' ? await ask('server/discover') : await program.handshake()).result;
    assert.deepEqual(capabilities.completions, {});
    for (const params of [
      prompt('pdf'),
      prompt('claude:pdf'),
      resource('skill://{provider}/{skill}/{+file}'),
      resource('skill://claude/pdf/SKILL.md'),
    ]) {
      const { result } = await ask('completion/complete', params);
      assert.deepEqual(result.completion, { values: [], total: 0, hasMore: false });
    }
  });

  test(`a ${era} client that asks for the completion of nothing gets -32602`, async (t) => {
    const program = startProgram(t, { tree: makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') }) });
    const ask = speak(program);
    for (const params of [
      prompt('none'),
      prompt(7),
      prompt('x'.repeat(5000)),
      resource('file:///none'),
      resource(undefined),
      resource('x'.repeat(70_000)),
      { ref: { type: 'ref/tool', name: 'skill' }, argument },
      { ref: 'pdf', argument },
      { ...prompt('pdf'), argument: undefined },
      { ...prompt('pdf'), argument: { name: 'a', value: 5 } },
      {},
    ]) {
      const { error } = await ask('completion/complete', params);
      assert.equal(error?.code, -32602, JSON.stringify(params).slice(0, 100));
    }
  });
}

test('without prompts there is nothing to complete for them', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  const program = startProgram(t, { tree, args: ['--no-prompts'] });
  assert.equal((await program.request('completion/complete', prompt('pdf'))).error.code, -32602);
  assert.ok((await program.request('completion/complete', resource('skill://claude/pdf/SKILL.md'))).result);
});
