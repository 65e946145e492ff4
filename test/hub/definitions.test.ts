/** What is kept of definitions. That odd lists are valid in every revision is in test/program/hub.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { promptFrom, resourceFrom, templateFrom, toolFrom } from '../../src/hub/definitions.ts';
import type { Params } from '../../src/protocol/index.ts';
import { ODD_TOOLS } from '../fixtures/odd.ts';

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
/** As a client gets it. */
const toolWith = (more: object) =>
  JSON.parse(JSON.stringify(toolFrom({ name: 'x', inputSchema: SCHEMA, ...more }).definition));

test('every output schema that is kept compiles, as SDK clients do while they read a list', () => {
  const kept = ODD_TOOLS.flatMap((odd) => toolWith({ outputSchema: Object(odd).outputSchema }).outputSchema ?? []);
  for (const schema of kept) new Ajv({ strict: false }).compile(schema);
  assert.ok(kept.length > 1);
});

const LIST = { type: 'array', items: { anyOf: [{ type: ['null', 'string'] }, { enum: [1] }] }, minItems: 1 };
const of = (a: object, more: object = {}) => ({ type: 'object', properties: { a }, ...more });
const OUTPUTS: readonly (readonly [name: string, schema: object, isKept: boolean])[] = [
  ['a plain object schema', { ...SCHEMA, additionalProperties: false, $schema: 'x', description: 'd' }, true],
  ['lists, choices and bounds', of(LIST), true],
  ['a list', { type: 'array', items: { type: 'string' } }, false],
  ['a reference', of({ $ref: '#/$defs/b' }, { $defs: { b: {} } }), false],
  ['an identity', { ...SCHEMA, $id: 'x' }, false],
  ['a pattern', of({ type: 'string', pattern: 'a' }), false],
  ['an unknown type', { type: 'object', properties: { constructor: { type: 'nonsense' } } }, false],
];
for (const [name, outputSchema, isKept] of OUTPUTS)
  test(`an output schema is ${isKept ? 'kept' : 'dropped'}: ${name}`, () => {
    assert.deepEqual(toolWith({ outputSchema }).outputSchema, isKept ? outputSchema : undefined);
  });

const RICH = { $schema: 's', $defs: { a: { $anchor: 'n' } }, ...SCHEMA, allOf: [{ $ref: '#/$defs/a' }] };
const MENDED = { type: 'object', properties: { a: {}, b: { not: {} }, c: {} } };
const HEADER = { a: { type: 'string', 'x-mcp-header': 'Region' }, 'x-mcp-header': { type: 'string' } };
const INPUTS: readonly (readonly [what: string, sent: object, listed: object])[] = [
  ['keeps all that means something', RICH, RICH],
  ['is mended', { properties: { a: true, b: false, c: 5 }, required: 'a' }, MENDED],
  [
    'has no invisible text',
    of({ description: 'a\u200bb', default: 'c\u200bd' }),
    of({ description: 'ab', default: 'c\u200bd' }),
  ],
  [
    'has no annotations for headers',
    of({}, { properties: HEADER }),
    of({}, { properties: { ...HEADER, a: { type: 'string' } } }),
  ],
];
for (const [what, inputSchema, listed] of INPUTS)
  test(`an input schema ${what}`, () => assert.deepEqual(toolWith({ inputSchema }).inputSchema, listed));

test('a bad optional field is dropped, a text is shortened and shown without invisible characters', () => {
  const odd = { title: 5, description: `d\u202e${'x'.repeat(40_000)}`, annotations: { readOnlyHint: 'yes', other: 1 } };
  const { title, description, annotations } = toolWith({ ...odd, icons: [{ src: 'no uri' }] });
  assert.deepEqual([title, description.length, annotations], [undefined, 32_768, { other: 1 }]);
  assert.ok(description.startsWith('dx'));
  const resource = {
    uri: 'x:y',
    name: `n\u200b${'x'.repeat(200)}`,
    annotations: { lastModified: '2025-02-30T00:00Z' },
  };
  const kept = resourceFrom(resource);
  assert.deepEqual([kept?.name.length, Object(kept?.annotations).lastModified], [128, '2025-03-02T00:00:00.000Z']);
});

const REFUSED: readonly (readonly [why: RegExp, check: (raw: Params) => unknown, raw: Params])[] = [
  [/no name/, toolFrom, { inputSchema: SCHEMA }],
  [/no visible characters/, promptFrom, { name: '\u200b' }],
  [/over 128 characters/, promptFrom, { name: 'x'.repeat(129) }],
  [/no inputSchema/, toolFrom, { name: 'x' }],
  [/inputSchema is not/, toolFrom, { name: 'x', inputSchema: { type: 'array' } }],
  [/inputSchema is not/, toolFrom, { name: 'x', inputSchema: 5 }],
  [/x-mcp-header/, toolFrom, { name: 'x', inputSchema: of({ type: 'number', 'x-mcp-header': 'Region' }) }],
  [/run as a task/, toolFrom, { name: 'x', inputSchema: SCHEMA, execution: { taskSupport: 'required' } }],
  [/no uri/, resourceFrom, { name: 'x' }],
  [/name is not text/, resourceFrom, { name: 5, uri: 'x:y' }],
  [/URI is not valid/, resourceFrom, { name: 'x', uri: '/path' }],
  [/invisible characters/, resourceFrom, { name: 'x', uri: 'x:\ud800' }],
  [/scheme/, templateFrom, { name: 'x', uriTemplate: '{+path}' }],
  [/braces/, templateFrom, { name: 'x', uriTemplate: 'x:{a' }],
];
test('an item that cannot be listed says why; URIs of skills are ours, and are left out in silence', () => {
  for (const [why, check, raw] of REFUSED) assert.throws(() => check(raw), why);
  assert.equal(resourceFrom({ name: 'x', uri: 'skill://claude/pdf/SKILL.md' }), undefined);
  assert.equal(templateFrom({ name: 'x', uriTemplate: 'SKILL://{a}' }), undefined);
});
