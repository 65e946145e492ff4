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
  JSON.parse(JSON.stringify(toolFrom({ name: 'x', inputSchema: SCHEMA, ...more })?.definition));

test('every output schema that is kept compiles, as SDK clients do while they read a list', () => {
  const kept = ODD_TOOLS.flatMap((odd) => toolWith({ outputSchema: Object(odd).outputSchema }).outputSchema ?? []);
  for (const schema of kept) new Ajv({ strict: false }).compile(schema);
  assert.ok(kept.length > 1);
});

const SAME = {};
/** The schema of an object whose property `a` is that. */
const of = (a: object, more: object = {}) => ({ type: 'object', properties: { a }, ...more });
const LIST = { type: 'array', items: { anyOf: [{ type: ['null', 'string'] }, { enum: [1] }] }, minItems: 1 };
const RICH = { $schema: 's', $defs: { a: { $anchor: 'n' } }, ...SCHEMA, allOf: [{ $ref: '#/$defs/a' }] };
const SCHEMAS: readonly (readonly [what: string, member: string, sent: object, listed: object | undefined])[] = [
  ['bounds are kept', 'outputSchema', { ...SCHEMA, additionalProperties: false, $schema: 'x', description: 'd' }, SAME],
  ['lists and choices are kept', 'outputSchema', of(LIST), SAME],
  ['a list is dropped', 'outputSchema', { type: 'array', items: { type: 'string' } }, undefined],
  ['a reference is dropped', 'outputSchema', of({ $ref: '#/$defs/b' }, { $defs: { b: {} } }), undefined],
  ['an identity is dropped', 'outputSchema', { ...SCHEMA, $id: 'x' }, undefined],
  ['a pattern is dropped', 'outputSchema', of({ type: 'string', pattern: 'a' }), undefined],
  ['an unknown type is dropped', 'outputSchema', of({ properties: { constructor: { type: 'no' } } }), undefined],
  ['all that means something is kept', 'inputSchema', RICH, SAME],
  ['what is no schema restricts nothing', 'inputSchema', { properties: { a: 5 }, required: 'a' }, of({})],
  ['a boolean schema becomes an object', 'inputSchema', { properties: { a: false } }, of({ not: {} })],
  ['invisible text is removed', 'inputSchema', of({ description: 'a\u200bb' }), of({ description: 'ab' })],
  ['a value is kept as it is', 'inputSchema', of({ default: 'c\u200bd' }), SAME],
  [
    'annotations for headers are removed',
    'inputSchema',
    of({ type: 'string', 'x-mcp-header': 'R' }),
    of({ type: 'string' }),
  ],
];
for (const [what, member, sent, listed] of SCHEMAS)
  test(`${member}: ${what}`, () =>
    assert.deepEqual(toolWith({ [member]: sent })[member], listed === SAME ? sent : listed));

test('a bad optional field is dropped, a text is shortened and shown without invisible characters', () => {
  const odd = { title: 5, description: `d\u202e${'x'.repeat(40_000)}`, annotations: { readOnlyHint: 'yes', other: 1 } };
  const { title, description, annotations } = toolWith({ ...odd, icons: [{ src: 'no uri' }] });
  assert.deepEqual([title, description.length, annotations], [undefined, 32_768, { other: 1 }]);
  assert.ok(description.startsWith('dx'));
  const annotated = { annotations: { lastModified: '2025-02-30T00:00Z' } };
  const kept = resourceFrom({ uri: 'x:y', name: `n\u200b${'x'.repeat(200)}`, ...annotated });
  assert.deepEqual([kept?.name.length, Object(kept?.annotations).lastModified], [128, '2025-03-02T00:00:00.000Z']);
});

const REFUSED: readonly (readonly [why: RegExp, check: (raw: Params) => unknown, raw: Params])[] = [
  [/no name/, toolFrom, { inputSchema: SCHEMA }],
  [/no visible characters/, promptFrom, { name: '\u200b' }],
  [/over 128 characters/, promptFrom, { name: 'x'.repeat(129) }],
  [/inputSchema is not/, toolFrom, { name: 'x', inputSchema: { type: 'array' } }],
  [/x-mcp-header/, toolFrom, { name: 'x', inputSchema: of({ type: 'number', 'x-mcp-header': 'Region' }) }],
  [/no uri/, resourceFrom, { name: 'x' }],
  [/URI is not valid/, resourceFrom, { name: 'x', uri: '/path' }],
  [/invisible characters/, resourceFrom, { name: 'x', uri: 'x:\ud800' }],
  [/scheme/, templateFrom, { name: 'x', uriTemplate: '{+path}' }],
  [/braces/, templateFrom, { name: 'x', uriTemplate: 'x:{a' }],
];
test('an item that cannot be listed says why; URIs of skills are ours, and are left out in silence, as tasks are', () => {
  for (const [why, check, raw] of REFUSED) assert.throws(() => check(raw), why);
  assert.equal(resourceFrom({ name: 'x', uri: 'skill://claude/pdf/SKILL.md' }), undefined);
  assert.equal(templateFrom({ name: 'x', uriTemplate: 'SKILL://{a}' }), undefined);
  assert.equal(toolFrom({ name: 'x', inputSchema: SCHEMA, execution: { taskSupport: 'required' } }), undefined);
});
