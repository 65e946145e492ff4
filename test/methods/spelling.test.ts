import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNameTable, hashOf } from '../../src/methods/spelling.ts';
import { createRandom } from '../harness/sketch.ts';

const tableOf = (names: readonly string[]) => {
  const all = names.map((name) => ({ definition: { name }, get: () => ({}) }));
  return createNameTable('tool', all);
};
const spelled = (names: readonly string[], limit: 64 | 45 = 64) => [...tableOf(names).shown(limit).keys()];
const found = (names: readonly string[], name: unknown, limit?: 64 | 45) =>
  tableOf(names).find(name, limit)?.definition.name;
const withHash = (front: string, name: string) => `${front}_${hashOf(name)}`;

const ALONE: readonly (readonly [name: string, spelling: string])[] = [
  ['skill', 'skill'],
  ['skills.list', 'skills_list'],
  ['server:tool', 'server__tool'],
  ['my.db:drop', 'my_db__drop'],
  ['数据分析', withHash('____', '数据分析')],
  ['My Notes', withHash('My_Notes', 'My Notes')],
  ['claude@global:pdf', withHash('claude_global__pdf', 'claude@global:pdf')],
  ['x'.repeat(64), 'x'.repeat(64)],
  ['x'.repeat(65), withHash('x'.repeat(55), 'x'.repeat(65))],
  ['a_0123abcd', withHash('a_0123abcd', 'a_0123abcd')],
];

for (const [name, spelling] of ALONE)
  test(`${name.slice(0, 30)} is spelled ${spelling.slice(0, 40)}, alone and beside others, and every spelling means it`, () => {
    assert.equal(spelled([name, '测试测试', 'other:tool'])[0], spelling);
    const table = tableOf([name, name]);
    assert.deepEqual([table.spell(name, 64), table.spell(name, undefined)], [spelling, name]);
    const [short = ''] = spelled([name], 45);
    assert.ok(short.length <= 45);
    for (const limit of [undefined, 64, 45] as const)
      for (const one of [name, spelling, short]) assert.equal(found([name], one, limit), name, one);
  });

test('what is no name is refused; of names that clash each carries its hash, and the bare spelling means none', () => {
  for (const name of [5, null, undefined, {}])
    assert.throws(() => found(['a'], name), {
      code: -32602,
      message: 'invalid params: name must be the name of a tool',
    });
  const names = ['my.db:drop', 'my_db:drop', 'my_db:keep'];
  const hashed = names.slice(0, 2).map((name) => withHash('my_db__drop', name));
  assert.deepEqual(spelled(names), [...hashed, 'my_db__keep']);
  assert.equal(found(names, 'my_db__drop', 64), undefined);
  for (const [at, name] of hashed.entries()) assert.equal(found(names, name), names[at]);
});

test('a name made to look like the spelling of another takes nothing over', () => {
  const spelling = withHash('____', '数据分析');
  const names = ['数据分析', spelling, spelling.replace('_', '.'), withHash(spelling, spelling)];
  const spellings = spelled(names);
  assert.deepEqual([spellings[0], new Set(spellings).size], [spelling, 4]);
  for (const [at, name] of names.entries()) assert.equal(found(names, spellings[at], 64), name);
  assert.equal(found(names, spelling), spelling, 'to a client that is shown plain names, it is what it is');
});

test('10,000 names have spellings that differ, fit, and mean their names, whatever their order', () => {
  const random = createRandom(7);
  const pick = () => ['a', '_', '.', ':', '-', '名', ' '][Math.floor(random() * 7)];
  const names = [...new Set(Array.from({ length: 10_000 }, (_, at) => Array.from({ length: at % 70 }, pick).join('')))];
  const [table, reversed] = [tableOf(names), tableOf(names.toReversed())];
  for (const limit of [64, 45] as const) {
    const spellings = [...table.shown(limit).keys()];
    assert.equal(spellings.length, names.length);
    assert.deepEqual([...reversed.shown(limit).keys()].reverse(), spellings);
    for (const [at, one] of spellings.entries()) {
      assert.ok(/^[\w-]*$/.test(one) && one.length <= limit, one);
      assert.equal(table.find(one, limit)?.definition.name, names[at]);
    }
  }
});
