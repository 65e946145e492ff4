import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedSkill, Skill } from '../../src/model.ts';
import { createContents } from '../../src/skills/contents.ts';
import { mentions, searchSkills, windowAround } from '../../src/skills/search.ts';

const NEVER = new AbortController().signal;
const filesOf = createContents();

function listed(name: string, text: string | undefined, read: () => string): ListedSkill {
  const directory = `/skills/${name}`;
  const skill: Skill = {
    name,
    key: name,
    description: `About ${name}`,
    provider: 'custom',
    location: 'custom',
    plugin: undefined,
    root: '/skills',
    directory,
    file: `${directory}/SKILL.md`,
    place: directory,
    version: '',
    text,
    read,
    files: filesOf(directory),
  };
  return { id: name, skill };
}

test('a text that found no room in memory is read when it is searched, and found like any other', async () => {
  const text = '---\nname: x\ndescription: y\n---\nThe needle\n';
  let reads = 0;
  const read = () => {
    reads++;
    return text;
  };
  const gone = () => {
    throw new Error('gone');
  };
  const skills = [listed('held', text, gone), listed('read', undefined, read), listed('gone', undefined, gone)];
  const { total, hits } = await searchSkills(skills, 'needle', 10, NEVER);
  assert.equal(total, 2);
  assert.deepEqual(
    hits.map(({ listed: { id }, excerpt }) => [id, excerpt]),
    [
      ['held', 'The needle'],
      ['read', 'The needle'],
    ],
  );
  assert.ok(reads > 0);
  // What cannot be read any more can still be found by its name.
  assert.equal((await searchSkills(skills, 'gone', 10, NEVER)).total, 1);
});

test('front matter is not searched but for name and description', async () => {
  const text = '---\nname: x\ndescription: y\nauthor: needle\n---\nbody\n';
  assert.equal((await searchSkills([listed('a', text, () => text)], 'needle', 10, NEVER)).total, 0);
});

test('equal ranks are in the order of names, whatever the order of skills', async () => {
  const skills = ['b', 'c', 'a'].map((name) => listed(name, 'needle', () => ''));
  const { hits } = await searchSkills(skills, 'needle', 2, NEVER);
  assert.deepEqual(
    hits.map(({ listed: { id } }) => id),
    ['a', 'b'],
  );
});

test('a cancelled search stops', async () => {
  const skills = [listed('a', undefined, () => assert.fail('read'))];
  assert.equal((await searchSkills(skills, 'needle', 10, AbortSignal.abort())).total, 0);
});

test('a window has its full width near the end of a text too', () => {
  const text = `${'lorem ipsum '.repeat(60)}tailword\n`;
  const window = windowAround(text, text.indexOf('tailword'));
  assert.ok(window.endsWith('ipsum tailword') && window.length > 150, window);
  assert.equal(windowAround('a short tailword', 8), 'a short tailword');
});

test('a window begins and ends between characters, at every place', () => {
  const characters = ['a', 'é', 'e\u0301', '日', '😀', '👩‍👩‍👧‍👦', '👍🏽', '🇩🇪', '\n', ' '];
  const text = Array.from({ length: 300 }, (_, at) => characters[(at * 7) % characters.length]).join('');
  const segments = (part: string) => [...new Intl.Segmenter('en').segment(part)].map(({ segment }) => segment);
  const known = new Set(segments(text));
  for (let at = 0; at < text.length; at++) {
    const window = windowAround(text, at);
    assert.ok(text.includes(window) && window.length <= 200);
    assert.deepEqual(
      segments(window).filter((one) => !known.has(one)),
      [],
      `at ${at}`,
    );
  }
});

test('words are separated by any white space of Unicode, and compared in the composed form (11.10)', async () => {
  const skills = [
    listed('one', 'The café has a menu', () => ''),
    listed('two', 'The cafe\u0301 has a menu', () => ''),
    listed('three', 'The cafe has a menu', () => ''),
  ];
  for (const space of ['\u3000', '\u00a0', '\u2003', '\u0085', '\u2028', ' \u1680\t']) {
    for (const word of ['café', 'cafe\u0301', 'CAFÉ']) {
      const { hits } = await searchSkills(skills, `menu${space}${word}`, 10, NEVER);
      assert.deepEqual(hits.map(({ listed: { id } }) => id).sort(), ['one', 'two'], JSON.stringify([space, word]));
      for (const { excerpt } of hits) assert.match(excerpt.normalize('NFC'), /café has/);
    }
  }
});

test('the query of skills.list is compared likewise (11.10)', () => {
  const { skill } = listed('x', '', () => '');
  const about = (description: string) => ({ ...skill, description });
  for (const text of ['Cafe\u0301\u3000menu', 'café menu', 'CAFÉ\u00a0\u2003MENU'])
    for (const description of ['The café menu', 'The cafe\u0301\nmenu', 'the café  menu'])
      assert.ok(mentions(about(description), text), JSON.stringify([text, description]));
  assert.ok(!mentions(about('The cafe menu'), 'café'));
});

test('a text of nothing but marks is searched in little time (11.10)', async () => {
  const marks = `a${'\u0301\u0323'.repeat(100_000)}`;
  const start = performance.now();
  await searchSkills([listed('x', marks, () => '')], 'café', 10, NEVER);
  // Composing it takes some twenty seconds.
  assert.ok(performance.now() - start < 5000);
});

test('servers that do not answer delay neither a search nor each other (10.10)', async () => {
  const never = () => new Promise<string>(() => {});
  const remote = (name: string, provider: string, read: () => Promise<string>) => {
    const { id, skill } = listed(name, undefined, () => '');
    return { id, skill: { ...skill, provider, location: 'mcp' as const, read } };
  };
  const quick = async () => 'The needle';
  const skills = [
    ...Array.from({ length: 20 }, (_, at) => remote(`silent-${at}`, 'silent', never)),
    ...Array.from({ length: 20 }, (_, at) => remote(`quick-${at}`, 'quick', quick)),
    listed('own', 'The needle', () => ''),
  ];
  const start = performance.now();
  const { total, hits } = await searchSkills(skills, 'needle', 25, NEVER);
  assert.equal(total, 21);
  assert.ok(hits.every(({ excerpt }) => excerpt === 'The needle'));
  // They are still found by what is known of them.
  assert.equal((await searchSkills(skills, 'silent', 25, NEVER)).total, 20);
  assert.ok(performance.now() - start < 8000);
});
