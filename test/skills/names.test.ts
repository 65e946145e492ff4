import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSnapshot } from '../../src/catalog/snapshot.ts';
import type { Location, Names, Plugin, Resolution, Skill } from '../../src/model.ts';
import { createNames, nameKey } from '../../src/skills/names.ts';
import { hashOf } from '../../src/text.ts';

interface Traits {
  readonly place?: string;
  readonly text?: string;
}

let made = 0;

/** `claude`, `claude@global`, or for a plugin's `plugin@marketplace`. */
function skill(owner: string, name: string, { place, text }: Traits = {}): Skill {
  made += 1;
  const [first = '', second] = owner.split('@');
  const isPlugin = second !== undefined && second !== 'global';
  const plugin: Plugin | undefined = isPlugin ? { name: first, marketplace: second } : undefined;
  const location: Location = plugin ? 'plugin' : second === 'global' ? 'global' : 'project';
  return {
    name,
    key: nameKey(name),
    description: `About ${name}`,
    provider: plugin ? 'claude' : first,
    location: first === 'custom' ? 'custom' : location,
    plugin,
    root: '/r',
    directory: `/r/${made}`,
    file: `/r/${made}/SKILL.md`,
    place: place ?? String(made),
    bytes: Buffer.from(text ?? String(made)),
    files: {} as Skill['files'],
    read: () => Buffer.alloc(0),
  };
}

const namesOf = async (skills: readonly Skill[], dedupe = false): Promise<Names> =>
  (await snapshotOf(skills, dedupe)).names;

function snapshotOf(skills: readonly Skill[], dedupe = false) {
  const texts = skills.map((one) => [one, one.bytes?.toString() ?? ''] as const);
  const fingerprints = new Map(dedupe ? texts.filter(([, text]) => text !== '') : []);
  return buildSnapshot([{ skills }], { filter: undefined, fingerprints, isComplete: true }, 1);
}

const ids = (names: Names) => names.listed.map(({ id }) => id);
const shown = (resolution: Resolution, skills: readonly Skill[]) =>
  resolution.kind === 'found'
    ? skills.indexOf(resolution.skill)
    : resolution.kind === 'ambiguous'
      ? resolution.ids
      : 'missing';

/** Skills in order of precedence; the ids they are listed under; what some names lead to: a skill, several ids, nothing. */
const TABLE: readonly (readonly [
  what: string,
  skills: readonly (readonly [owner: string, name: string])[],
  listed: readonly string[],
  meanings: Readonly<Record<string, number | readonly string[] | 'missing'>>,
])[] = [
  [
    'one skill answers to its name and its full ids',
    [['claude', 'pdf']],
    ['pdf'],
    {
      pdf: 0,
      PDF: 0,
      ' pdf ': 0,
      'claude:pdf': 0,
      'Claude:PDF': 0,
      'claude@project:pdf': 0,
      'codex:pdf': 'missing',
      '': 'missing',
      ':pdf': 'missing',
    },
  ],
  [
    'a bare name that two providers have is ambiguous',
    [
      ['claude', 'pdf'],
      ['codex', 'pdf'],
    ],
    ['claude:pdf', 'codex:pdf'],
    { pdf: ['claude:pdf', 'codex:pdf'], 'claude:pdf': 0, 'codex:pdf': 1 },
  ],
  [
    'custom comes before agents, and both before the rest',
    [
      ['custom', 'a'],
      ['agents', 'a'],
      ['agents', 'b'],
      ['claude', 'a'],
      ['claude', 'b'],
      ['codex', 'b'],
    ],
    ['a', 'agents:a', 'b', 'claude:a', 'claude:b', 'codex:b'],
    { a: 0, b: 2, 'custom:a': 0, 'agents:a': 1, 'claude:b': 4 },
  ],
  [
    'within a provider project shadows global, which stays reachable',
    [
      ['claude', 'pdf'],
      ['claude@global', 'pdf'],
    ],
    ['pdf', 'claude@global:pdf'],
    { pdf: 0, 'claude:pdf': 0, 'claude@project:pdf': 0, 'claude@global:pdf': 1, 'CLAUDE@GLOBAL:PDF': 1 },
  ],
  [
    'a plugin is part of the name, and its short name works while only one has it',
    [['docs@market', 'pdf']],
    ['docs:pdf'],
    { 'docs:pdf': 0, pdf: 0, 'claude:docs:pdf': 0, 'claude:pdf': 0, 'docs@market:pdf': 0, 'claude:docs@market:pdf': 0 },
  ],
  [
    'a short name that two plugins have is ambiguous',
    [
      ['docs@market', 'pdf'],
      ['other@market', 'pdf'],
    ],
    ['docs:pdf', 'other:pdf'],
    { pdf: ['docs:pdf', 'other:pdf'], 'claude:pdf': ['docs:pdf', 'other:pdf'], 'other:pdf': 1 },
  ],
  [
    'an own skill comes before a plugin of the same name',
    [
      ['codex', 'pdf'],
      ['docs@market', 'pdf'],
    ],
    ['pdf', 'docs:pdf'],
    { pdf: 0, 'docs:pdf': 1, 'claude:pdf': 1 },
  ],
  [
    'one plugin from two marketplaces',
    [
      ['docs@one', 'pdf'],
      ['docs@two', 'pdf'],
    ],
    ['docs@one:pdf', 'docs@two:pdf'],
    { 'docs:pdf': ['docs@one:pdf', 'docs@two:pdf'], 'docs@two:pdf': 1, 'claude:docs@two:pdf': 1 },
  ],
  [
    'a plugin named like a provider leaves the provider its name',
    [
      ['codex', 'pdf'],
      ['codex@market', 'pdf'],
    ],
    ['pdf', 'codex@market:pdf'],
    { pdf: 0, 'codex:pdf': 0, 'codex@market:pdf': 1, 'claude:codex:pdf': 1 },
  ],
  [
    'an exact full name beats a skill that is called just that',
    [
      ['claude', 'pdf'],
      ['codex', 'claude:pdf'],
    ],
    ['pdf', 'codex:claude:pdf'],
    { 'claude:pdf': 0, 'codex:claude:pdf': 1 },
  ],
  ['a name with colons and slashes', [['claude', 'a/b:c']], ['a/b:c'], { 'a/b:c': 0, 'claude:a/b:c': 0, c: 'missing' }],
  [
    'case and Unicode spelling do not tell two names apart',
    [
      ['claude', 'CAFÉ'],
      ['codex', 'cafe\u0301'],
    ],
    ['claude:CAFÉ', 'codex:cafe\u0301'],
    { café: ['claude:CAFÉ', 'codex:cafe\u0301'], 'codex:Cafe\u0301': 1 },
  ],
  [
    'blanks inside a name count once',
    [['claude', 'my skill']],
    ['my skill'],
    { 'My   Skill': 0, 'claude:my\tskill': 0 },
  ],
];

for (const [what, list, listed, meanings] of TABLE) {
  test(`names: ${what}`, async () => {
    const skills = list.map(([owner, name]) => skill(owner, name));
    const names = await namesOf(skills);
    assert.deepEqual(ids(names), listed);
    const actual = Object.fromEntries(Object.keys(meanings).map((name) => [name, shown(names.resolve(name), skills)]));
    assert.deepEqual(actual, meanings);
  });
}

test('names: one directory reached from two providers is one entry, and both prefixes load it', async () => {
  const skills = [skill('claude', 'pdf', { place: 'x' }), skill('codex', 'pdf', { place: 'x' })];
  const names = await namesOf(skills);
  assert.deepEqual(ids(names), ['pdf']);
  for (const name of ['pdf', 'claude:pdf', 'codex:pdf']) assert.equal(shown(names.resolve(name), skills), 0, name);
});

test('names: byte-identical copies are folded when asked for, and only then', async () => {
  const skills = [skill('claude', 'pdf', { text: 't' }), skill('codex', 'pdf', { text: 't' }), skill('cursor', 'pdf')];
  assert.deepEqual(ids(await namesOf(skills)), ['claude:pdf', 'codex:pdf', 'cursor:pdf']);
  const folded = await namesOf(skills, true);
  assert.deepEqual(ids(folded), ['claude:pdf', 'cursor:pdf']);
  assert.equal(shown(folded.resolve('codex:pdf'), skills), 1);
});

test('names: a shadowed skill is a Problem that says how it loads', async () => {
  const skills = [
    skill('agents', 'pdf'),
    skill('claude', 'pdf'),
    skill('claude@global', 'pdf'),
    skill('docs@m', 'pdf'),
  ];
  assert.deepEqual(
    (await snapshotOf(skills)).problems.filter(({ what }) => what.includes('shadowed')),
    [
      { where: skills[1]?.file, what: `is shadowed by ${skills[0]?.file}; it loads as "claude:pdf"` },
      { where: skills[2]?.file, what: `is shadowed by ${skills[0]?.file}; it loads as "claude@global:pdf"` },
    ],
  );
  const rivals = await snapshotOf([skill('claude', 'x'), skill('codex', 'x')]);
  assert.deepEqual(
    rivals.problems.filter(({ what }) => what.includes('shadowed')),
    [],
  );
});

test('names: whatever clashes, every listed name loads exactly its own skill', async () => {
  const random = createRandom(7);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const owners = ['custom', 'agents', 'claude', 'claude@global', 'codex', 'codex@global', 'a', 'a:b', 'a@global'];
  owners.push('a@m', 'a:b@m', 'A@m', 'claude@m', 'codex@n', 'a@n', 'a@project', 'é@m', 'claude@project#2');
  const pieces = [
    'a',
    'A',
    'b',
    'é',
    'e\u0301',
    ':',
    ':',
    '@',
    '#2',
    'global',
    'm',
    'claude',
    ' ',
    '/',
    'project',
    'Σ',
    'ς',
  ];
  for (let round = 0; round < 400; round++) {
    const skills = Array.from({ length: 2 + Math.floor(random() * 14) }, () => {
      const name = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(pieces))
        .join('')
        .trim();
      const copy = random() < 0.2 ? { place: pick(['p', 'q']) } : {};
      return skill(pick(owners), name || 'x', copy);
    });
    const names = await namesOf(skills, round % 2 === 0);
    const keys = new Set(names.listed.map(({ id }) => nameKey(id)));
    assert.equal(keys.size, names.listed.length, 'two entries have one name');
    for (const { id, skill: own } of names.listed) {
      const resolution = names.resolve(id);
      assert.equal(resolution.kind, 'found', `${id} of ${ids(names).join(' | ')}`);
      assert.equal(resolution.kind === 'found' && resolution.skill, own, id);
    }
    for (const { name } of skills) {
      const resolution = names.resolve(name);
      if (resolution.kind !== 'ambiguous') continue;
      for (const id of resolution.ids) assert.equal(names.resolve(id).kind, 'found', `${id}, offered for ${name}`);
    }
  }
});

const NEAR: readonly (readonly [word: string, expected: readonly string[]])[] = [
  ['pdff', ['pdf']],
  ['PDFF', ['pdf']],
  ['fdp', ['pdf']],
  ['example-skill:docx', ['example-skills:docx']],
  ['dcox', ['example-skills:docx']],
  ['claude:pdff', ['pdf']],
  ['wrong-plugin:docxx', ['example-skills:docx']],
  ['spread', ['spreadsheets']],
  ['zzzzzz', []],
  ['x'.repeat(101), []],
];

test('names: near ones are found by their edits, with or without a prefix', async () => {
  const names = await namesOf([
    skill('claude', 'pdf'),
    skill('claude', 'spreadsheets'),
    skill('example-skills@m', 'docx'),
  ]);
  for (const [word, expected] of NEAR) assert.deepEqual(names.near(word), expected, word);
});

test('names: neither many skills nor endless names make a look-up slow', async () => {
  const long = Array.from({ length: 10_000 }, (_, at) => skill('claude', `${'long-name-'.repeat(9)}${at}`));
  const rivals = Array.from({ length: 2000 }, () => skill('codex', 'same'));
  const names = await namesOf([...long, ...rivals]);
  const start = performance.now();
  for (const word of [':'.repeat(1_000_000), 'a:'.repeat(500_000), 'long-name-'.repeat(10), 'codex:same', 'same']) {
    names.resolve(word);
    names.near(word);
  }
  // About a twentieth of this on an idle machine; what is quadratic in any of the sizes takes minutes.
  assert.ok(performance.now() - start < 3000);
});

test('names compare without case, blanks and Unicode spelling', async () => {
  const same = [
    ['PDF', ' pdf '],
    ['É', 'e\u0301'],
    ['a  b', 'A\u00a0b'],
    ['ﬁ', 'ﬁ'],
    ['İ', 'I\u0307'],
  ];
  for (const [a = '', b = ''] of same) assert.equal(nameKey(a), nameKey(b), `${a} ${b}`);
  assert.notEqual(nameKey('a-b'), nameKey('a_b'));
});

/** Equal seeds give equal trees, so that a failure can be seen again. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

test('a snapshot without duplicates is built without them', async () => {
  const one = skill('claude', 'pdf');
  assert.deepEqual(createNames([one], new Map()).listed, [{ id: 'pdf', skill: one }]);
});

test('many skills of one name take linear time, whoever has them', () => {
  const count = 10_000;
  const shapes: readonly (readonly [string, (nth: number) => string])[] = [
    ['one provider', () => 'custom'],
    ['one plugin', () => 'plugin@market'],
    ['many plugins', (nth) => `p${nth}@market`],
    ['many providers', (nth) => `provider${nth}`],
    ['two providers', (nth) => (nth % 2 ? 'claude' : 'codex@global')],
  ];
  for (const [what, owner] of shapes) {
    const skills = Array.from({ length: count }, (_, nth) => skill(owner(nth), 'same'));
    const start = performance.now();
    const names = createNames(skills, new Map());
    assert.ok(names.problems.length > 0, what);
    const took = performance.now() - start;
    assert.equal(new Set(names.listed.map(({ id }) => id)).size, count, what);
    assert.ok(took < 4000, `${what}: ${took} ms`);
  }
});

test('skills whose every id means another one too take linear time', () => {
  // The plugin `p` has `q:NAME`, and the plugin `p:q` has `NAME`.
  const skills = Array.from({ length: 3000 }, (_, nth) => [
    { ...skill('p@m', 'q:same'), directory: `/a/${nth}` },
    { ...skill('p:q@m', 'same'), directory: `/b/${nth}` },
  ]).flat();
  const start = performance.now();
  const names = createNames(skills, new Map());
  assert.equal(new Set(names.listed.map(({ id }) => nameKey(id))).size, skills.length);
  assert.ok(performance.now() - start < 4000);
});

test('a later skill of one name in one place is told apart by its directory, whichever others come or go', async () => {
  const skills = ['a', 'b', 'c', 'd'].map((at) => ({ ...skill('claude', 'pdf'), directory: `/r/${at}/pdf` }));
  const all = await namesOf(skills);
  const [first, ...later] = skills.map((one) => `claude@project#${hashOf(one.directory)}:pdf`);
  assert.deepEqual(ids(all), ['pdf', ...later]);
  assert.equal(shown(all.resolve(first ?? ''), skills), 0);
  for (const name of ['claude:pdf', 'claude@project:pdf']) assert.equal(shown(all.resolve(name), skills), 0);
  for (const gone of skills) {
    const rest = skills.filter((one) => one !== gone);
    const names = await namesOf(rest);
    for (const one of skills) {
      const found = names.resolve(`claude@project#${hashOf(one.directory)}:pdf`);
      assert.equal(found.kind === 'found' ? found.skill : undefined, one === gone ? undefined : one);
    }
  }
});

test('skills whose directories have one hash are still told apart', async () => {
  const skills = [1, 2, 3].map(() => ({ ...skill('claude', 'pdf'), directory: '/r/same' }));
  const names = await namesOf(skills);
  assert.equal(new Set(ids(names)).size, 3);
  for (const [nth, id] of ids(names).entries()) assert.equal(shown(names.resolve(id), skills), nth);
});
