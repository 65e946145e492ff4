import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SKILLS_PAGE } from '../../src/limits.ts';
import { type Answer, startServer } from '../harness/server.ts';
import { skillText } from '../harness/tree.ts';

const head = (name: string, more: string) => `---\nname: ${name}\ndescription: d\n${more}\n---\n`;

test('an entry has the front matter as JSON, and every file once, nested skills included; nothing else is an entry', async (t) => {
  const date = ['2026', '01', '02'].join('-');
  const more = `released: ${date}\nversion: 1.10\noctal: 010\nnested: {list: [1, two, ~], deep: {er: false}}\nmetadata:\n  x/y: "1"`;
  const { ask, modern, eras } = startServer(t, {
    '.claude/skills/all/SKILL.md': head('all', more),
    '.claude/skills/all/ref/a b.md': 'inside',
    '.claude/skills/all/inner/SKILL.md': skillText('inner'),
  });
  const [root, uri] = ['skill://claude/all', 'skill://claude/all/SKILL.md'];
  for (const speak of eras) {
    const [all, inner, ...rest] = (await speak('skills/list')).result.skills;
    const nested = { list: [1, 'two', null], deep: { er: false } };
    const fields = { released: date, version: 1.1, octal: 10, nested, metadata: { 'x/y': '1' } };
    assert.deepEqual([rest, all.frontmatter], [[], { name: 'all', description: 'd', ...fields }]);
    const uris = [uri, `${root}/inner/SKILL.md`, `${root}/ref/a%20b.md`];
    assert.deepEqual([all.uri, ...all.resources.map((one: Answer) => one.uri)], [uri, ...uris]);
    assert.deepEqual([inner.uri, inner.resources], [uris[1], [all.resources[1]]]);
    for (const entry of [all, inner])
      assert.deepEqual((await speak('skills/get', { uri: entry.uri })).result.skill, entry);
    const wrong = ['', '/', '/ref/SKILL.md', '/none/SKILL.md'].map((path) => root + path);
    for (const one of [...wrong, 'skill://claude/SKILL.md', 'SKILL://claude/all/SKILL.md', 'all', 5, null, undefined])
      assert.equal((await speak('skills/get', { uri: one })).error?.code, -32602, String(one));
  }
  for (const method of ['skills/list', 'skills/get', 'resources/read', 'resources/list']) {
    const { ttlMs, cacheScope } = (await modern(method, { uri })).result;
    assert.deepEqual([method, ttlMs, cacheScope], [method, 0, 'private']);
    assert.equal('ttlMs' in (await ask(method, { uri })).result, false);
  }
});

const UNFIT: readonly (readonly [directory: string, text: string, why: RegExp])[] = [
  ['Upper', skillText('Upper'), /lower-case letters/],
  ['two words', skillText('two words'), /lower-case letters/],
  ['double--hyphen', skillText('double--hyphen'), /lower-case letters/],
  ['x'.repeat(65), skillText('x'.repeat(65)), /lower-case letters/],
  ['blank', '---\nname: " blank "\ndescription: d\n---\n', /lower-case letters/],
  ['good/Wrong', skillText('right'), /its URI does not end with its name/],
  ['long', skillText('long', 'd'.repeat(1025)), /description is not 1 to 1024 characters/],
  ['map', head('map', 'metadata:\n  n: 1'), /metadata has a value that is not text/],
  ['list', head('list', 'metadata: [a]'), /metadata is not a map/],
  ['compat', head('compat', `compatibility: ${'c'.repeat(501)}`), /compatibility is not 1 to 500 characters/],
  ['number', '---\nname: number\ndescription: 5\n---\n', /description is not text/],
  ['bidi', head('bidi', 'license: "MIT \\u202e"'), /front matter has invisible characters/],
  ['lenient', skillText('lenient', 'Use when: always'), /./],
  ['many', skillText('many'), /it has over 512 files/],
];

test('a skill that the extension does not allow is left out, which the log says once; it stays readable', async (t) => {
  const files = Object.fromEntries(UNFIT.map(([directory, text]) => [`.claude/skills/${directory}/SKILL.md`, text]));
  const { tree, eras, lines } = startServer(t, { ...files, '.claude/skills/good/SKILL.md': skillText('good') });
  for (let n = 0; n < 512; n++) tree.write(`.claude/skills/many/${n}`, '');
  for (const ask of eras) {
    const { skills } = (await ask('skills/list')).result;
    assert.equal(skills.map(({ uri }: Answer) => uri).join(), 'skill://claude/good/SKILL.md');
    for (const [directory, , why] of UNFIT) {
      const uri = `skill://claude/${directory.split('/').map(encodeURIComponent).join('/')}/SKILL.md`;
      const { error } = await ask('skills/get', { uri });
      assert.deepEqual([error.code, error.data], [-32602, { uri }], directory);
      assert.match(error.message, why);
      assert.match((await ask('resources/read', { uri })).result.contents[0].text, /^---\nname: /);
    }
  }
  for (const [directory, , why] of UNFIT) {
    const start = `skillwire: ${tree.at(`.claude/skills/${directory}/SKILL.md`)}: is not in skills/list, because it`;
    const said = lines.filter((line) => line.startsWith(start));
    assert.deepEqual([said.length, why.test(said.at(-1) ?? '')], [1, true], directory);
  }
});

test('pages neither repeat nor lose a skill while others come and go', async (t) => {
  const name = (n: number) => `s${String(n).padStart(4, '0')}`;
  const at = (own: string) => `.claude/skills/${own}/SKILL.md`;
  const count = 2 * SKILLS_PAGE + 100;
  const files = Array.from({ length: count }, (_, n) => [at(name(n)), skillText(name(n))]);
  const { tree, ask, refresh } = startServer(t, Object.fromEntries(files));
  const first = (await ask('skills/list')).result;
  assert.equal(first.skills.length, SKILLS_PAGE);
  // Before, at and after the place that the cursor stands for.
  for (const n of [100, SKILLS_PAGE - 1]) tree.remove(`.claude/skills/${name(n)}`);
  for (const more of [`${name(99)}x`, `${name(400)}x`]) tree.write(at(more), skillText(more));
  await refresh('test');
  const second = (await ask('skills/list', { cursor: first.nextCursor })).result;
  const third = (await ask('skills/list', { cursor: second.nextCursor })).result;
  assert.equal(third.nextCursor, undefined);
  const uris = [first, second, third].flatMap(({ skills }) => skills.map(({ uri }: Answer) => uri));
  assert.deepEqual([new Set(uris).size, uris.length], [count + 1, count + 1]);
  for (const cursor of ['x', '', 5, null, second.nextCursor.slice(0, -2)])
    assert.equal((await ask('skills/list', { cursor })).error.code, -32602);
  assert.equal((await ask('resources/list', { cursor: second.nextCursor })).error.code, -32602);
});
