import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNameTable, LONGEST_SAFE_NAME, SHORT_NAMES } from '../../src/methods/spelling.ts';
import { hashOf } from '../../src/text.ts';

const table = (names: readonly string[], servers: readonly string[] = []) =>
  createNameTable('tool', new Map(names.map((name) => [name, name])), servers);
const spell = (names: readonly string[], servers: readonly string[] = []) => {
  const { spell } = table(names, servers);
  return names.map((name) => spell(name, LONGEST_SAFE_NAME));
};
const withHash = (front: string, name: string) => `${front}_${hashOf(name)}`;

const ALONE: readonly (readonly [name: string, spelling: string])[] = [
  ['skill', 'skill'],
  ['skills.list', 'skills_list'],
  ['server:tool', 'server__tool'],
  ['my.db:drop', 'my_db__drop'],
  ['数据分析', withHash('____', '数据分析')],
  ['My Notes', withHash('My_Notes', 'My Notes')],
  ['a/b', withHash('a_b', 'a/b')],
  ['ü', withHash('_', 'ü')],
  ['claude@global:pdf', withHash('claude_global__pdf', 'claude@global:pdf')],
  ['x'.repeat(64), 'x'.repeat(64)],
  ['x'.repeat(65), withHash('x'.repeat(55), 'x'.repeat(65))],
];

for (const [name, spelling] of ALONE) {
  test(`${name.slice(0, 30)} is spelled ${spelling.slice(0, 40)}, alone and beside others (11.6)`, () => {
    assert.deepEqual(spell([name]), [spelling]);
    assert.equal(spell([name, '测试', 'other:tool', 'ein anderer'])[0], spelling);
    for (const limit of [undefined, LONGEST_SAFE_NAME] as const)
      for (const one of [name, spelling]) assert.equal(table([name]).find(one, limit), name);
  });
}

test('what lost characters never comes to mean another that lost as many (11.6)', () => {
  const [before] = spell(['数据分析']);
  const [after, other] = spell(['数据分析', '测试测试']);
  assert.equal(after, before);
  assert.notEqual(other, before);
  assert.equal(table(['测试测试']).find(String(before), LONGEST_SAFE_NAME), undefined);
  assert.equal(table(['测试测试']).find('____', LONGEST_SAFE_NAME), undefined);
});

test('of names that clash each carries its hash, and the bare spelling means none of them (11.23)', () => {
  const names = ['my.db:drop', 'my_db:drop', 'my_db:keep'];
  const spellings = spell(names);
  assert.deepEqual(spellings, [
    withHash('my_db__drop', 'my.db:drop'),
    withHash('my_db__drop', 'my_db:drop'),
    'my_db__keep',
  ]);
  const { find } = table(names);
  for (const limit of [undefined, LONGEST_SAFE_NAME] as const) {
    const message = `invalid params: tool "my_db__drop" is ambiguous; use one of these names: ${spellings.slice(0, 2).join(', ')}`;
    assert.throws(() => find('my_db__drop', limit), { code: -32602, message });
    for (const [at, name] of names.entries()) {
      assert.equal(find(name, limit), name);
      assert.equal(find(String(spellings[at]), limit), name);
    }
  }
  // What a client was shown while they clashed still means the same when one has left.
  const alone = table(['my_db:drop']);
  assert.equal(alone.find(withHash('my_db__drop', 'my_db:drop'), LONGEST_SAFE_NAME), 'my_db:drop');
});

test('where two configured servers are spelled alike, names carry the hash while only one is there (11.23)', () => {
  const servers = ['my.db', 'my_db', 'a', 'a__b', 'other'];
  for (const name of ['my.db:drop', 'my_db:drop', 'a:b__c', 'a__b:c']) {
    const bare = name.replace('.', '_').replace(':', '__');
    assert.deepEqual(spell([name], servers), [withHash(bare, name)]);
    assert.throws(() => table([name], servers).find(bare, LONGEST_SAFE_NAME), /is ambiguous/);
  }
  for (const name of ['a:c', 'other:b__c']) assert.deepEqual(spell([name], servers), [name.replace(':', '__')]);
});

test('a plain name that is another one spelled safely means itself to whoever is shown plain names (11.23)', () => {
  const { find, spell } = table(['my_notes', 'my.notes']);
  assert.equal(find('my_notes', undefined), 'my_notes');
  assert.throws(() => find('my_notes', LONGEST_SAFE_NAME), /is ambiguous/);
  for (const name of ['my_notes', 'my.notes'])
    assert.equal(find(spell(name, LONGEST_SAFE_NAME), LONGEST_SAFE_NAME), name);
});

test('a name made to look like the hash of another takes nothing over (11.23)', () => {
  const victim = '数据分析';
  const spelling = withHash('____', victim);
  const names = [victim, spelling, spelling.replace('_', '.')];
  const { find, spell: speller } = table(names);
  const spellings = names.map((name) => speller(name, LONGEST_SAFE_NAME));
  assert.equal(new Set(spellings).size, 3);
  assert.throws(() => find(spelling, LONGEST_SAFE_NAME), /is ambiguous/);
  for (const [at, name] of names.entries()) assert.equal(find(String(spellings[at]), LONGEST_SAFE_NAME), name);
});

test('10,000 names are spelled in little time, all differently, in the right characters and length', () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `server-${at % 50}:${'名'.repeat(at % 90)}tool.${at}`);
  const start = performance.now();
  const { spell } = table(
    names,
    Array.from({ length: 50 }, (_, at) => `server-${at}`),
  );
  for (const longest of [LONGEST_SAFE_NAME, SHORT_NAMES] as const) {
    const spellings = names.map((name) => spell(name, longest));
    assert.equal(new Set(spellings).size, names.length);
    for (const one of spellings) assert.match(one, /^[A-Za-z0-9_-]+$/);
    assert.ok(spellings.every((one) => one.length <= longest));
  }
  // Some 100 ms on a quiet machine.
  assert.ok(performance.now() - start < 8000);
});
