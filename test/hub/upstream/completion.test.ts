/** Completion for the prompts and templates of upstream servers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ERAS } from '../../harness/host.ts';
import { startHub, upstream } from '../../harness/hub.ts';
import { makeTree } from '../../harness/tree.ts';

const PROMPTS = `prompts=${JSON.stringify([{ name: 're.view', arguments: [{ name: 'file' }] }])}`;
const TEMPLATES = `templates=${JSON.stringify([{ uriTemplate: 'note://{year}/{title}', name: 'n' }])}`;
const argument = { name: 'file', value: 'a' };
const context = { arguments: { year: '2026' } };
const PROMPT_REF = { type: 'ref/prompt', name: 'up:re.view' };
const TEMPLATE_REF = { type: 'ref/resource', uri: 'note://{year}/{title}' };

for (const server of ['legacy', 'modern'])
  for (const [era, speak] of ERAS) {
    test(`a ${era} client gets the values of a ${server} server, for its prompts and templates`, async (t) => {
      const hub = await startHub(t, { up: upstream(PROMPTS, TEMPLATES, 'completions', server) });
      await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
      const ask = speak(hub);
      const valuesOf = async (ref: object) => {
        const { result } = await ask('completion/complete', { ref, argument, context });
        return result.completion.values.map((value: string) => JSON.parse(value));
      };
      const asked = [{ type: 'ref/prompt', name: 're.view' }, argument, context];
      assert.deepEqual(await valuesOf(PROMPT_REF), asked);
      assert.deepEqual(await valuesOf({ ...PROMPT_REF, name: 'up__re_view' }), asked);
      assert.deepEqual(await valuesOf(TEMPLATE_REF), [TEMPLATE_REF, argument, context]);
    });
  }

test('a server without completion is not asked, and there are no values', async (t) => {
  const tree = makeTree(t);
  const journal = tree.write('journal', '');
  const hub = await startHub(t, { up: upstream(PROMPTS, TEMPLATES, `journal=${journal}`) }, { tree });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  for (const ref of [PROMPT_REF, TEMPLATE_REF]) {
    const { result } = await hub.request('completion/complete', { ref, argument });
    assert.deepEqual(result.completion, { values: [] });
  }
  assert.doesNotMatch(readFileSync(journal, 'utf8'), /completion\/complete/);
});

for (const [what, given, expected] of [
  [
    'of more than a hundred values the first hundred',
    { values: manyValues(150), total: 150 },
    { total: 150, hasMore: true },
  ],
  ['values that are not text are left out', { values: ['a', 7, null, 'b'], hasMore: false }, { hasMore: false }],
  ['a count or mark of the wrong type is left out', { values: ['a', 'b'], total: 'x', hasMore: 'y' }, {}],
  ['nonsense is no values', { values: 'a' }, {}],
] as const)
  test(`a completion is valid for every client: ${what}`, async (t) => {
    const hub = await startHub(t, { up: upstream(PROMPTS, `completions=${JSON.stringify(given)}`) });
    await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
    const { result } = await hub.request('completion/complete', { ref: PROMPT_REF, argument });
    const { values, ...rest } = result.completion;
    const texts = Array.isArray(given.values) ? given.values.filter((one) => typeof one === 'string') : [];
    assert.deepEqual(values, texts.slice(0, 100));
    assert.deepEqual(rest, expected);
  });

function manyValues(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `v${at}`);
}
