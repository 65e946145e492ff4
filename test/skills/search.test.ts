import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedSkill, Skill } from '../../src/model.ts';
import { searchSkills } from '../../src/skills/search.ts';
import { sketch } from '../harness/sketch.ts';

const HEAD = '---\nname: x\ndescription: y\nauthor: hidden\n---\n';

/** `undefined` as the text: an upstream skill. */
function listed(name: string, text: string | undefined, more: Partial<Skill> = {}): ListedSkill {
  const bytes = text === undefined ? undefined : Buffer.from(HEAD + text);
  const skill = sketch('custom', name, { directory: `/skills/${name}`, bytes, ...more });
  return { id: name, skill, isShadowed: false };
}

const SKILLS = [
  listed('body', 'Fill in the FORM with care.'),
  listed('described', '', { description: 'Handles a form (v1.0)' }),
  listed('form', 'Nothing else'),
  listed('installed', '', { directory: '/skills/form-tools' }),
  listed('remote', undefined, { location: 'mcp', description: 'On a server' }),
  listed('café', 'The cafe\u0301 has a menu'),
];

/** A promise, a query, and what is found, best first. */
const TABLE = `in any case, in names, then in descriptions, then in bodies, and by name | FoRm | form installed described body
only where all words occur | form care | body
each wherever it stands | form nothing | form
not in front matter | hidden |
as plain text | (V1.0) | described
not as patterns | f.rm |
in the name and description of an upstream skill | remote server | remote
in the composed form | cafe\u0301 menu | café
with any white space of Unicode between them | MENU\u3000\u0085\u2003CAFÉ | café`;

for (const [promise, query = '', ids] of TABLE.split('\n').map((row) => row.split(/ \| ?/)))
  test(`words are found ${promise}`, async () => {
    for (const skills of [SKILLS, SKILLS.toReversed()]) {
      const { hits } = await searchSkills(skills, query, 25);
      assert.equal(hits.map(({ listed: { id } }) => id).join(' '), ids);
    }
  });

const excerpt = async (body: string, query = 'needle') =>
  (await searchSkills([listed('x', body, { description: 'About needles' })], query, 1)).hits[0]?.excerpt ?? '';

test('an excerpt is about 160 characters around the first match, on one line and without invisible characters', async () => {
  const filler = 'lorem ipsum '.repeat(60);
  const middle = await excerpt(`${filler}the\n\n\tneedle\u202e\r\n${filler}needle`);
  assert.match(middle, /^\S.* the needle lorem .*\S$/);
  assert.ok(middle.length > 145 && middle.length <= 160, middle);
  assert.match(await excerpt(`${filler}tail needle\n\n`), /^.{134,}ipsum tail needle$/);
  assert.equal(await excerpt('A short needle.'), 'A short needle.');
  for (const query of ['needle', 'x']) assert.equal(await excerpt('nothing here', query), 'About needles');
});

test('an excerpt begins and ends between characters, wherever the match is', async () => {
  const characters = ['a', 'é', '日', '😀', '👩‍👩‍👧‍👦', '👍🏽', '🇩🇪', '-'];
  const known = new Set([...characters, ...'needle']);
  const fill = (count: number) => Array.from({ length: count }, (_, nth) => characters[(nth * 7) % 8]).join('');
  for (let at = 0; at < 120; at++) {
    const text = await excerpt(`${fill(at)}needle${fill(99)}`);
    assert.match(text, /needle/);
    for (const { segment } of new Intl.Segmenter('en').segment(text)) assert.ok(known.has(segment), segment);
  }
});
