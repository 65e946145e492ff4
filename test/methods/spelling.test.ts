import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNameTable, hashOf } from '../../src/methods/spelling.ts';
import { createRandom } from '../harness/sketch.ts';

const tableOf = (names: readonly string[]) => {
  const all = names.map((name) => ({ definition: { name }, get: () => ({}) }));
  return createNameTable('tool', all);
};
const withHash = (front: string, name: string) => `${front}_${hashOf(name)}`;

const SPELLINGS: readonly (readonly [name: string, spelling: string])[] = [
  ['skills.list', 'skills_list'],
  ['my.db:drop', 'my_db__drop'],
  ['数据分析', withHash('____', '数据分析')],
  ['claude@global:pdf', withHash('claude_global__pdf', 'claude@global:pdf')],
  ['x'.repeat(64), 'x'.repeat(64)],
  ['x'.repeat(65), withHash('x'.repeat(55), 'x'.repeat(65))],
  ['a_0123abcd', withHash('a_0123abcd', 'a_0123abcd')],
];

test('every spelling of a name means it, to every client', () => {
  for (const [name, spelling] of SPELLINGS) {
    const table = tableOf([name, name, '测试测试', 'other:tool']);
    assert.deepEqual([table.spell(name, 64), table.spell(name, undefined)], [spelling, name]);
    const [short = ''] = table.shown(45).keys();
    for (const limit of [undefined, 64, 45] as const)
      for (const one of [name, spelling, short]) assert.equal(table.find(one, limit)?.definition.name, name, one);
  }
});

test('of names that clash each carries its hash, and the bare spelling means none', () => {
  const names = ['my.db:drop', 'my_db:drop'];
  const hashed = names.map((name) => withHash('my_db__drop', name));
  const { shown, find } = tableOf(names);
  assert.deepEqual([[...shown(64).keys()], find('my_db__drop', 64)], [hashed, undefined]);
});

test('a name made to look like the spelling of another takes nothing over', () => {
  const spelling = withHash('____', '数据分析');
  const { shown, find } = tableOf(['数据分析', spelling, spelling.replace('_', '.'), withHash(spelling, spelling)]);
  assert.equal(shown(64).size, 4);
  assert.equal(find(spelling, 64)?.definition.name, '数据分析');
  assert.equal(find(spelling, undefined)?.definition.name, spelling, 'where plain names are shown, it is what it is');
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
