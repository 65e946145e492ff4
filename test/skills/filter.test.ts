import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFilter, type Subject } from '../../src/skills/filter.ts';

const NAMES = 'claude:pdf; codex:pdf; codex:PDF-forms; agents:codex; agents:a/b; agents:.hidden; agents:x:y; agents:É';
const MORE = 'agents:two (2); docs:pdf; docs:word; files:read; cursor:own; cursor+:tool; :embedded';
const ALL = `${NAMES}; ${MORE}`.split('; ');

/** `group:name`. `docs` is a plugin, `files` and `cursor+` are upstream servers; the latter is called like a provider. */
function subjectOf(id: string): Subject {
  const [, group = '', name = ''] = /^(.*?):(.*)$/.exec(id) ?? [];
  if (group === 'docs') return { name, group: 'claude', plugin: { name: group, marketplace: 'market' } };
  return { name, group: group.replace('+', ''), isUpstream: /files|\+/.test(group) };
}

async function apply(include: readonly string[], exclude: readonly string[]) {
  const filter = createFilter({ include, exclude });
  const idle = await filter.problems(ALL.map(subjectOf), []);
  assert.ok(idle.every(({ what, hint }) => what === 'matches nothing' && hint));
  return { kept: ALL.filter((id) => filter.keeps(subjectOf(id))), idle: idle.map(({ where }) => where) };
}

/** Patterns that mean the same, and what they mean. */
const TABLE = `
codex; CODEX; codex:* = codex:pdf; codex:PDF-forms
claude; @claude = claude:pdf; docs:pdf; docs:word
files; files:r?ad = files:read
cursor = cursor:own; cursor+:tool
@Cursor = cursor:own
@Plugins; docs:*; claude:docs:* = docs:pdf; docs:word
pdf; p[c-e]f = claude:pdf; codex:pdf; docs:pdf
pdf* = claude:pdf; codex:pdf; codex:PDF-forms; docs:pdf
Pdf-FORMS = codex:PDF-forms
codex:pdf = codex:pdf
docs@market:w*; *:word = docs:word
claude:pdf = claude:pdf; docs:pdf
{pdf,{word,read}} = claude:pdf; codex:pdf; docs:pdf; docs:word; files:read
a*; a/b = agents:a/b
*hidden = agents:.hidden
x:y = agents:x:y
e\u0301 = agents:É
Two (2) = agents:two (2)
* = ${ALL.join('; ')}
; @; @files; custom; codex:; :pdf; docs; !pdf; nothing*; [; ( = `;

for (const [, patterns = '', kept = ''] of TABLE.matchAll(/^(.*) = (.*)$/gm))
  for (const pattern of patterns.split('; '))
    test(`the pattern ${JSON.stringify(pattern)} includes exactly what it names, and excludes the same`, async () => {
      const named = kept.split('; ').filter(Boolean);
      assert.deepEqual(await apply([pattern], []), {
        kept: named,
        idle: named.length === 0 ? [`filter "${pattern}"`] : [],
      });
      assert.deepEqual(await apply([], [pattern]), { kept: ALL.filter((id) => !named.includes(id)), idle: [] });
    });

test('includes unite, excludes win, and an include that matches nothing is reported once', async () => {
  const { kept, idle } = await apply(['codex', 'docs:*', 'zzz', 'zzz'], ['pdf', 'yyy']);
  assert.deepEqual([kept, idle], [['codex:PDF-forms', 'docs:word'], ['filter "zzz"']]);
  assert.deepEqual(await apply([], []), { kept: ALL, idle: [] });
});

test('neither a hostile name nor a pattern of special characters takes long; a name counts by its first 256 characters', () => {
  const start = performance.now();
  const patterns = '*a*a*a*b x:*a*a*a*b {a,b}*a*a*b +(a|a)+(a|a)b (a|a)+b [a]+b @( \\ [[:alpha:]]'.split(' ');
  for (const name of ['a'.repeat(100_000), `${'ab'.repeat(60)}c`, 'a/'.repeat(5000)])
    for (const pattern of patterns)
      assert.equal(createFilter({ include: [pattern], exclude: [] }).keeps({ name, group: 'x' }), false, pattern);
  // Some 2 s on a quiet machine; one that takes exponential time never ends.
  assert.ok(performance.now() - start < 60_000);
  const { keeps } = createFilter({ include: [`*${'a'.repeat(100)}`], exclude: [] });
  assert.ok(keeps({ name: `${'a'.repeat(256)}b`, group: 'x' }));
});
