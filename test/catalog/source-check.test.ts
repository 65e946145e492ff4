/** Sources of an embedder that lack something (13.21). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkContribution } from '../../src/catalog/source-check.ts';
import { createSkillwire, type Source } from '../../src/index.ts';

const TOOL = { name: 'note', inputSchema: { type: 'object' }, run: () => ({ content: [] }) };
const RESOURCE = { definition: { uri: 'x://1', name: 'one' }, read: () => ({ contents: [] }) };

/** What load gives, and what is said about it. */
const FAULTS: readonly (readonly [contribution: unknown, fault: string])[] = [
  [undefined, 'what load gave is missing'],
  [null, 'what load gave must be an object'],
  [5, 'what load gave must be an object'],
  [{ tools: TOOL }, 'tools must be a list'],
  [{ tools: null }, 'tools must be a list'],
  [{ tools: [TOOL, undefined] }, 'tools.1 is missing'],
  [{ tools: [TOOL, 'x'] }, 'tools.1 must be an object'],
  [{ tools: [{ ...TOOL, name: undefined }] }, 'tools.0.name is missing'],
  [{ tools: [{ ...TOOL, name: 7 }] }, 'tools.0.name must be text'],
  [{ tools: [{ name: 'note', run: TOOL.run }] }, 'tools.0.inputSchema is missing'],
  [{ tools: [{ ...TOOL, inputSchema: 'object' }] }, 'tools.0.inputSchema must be an object'],
  [{ tools: [{ name: 'note', inputSchema: {} }] }, 'tools.0.run is missing'],
  [{ tools: [{ ...TOOL, run: 'note' }] }, 'tools.0.run must be a function'],
  [{ resources: [{ read: RESOURCE.read }] }, 'resources.0.definition is missing'],
  [{ resources: [{ ...RESOURCE, definition: { uri: 'x://1' } }] }, 'resources.0.definition.name is missing'],
  [{ resources: [{ definition: RESOURCE.definition }] }, 'resources.0.read is missing'],
  [{ templates: [{ definition: { uriTemplate: 'x://{a}', name: 'x' }, read() {} }] }, 'templates.0.matches is missing'],
  [{ skills: [{ name: 'x', description: 'y' }] }, 'skills.0.key is missing'],
  [{ prompts: [{ definition: { name: 'x' } }] }, 'prompts.0.get is missing'],
  [{ servers: 'one' }, 'servers must be a list'],
  [{ problems: [{ where: 'x' }] }, 'problems.0.what is missing'],
];

test('a contribution that lacks a field, or has it of another kind, is refused with its name', () => {
  for (const [contribution, fault] of FAULTS)
    assert.throws(() => checkContribution(contribution), new Error(fault), JSON.stringify(contribution));
  for (const good of [
    {},
    { tools: [TOOL], resources: [RESOURCE] },
    { tools: undefined },
    Object.freeze({ skills: [] }),
  ])
    assert.equal(checkContribution(good), good);
});

const OPTIONS = { scanDefaultDirs: false, skipPlugins: true, autoRefresh: false } as const;

test('it becomes a problem of its source, and what was complete goes on being served', async () => {
  let contribution: unknown = { tools: [{ ...TOOL, run: undefined }] };
  const sources = [{ name: 'notes', load: async () => contribution } as Source];
  const skillwire = createSkillwire({ ...OPTIONS, sources });
  const { tools, problems } = await skillwire.registry.ready();
  assert.deepEqual(tools, []);
  assert.deepEqual(problems, [{ where: 'notes', what: 'could not be refreshed: tools.0.run is missing' }]);

  contribution = { tools: [TOOL] };
  assert.deepEqual((await skillwire.registry.refresh('test')).tools, [TOOL]);
  contribution = { tools: [TOOL, {}] };
  const later = await skillwire.registry.refresh('test');
  assert.deepEqual(later.tools, [TOOL]);
  assert.deepEqual(await skillwire.examine(), [
    { where: 'notes', what: 'could not be refreshed: tools.1.name is missing' },
  ]);
  await skillwire.close();
});

test('a source that gives nothing at all is a problem too, and not a TypeError', async () => {
  const sources = [{ name: 'notes', load: async () => undefined } as unknown as Source];
  const skillwire = createSkillwire({ ...OPTIONS, sources });
  const { problems } = await skillwire.registry.ready();
  assert.deepEqual(problems, [{ where: 'notes', what: 'could not be refreshed: what load gave is missing' }]);
  await skillwire.close();
});

test('a source that cannot be loaded at all is refused at once', () => {
  const load = async () => ({});
  const cases: readonly (readonly [sources: unknown, fault: string])[] = [
    [{ name: 'x', load }, 'sources must be a list'],
    [[undefined], 'sources[0].name must be text'],
    [[{ load }], 'sources[0].name must be text'],
    [[{ name: 'x', load }, { name: 'y' }], 'sources[1].load must be a function'],
    [[{ name: 'x', load, close: true }], 'sources[0].close must be a function'],
  ];
  for (const [sources, fault] of cases)
    assert.throws(() => createSkillwire({ ...OPTIONS, sources: sources as readonly Source[] }), new Error(fault));
});

test('a source may be of a class with private members', async () => {
  class Notes implements Source {
    readonly name = 'notes';
    #isClosed = false;
    load = async () => ({ tools: [TOOL] });
    isUnsettled() {
      return this.#isClosed;
    }
    async close() {
      this.#isClosed = true;
    }
  }
  const notes = new Notes();
  const skillwire = createSkillwire({ ...OPTIONS, sources: [Object.freeze(notes)] });
  assert.deepEqual((await skillwire.registry.ready()).tools, [TOOL]);
  await skillwire.close();
  assert.equal(notes.isUnsettled(), true);
});
