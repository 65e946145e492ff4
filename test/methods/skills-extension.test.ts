import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SKILLS_PAGE } from '../../src/limits.ts';
import type { SkillFiles } from '../../src/model.ts';
import { type Answer, startServer } from '../harness/server.ts';
import { sketch } from '../harness/sketch.ts';
import { skillText } from '../harness/tree.ts';

const head = (name: string, more: string) => `---\nname: ${name}\ndescription: d\n${more}\n---\n`;

test('how long a result may be kept is said to modern clients', async (t) => {
  const { ask, modern } = startServer(t, { '.claude/skills/all/SKILL.md': skillText('all') });
  const params = { uri: 'skill://claude/all/SKILL.md' };
  for (const method of ['skills/list', 'skills/get', 'resources/list', 'resources/read', 'prompts/list']) {
    const { ttlMs, cacheScope } = (await modern(method, params)).result;
    assert.deepEqual([ttlMs, cacheScope], [0, 'private'], method);
    assert.equal('ttlMs' in (await ask(method, params)).result, false, method);
  }
});

const UNFIT: readonly (readonly [directory: string, text: string, why: RegExp])[] = [
  ['two words', skillText('two words'), /lower-case letters/],
  ['double--hyphen', skillText('double--hyphen'), /lower-case letters/],
  ['x'.repeat(65), skillText('x'.repeat(65)), /lower-case letters/],
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
  const { tree, ask, lines } = startServer(t, { ...files, '.claude/skills/good/SKILL.md': skillText('good') });
  for (let n = 0; n < 512; n++) tree.write(`.claude/skills/many/${n}`, '');
  // Twice, because the log says it once.
  for (const list of [await ask('skills/list'), await ask('skills/list')])
    assert.equal(list.result.skills.map(({ uri }: Answer) => uri).join(), 'skill://claude/good/SKILL.md');
  for (const [directory, , why] of UNFIT) {
    const start = `skillwire: ${tree.at(`.claude/skills/${directory}/SKILL.md`)}: is not in skills/list, because it`;
    const said = lines.filter((line) => line.startsWith(start));
    assert.deepEqual([said.length, why.test(said.at(-1) ?? '')], [1, true], directory);
    const uri = `skill://claude/${directory.split('/').map(encodeURIComponent).join('/')}/SKILL.md`;
    const { error } = await ask('skills/get', { uri });
    assert.deepEqual([error.code, error.data], [-32602, { uri }], directory);
    assert.match(error.message, why);
    assert.match((await ask('resources/read', { uri })).result.contents[0].text, /^---\nname: /);
  }
});

test('skills/list has pages, each behind the last entry of the one before', async (t) => {
  const skills = Array.from({ length: SKILLS_PAGE + 1 }, (_, n) => {
    const name = `s${1000 + n}`;
    const manifest = async () => ({ head: () => ({ name, description: 'd' }), files: [] });
    return sketch('far@mcp', name, { files: { manifest } as unknown as SkillFiles });
  });
  const { ask } = startServer(t, {}, {}, { skills });
  const { nextCursor: cursor, ...first } = (await ask('skills/list')).result;
  const { skills: rest, nextCursor } = (await ask('skills/list', { cursor })).result;
  const uris = rest.map(({ uri }: Answer) => uri);
  assert.deepEqual([first.skills.length, nextCursor], [SKILLS_PAGE, undefined]);
  assert.deepEqual(uris, [`skill://far/s${1000 + SKILLS_PAGE}/SKILL.md`]);
  assert.equal((await ask('resources/list', { cursor })).error.code, -32602, 'a cursor is that of its list');
});
