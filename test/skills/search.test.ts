import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedSkill, Skill } from '../../src/model.ts';
import { localFiles } from '../../src/skills/contents.ts';
import { createNames } from '../../src/skills/names.ts';
import { mentions, searchSkills, windowAround } from '../../src/skills/search.ts';

const NEVER = new AbortController().signal;

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
    bytes: text === undefined ? undefined : Buffer.from(text),
    read: () => Buffer.from(read()),
    files: localFiles(directory),
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
  const { total: found, unread } = await searchSkills(skills, 'gone', 10, NEVER);
  assert.deepEqual([found, unread], [1, 1]);
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

/** The names that a search gives, best first. `skills`: id, description and text of each; the id may have a prefix. */
async function order(query: string, skills: Readonly<Record<string, readonly [description: string, text: string]>>) {
  const all = Object.entries(skills).map(([id, [description, text]]) => {
    const { skill } = listed(id.replace(/^.*:/, ''), text, () => '');
    return { id, skill: { ...skill, description } };
  });
  return (await searchSkills(all, query, 25, NEVER)).hits.map(({ listed: { id } }) => id);
}

test('whole words come before parts of words, wherever they stand (13.7)', async () => {
  const skills = {
    transform: ['Change data', 'Platforms'],
    platforms: ['Transforms a form_letter', ''],
    letters: ['About paper', 'Fill in the form.'],
    'pdf-form': ['x', ''],
    'no-match': ['x', 'y'],
  } as const;
  assert.deepEqual(await order('form', skills), ['pdf-form', 'platforms', 'letters', 'transform']);
  assert.deepEqual(await order('FORM data', skills), ['transform']);
  // Each word counts by itself: the one that all have in part decides nothing.
  const two = { aformat: ['zip tools', ''], bformat: ['unzipped', ''], cformat: ['x', 'zip'] } as const;
  assert.deepEqual(await order('form zip', two), ['aformat', 'cformat', 'bformat']);
  // Letters of every script are letters.
  assert.deepEqual(await order('über', { a: ['gegenüber', ''], b: ['x', 'sieh über dich'] }), ['b', 'a']);
});

test('what a bare name loads comes before other skills of that name, however well these match (13.7)', async () => {
  const skills = {
    'claude@global:pdf': ['Fill a form', ''],
    pdf: ['x', 'has a form'],
    'docs:pdf': ['form', ''],
    other: ['form', ''],
    'claude:form': ['x', ''],
  } as const;
  assert.deepEqual(await order('form', skills), ['claude:form', 'other', 'pdf', 'claude@global:pdf', 'docs:pdf']);
});

test('shadowed copies come after all others that match as well (13.7)', async () => {
  const skillOf = (provider: string, location: Skill['location']) => {
    const directory = `/${provider}/${location}/pdf`;
    const { skill } = listed('pdf', 'text', () => '');
    return { ...skill, provider, location, directory, place: directory, file: `${directory}/SKILL.md` };
  };
  const skills = [skillOf('claude', 'project'), skillOf('claude', 'global'), skillOf('codex', 'global')];
  const { hits } = await searchSkills(createNames(skills, new Map()).listed, 'pdf', 10, NEVER);
  assert.deepEqual(
    hits.map(({ listed: { id } }) => id),
    ['claude:pdf', 'codex:pdf', 'claude@global:pdf'],
  );
});

test('a text made of nothing but parts of words is searched in linear time (13.7)', async () => {
  const start = process.cpuUsage().user;
  for (const [text, query] of [
    ['a'.repeat(1_000_000), 'a'.repeat(100)],
    [`${'a'.repeat(99)} `.repeat(10_000), `${'a'.repeat(99)}b`],
    ['xform'.repeat(200_000), 'form'],
  ] as const)
    await searchSkills([listed('x', text, () => '')], query, 10, NEVER);
  assert.ok((process.cpuUsage().user - start) / 1000 < 3000);
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
  const never = () => new Promise<Buffer>(() => {});
  const remote = (name: string, provider: string, read: () => Promise<Buffer>) => {
    const { id, skill } = listed(name, undefined, () => '');
    return { id, skill: { ...skill, provider, location: 'mcp' as const, read } };
  };
  const quick = async () => Buffer.from('The needle');
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
