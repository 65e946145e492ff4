import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { settingsFrom } from '../../src/config.ts';
import { createOwnTools } from '../../src/tools/index.ts';
import { ListInput } from '../../src/tools/list.ts';
import { ReadInput } from '../../src/tools/read.ts';
import { SearchInput } from '../../src/tools/search.ts';
import { SkillInput } from '../../src/tools/skill.ts';
import { sketch } from '../harness/sketch.ts';
import { openTools } from '../harness/tools.ts';

/** What each schema takes, and what it refuses: JSON, between bars. */
const INPUTS: readonly (readonly [applied: v.GenericSchema, good: string, ...bad: string[]])[] = [
  [
    ListInput,
    '{} | {"query":""} | {"query":"pdf","includeBody":true}',
    '{"query":7} | {"query":null} | {"includeBody":"yes"} | {"limit":1}',
    `{"query":"${'x'.repeat(501)}"}`,
  ],
  [
    SkillInput,
    '{"name":"pdf"} | {"name":" two words "} | {"name":"用户 🙂"} | {"name":"\\ud800"} | {"name":"__proto__"}',
    '{} | {"name":""} | {"name":" \\t\\n"} | {"name":"\\u00a0\\ufeff"} | {"name":7} | {"name":null} | {"name":["pdf"]}',
    '{"Name":"pdf"} | {"name":"a","page":1} | {"name":"a","__proto__":{}} | {"name":"a","toString":1} | "pdf" | null',
  ],
  [
    SearchInput,
    '{"query":"pdf"} | {"query":"a b","limit":1} | {"query":"a","limit":25} | {"query":"a","limit":2.0}',
    '{} | {"query":" "} | {"query":"a","limit":0} | {"query":"a","limit":26} | {"query":"a","limit":1.5}',
    `{"query":"${'x'.repeat(501)}"}`,
  ],
  [
    ReadInput,
    '{"name":"pdf","path":"a.md"}',
    '{"name":"pdf"} | {"path":"a.md"} | {"name":"pdf","path":""} | {"name":"pdf","path":"a","line":1}',
  ],
];

for (const [at, { definition }] of createOwnTools(settingsFrom({})).entries())
  test(`${definition.name}: what clients are told to send and what is accepted agree; it is annotated read-only`, () => {
    const seen = new Ajv2020({ strict: true }).compile(definition.inputSchema);
    const [applied = v.never(), ...rows] = INPUTS[at] ?? [];
    for (const [row, texts] of rows.entries())
      for (const value of texts.split(' | ').map((text) => JSON.parse(text)))
        assert.deepEqual([seen(value), v.is(applied, value)], [row === 0, row === 0], JSON.stringify(value));
    const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
    assert.deepEqual(definition.annotations, { title: definition.title, ...hints });
  });

test('a name of no skill, or of several, is a failure that the model can act on, briefly', async (t) => {
  const owners = ['codex', 'claude'].map((owner) => sketch(owner, 'pdf'));
  const skills = [...owners, ...Array.from({ length: 53 }, (_, nth) => sketch('custom', `s${nth}`))];
  const { call } = await openTools(t, {}, {}, { skills });
  const missing = await call('skill', { name: 'qq\u001b[2J' });
  const list = 'Available skills:\n(?:- .*\n){50}… and 5 more\n\nUse the exact skill name';
  assert.match(missing.text, new RegExp(`^Skill 'qq\\\\u001b\\[2J' not found\\.\n\n${list}`));
  const shared = await call('skills.read', { name: 'pdf', path: 'a' });
  assert.match(shared.text, /^Skill 'pdf' is ambiguous: 2 skills .*\n\n- codex:pdf\n- claude:pdf\n\nTo load one /);
  assert.ok(missing.isError && shared.isError);
});
