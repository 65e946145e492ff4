import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Listed, Skill } from '../../src/model.ts';
import { createLibrary } from '../../src/skills/library.ts';
import { searchSkills, windowAround } from '../../src/skills/search.ts';

const NEVER = new AbortController().signal;
const { filesOf } = createLibrary();

function listed(name: string, text: string | undefined, read: () => string): Listed {
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

test('a search that nobody waits for stops', async () => {
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
