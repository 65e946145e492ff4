import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedSkill, Location, Plugin, Skill } from '../../src/model.ts';
import { localFiles } from '../../src/skills/contents.ts';
import { createUris, skillPathAt, uriOf } from '../../src/skills/uris.ts';
import { hashOf } from '../../src/text.ts';

interface Sketch {
  readonly name: string;
  readonly provider?: string;
  readonly location?: Location;
  readonly plugin?: Plugin;
  readonly root?: string;
  readonly at?: string;
}

function listed({
  name,
  provider = 'claude',
  location = 'project',
  plugin,
  root = '/r',
  at = name,
}: Sketch): ListedSkill {
  const directory = `${root}/${at}`;
  const skill: Skill = {
    name,
    key: name,
    description: 'd',
    provider,
    location,
    plugin,
    root,
    directory,
    file: `${directory}/SKILL.md`,
    place: directory,
    bytes: undefined,
    read: () => Buffer.alloc(0),
    files: localFiles(directory),
  };
  return { id: name, skill };
}

function rootsOf(sketches: readonly Sketch[]): readonly (string | undefined)[] {
  const all = sketches.map(listed);
  const uris = createUris(all);
  return all.map(({ skill }) => uris.rootOf(skill));
}

const market = (name: string, marketplace = 'm'): Plugin => ({ name, marketplace });

const TABLE: readonly (readonly [
  promise: string,
  sketches: readonly Sketch[],
  roots: readonly (string | undefined)[],
])[] = [
  ['a skill stands under its provider', [{ name: 'a' }], ['skill://claude/a']],
  [
    'a shadowed copy is told apart by its location',
    [{ name: 'a' }, { name: 'a', location: 'global', root: '/g' }],
    ['skill://claude/a', 'skill://claude/global/a'],
  ],
  [
    'further ones have the hash of their directories',
    [{ name: 'a' }, { name: 'a', at: 'x/a' }, { name: 'a', at: 'y/a' }, { name: 'a', at: 'z/a' }],
    ['skill://claude/a', ...['x', 'y', 'z'].map((at) => `skill://claude/project%40${hashOf(`/r/${at}/a`)}/a`)],
  ],
  [
    'of several whose directories have one hash, the first has a URI of its own',
    [{ name: 'a' }, { name: 'a', at: 'x/a' }, { name: 'a', at: 'x/a' }],
    ['skill://claude/a', `skill://claude/project%40${hashOf('/r/x/a')}/a`, undefined],
  ],
  ['a plugin stands between', [{ name: 'a', plugin: market('p'), location: 'plugin' }], ['skill://claude/p/a']],
  [
    'two plugins of one name are told apart by their marketplaces',
    [
      { name: 'a', plugin: market('p', 'm'), root: '/1' },
      { name: 'a', plugin: market('p', 'n'), root: '/2' },
    ],
    ['skill://claude/p/a', 'skill://claude/p%40n/a'],
  ],
  [
    'a plugin does not creep into a skill of its own name',
    [{ name: 'p' }, { name: 'a', plugin: market('p'), root: '/1' }],
    ['skill://claude/p', 'skill://claude/p%40m/a'],
  ],
  [
    'nor a skill over a plugin that was there first',
    [{ name: 'a', plugin: market('p'), root: '/1' }, { name: 'p' }],
    ['skill://claude/p/a', 'skill://claude/project/p'],
  ],
  [
    'a skill called like a location is no prefix of others',
    [{ name: 'global' }, { name: 'a' }, { name: 'a', location: 'global', root: '/g' }],
    ['skill://claude/global', 'skill://claude/a', `skill://claude/global%40${hashOf('/g/a')}/a`],
  ],
  [
    'an inner skill continues the outer one, whichever is listed first',
    [{ name: 'in', at: 'out/sub/in' }, { name: 'out' }],
    ['skill://claude/out/sub/in', 'skill://claude/out'],
  ],
  [
    'an inner skill in a directory of another name has no URI',
    [{ name: 'out' }, { name: 'in', at: 'out/other' }],
    ['skill://claude/out', undefined],
  ],
  [
    'a name that the rules do not allow is encoded, and holds what lies inside it (11.5)',
    [
      { name: 'Not Lawful', at: 'x' },
      { name: 'in', at: 'x/in' },
      { name: 'ü' },
      { name: 'a/b', at: 'y' },
      { name: '..', at: 'z' },
      { name: '数据分析', at: 'w' },
    ],
    [
      'skill://claude/Not%20Lawful',
      'skill://claude/Not%20Lawful/in',
      'skill://claude/%C3%BC',
      'skill://claude/a%2Fb',
      'skill://claude/_',
      'skill://claude/%E6%95%B0%E6%8D%AE%E5%88%86%E6%9E%90',
    ],
  ],
  [
    'a skill inside one that has no URI stands for itself',
    [
      { name: 'x'.repeat(600), at: 'x' },
      { name: 'in', at: 'x/in' },
    ],
    [undefined, 'skill://claude/in'],
  ],
  [
    'odd providers and plugins are encoded, and never mean "up"',
    [
      { name: 'a', provider: 'my agent/ü' },
      { name: 'a', plugin: market('..'), root: '/1' },
      { name: 'b', plugin: market('\ud800'), root: '/1' },
    ],
    ['skill://my%20agent%2F%C3%BC/a', 'skill://claude/_/a', 'skill://claude/%EF%BF%BD/b'],
  ],
];

for (const [promise, sketches, roots] of TABLE) {
  test(promise, () => assert.deepEqual(rootsOf(sketches), roots));
}

test('no URI is given twice, and none lies in a skill that does not hold it', () => {
  const names = ['a', 'b', 'global', 'project', '2', 'p'];
  const sketches = names.flatMap((name) => [
    { name },
    { name, location: 'global' as const, root: '/g' },
    { name, provider: 'codex' },
    { name, at: `x/${name}` },
    ...names.flatMap((plugin) => [
      { name, plugin: market(plugin), root: `/p/${plugin}` },
      { name, plugin: market(plugin, 'n'), root: `/n/${plugin}` },
    ]),
  ]);
  for (const order of [sketches, sketches.toReversed()]) {
    const roots = rootsOf(order).flatMap((root) => root ?? []);
    assert.equal(new Set(roots).size, sketches.length);
    const inside = roots.filter((root) => roots.some((other) => root.startsWith(`${other}/`)));
    assert.deepEqual(inside, []);
  }
});

test('a URI leads back to its file, however it is spelled', () => {
  const uris = createUris([listed({ name: 'a' })]);
  for (const path of ['SKILL.md', 'x y/ü.md', '100%', 'a#b?c', '...', '.x']) {
    assert.equal(skillPathAt(uris, uriOf('skill://claude/a', path))?.path, path);
  }
  assert.equal(skillPathAt(uris, 'skill://claude/%61/%2Ex')?.path, '.x');
});

test('a long URI costs linear time, wherever it leads (10.4)', () => {
  const uris = createUris([listed({ name: 'a' })]);
  const start = process.cpuUsage();
  for (const piece of ['a/', '%61/', 'ü/', 'x', '%', '/', 'a/../', '%2F']) {
    for (const prefix of ['skill://claude/a/', 'skill://', 'skill://claude/']) {
      const uri = prefix + piece.repeat(12_000 / piece.length);
      for (const one of [uri, `${uri}x`, uri.slice(0, 12_000)]) skillPathAt(uris, one);
    }
  }
  const took = process.cpuUsage(start).user / 1000;
  assert.ok(took < 1000, `${Math.round(took)} ms`);
});

test('a URI has no more segments than a path has levels (10.4)', () => {
  const uris = createUris([listed({ name: 'a' })]);
  const path = Array(100).fill('d').join('/');
  assert.equal(skillPathAt(uris, `skill://claude/a/${path}`)?.path, path);
  assert.equal(skillPathAt(uris, `skill://claude/a/${path}/${path}`), undefined);
});

test('a name with any character in it leads back to its skill, and to nothing beside it (11.5)', () => {
  const names = ['PDF Tools', 'ü', 'a/b', '..', '.', '%2e%2e', '100%', 'a?b#c', 'global', 'global@2', '💾', 'x:y\\z'];
  const all = names.map((name, nth) => listed({ name, at: `d${nth}` }));
  const uris = createUris(all);
  for (const one of all) {
    const root = uris.rootOf(one.skill) ?? '';
    assert.equal(skillPathAt(uris, uriOf(root, 'SKILL.md'))?.listed, one, root);
    assert.equal(skillPathAt(uris, `${root}/..`), undefined);
    assert.equal(skillPathAt(uris, `${root}/%2e%2e/x`), undefined);
    assert.equal(skillPathAt(uris, `${root}/a%2Fb`), undefined);
  }
});

test('a server that names directories of many levels costs linear time (10.4)', () => {
  const deep = 'a/'.repeat(30_000);
  const all = Array.from({ length: 20 }, (_, nth) =>
    listed({ name: 'a', location: 'mcp', root: 'skill://s', at: `${deep}${nth}/a` }),
  );
  const start = process.cpuUsage();
  const uris = createUris(all);
  const took = process.cpuUsage(start).user / 1000;
  assert.equal(uris.roots.size, 0);
  assert.ok(took < 1000, `${Math.round(took)} ms`);
});

test('a URI never leads to another skill because one of the same name was deleted', () => {
  const all = ['x', 'y', 'z'].map((at) => listed({ name: 'a', at: `${at}/a` }));
  const before = createUris(all);
  for (const gone of all) {
    const uris = createUris(all.filter((one) => one !== gone));
    for (const [root, { skill }] of [...before.roots].filter(([root]) => root !== 'skill://claude/a')) {
      const now = uris.roots.get(root)?.skill;
      assert.ok(now === undefined || now === skill, root);
    }
  }
});

test('URIs that are assigned beforehand, in steps, are those that are assigned on first use', async () => {
  const all = Array.from({ length: 20_000 }, (_, at) => listed({ name: `skill-${at}` }));
  const uris = createUris(all);
  const prepared = uris.prepare();
  // Asked for in the middle of it.
  const early = [...uris.roots.keys()];
  await prepared;
  const beforehand = createUris(all);
  await beforehand.prepare();
  assert.deepEqual([...beforehand.roots], [...createUris(all).roots]);
  assert.deepEqual(early, [...beforehand.roots.keys()]);
  assert.equal(early.length, all.length);
});
