import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Skill } from '../../src/model.ts';
import { createNames } from '../../src/skills/names.ts';
import { assignUris, skillPathAt, uriOf } from '../../src/skills/uris.ts';
import { sketch } from '../harness/sketch.ts';

/** `claude a` lies in `/r/claude/a`; with a third word in that path below `/r/claude`. */
function skillAt(line: string): Skill {
  const [owner = '', name = '', path = name] = line.split(' ').map((word) => word.replaceAll('+', ' '));
  const root = owner.endsWith('@mcp') ? `skill://${owner.slice(0, -4)}` : `/r/${owner}`;
  return sketch(owner, name, { root, directory: `${root}/${path}` });
}

const assign = async (skills: readonly Skill[]) => assignUris((await createNames(skills, new Map())).listed);

/** The promise, and then each skill with its URI. */
const TABLE = `
a shadowed copy is told apart by its location, a plugin stands between, and further ones have the numbers of their ids
claude a = claude/a
claude a x/a = claude/2/a
claude a y/a = claude/3/a
claude@global a = claude/global/a
claude@global a x/a = claude/global/4/a
p@m a = claude/p/a
p@n a = claude/p/2/a

an inner skill continues the outer one, whichever is listed first, by its directory or the path that its server gave it
claude in out/sub+dir/in = claude/out/sub%20dir/in
claude deep out/sub+dir/in/deep = claude/out/sub%20dir/in/deep
claude out = claude/out
claude in = claude/in
up@mcp pdf x/pdf = up/pdf
up@mcp pdf y/pdf = up/2/pdf
up@mcp in y/pdf/a%20b/in = up/2/pdf/a%20b/in

odd names, providers and plugins are encoded, and never mean "up"
claude Not+Lawful x = claude/Not%20Lawful
claude in x/in = claude/Not%20Lawful/in
claude a/b y = claude/a%2Fb
claude .. z = claude/_
my+agent/ü a = my%20agent%2F%C3%BC/a
..@m b = claude/2/b
\ud800@m b = claude/%EF%BF%BD/b`;

for (const block of TABLE.trim().split('\n\n')) {
  const [promise = '', ...lines] = block.split('\n');
  test(`uris: ${promise}`, async () => {
    const skills = new Map(lines.map((line) => [skillAt(line.split(' = ')[0] ?? ''), line]));
    const uris = await assign([...skills.keys()]);
    assert.equal(uris.size, lines.length);
    for (const [uri, { skill }] of uris) assert.equal(`skill://${skills.get(skill)?.split(' = ')[1]}`, uri);
  });
}

test('no URI is given twice, none lies in a skill that does not hold it, and they are sorted', async () => {
  const names = ['a', 'b', 'global', 'project', '2', 'p', 'a#2'];
  const owners = ['claude', 'claude', 'claude@global', 'claude@global', 'codex', 'claude@mcp'];
  const plugins = names.flatMap((name) => [`${name}@m`, `${name}@n`]);
  const skills = [...owners, ...plugins].flatMap((owner) => names.map((name) => sketch(owner, name)));
  for (const order of [skills, skills.toReversed()]) {
    const roots = [...(await assign(order)).keys()];
    assert.equal(roots.length, skills.length);
    assert.deepEqual(roots, roots.toSorted());
    for (const root of roots) assert.ok(!roots.some((other) => root.startsWith(`${other}/`)), root);
  }
});

test('a URI leads back to its skill and file, however it is spelled, and to nothing beside it', async () => {
  const names = ['a', 'PDF Tools', 'ü', 'a/b', '..', '.', '%2e%2e', '100%', 'a?b#c', 'global', '💾', 'x:y\\z'];
  const uris = await assign(names.map((name, nth) => sketch('claude', name, { directory: `/r/d${nth}` })));
  const at = (uri: string) => skillPathAt({ uris }, uri);
  for (const [root, listed] of uris) {
    for (const path of ['', 'SKILL.md', 'x y/ü.md', '100%', 'a#b?c', '...', '.x', '%2e%2e/x'])
      assert.deepEqual(at(uriOf(root, path)), { root, listed, path });
    for (const way of ['..', '.', '', 'x/', '%2e%2e/x', 'a%2Fb', '%2E./x', 'x%00', '%zz', '%c0%ae', 'a//b'])
      assert.equal(at(`${root}/${way}`), undefined, `${root}/${way}`);
  }
  assert.equal(at('skill://claude/%61/%2Ex')?.path, '.x');
  for (const uri of ['skill://claude', 'skill://codex/a', 'file://claude/a', 'skill://', 'skill://claude/%zz', ''])
    assert.equal(at(uri), undefined, uri);
});

test('a long URI, ten thousand skills, also of one name, and endless paths take linear time', async () => {
  const uris = await assign([sketch('claude', 'a')]);
  const path = Array(100).fill('d').join('/');
  assert.equal(skillPathAt({ uris }, `skill://claude/a/${path}`)?.path, path);
  assert.equal(skillPathAt({ uris }, `skill://claude/a/${path}/${path}`), undefined, 'too many segments');
  const start = process.cpuUsage();
  for (const piece of ['a/', '%61/', 'ü/', 'x', '%', '/', 'a/../', '%2F'])
    for (const prefix of ['skill://claude/a/', 'skill://', `skill://${'x'.repeat(500)}/`])
      skillPathAt({ uris }, prefix + piece.repeat(65_000 / piece.length));
  const deep = Array.from({ length: 20 }, (_, nth) => skillAt(`up@mcp a ${'a/'.repeat(30_000)}${nth}/a`));
  assert.equal((await assign(deep)).size, 20);
  // Their names are made first, which must be as quick.
  for (const ownerOf of [(nth: number) => `p${nth}`, () => 'claude', (nth: number) => `p@m${nth}`]) {
    const skills = Array.from({ length: 10_000 }, (_, nth) => sketch(ownerOf(nth), 'same'));
    assert.equal((await assign(skills)).size, 10_000);
  }
  // Of the processor, which others may be busy with. Some 2 s; what is quadratic takes minutes.
  assert.ok(process.cpuUsage(start).user < 15_000_000);
});
