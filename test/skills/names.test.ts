import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Names, Skill } from '../../src/model.ts';
import { createNames, nameKey } from '../../src/skills/names.ts';
import { createRandom, sketch } from '../harness/sketch.ts';

const ids = (names: Names) => names.listed.map(({ id }) => id);
/** `claude pdf` or `docs@market pdf`. Those with `&` are paths to one directory, those with `=` copies of the first. */
function skillOf(line: string): Skill {
  const [owner = '', name = ''] = line.replace(/^[&=]/, '').split(/ (.*)/s, 2);
  return sketch(owner, name, line.startsWith('&') ? { identity: 'one' } : {});
}

/** The number of the skill that was found, the ids of several, or 'missing'. */
function meaning(names: Names, name: string, skills: readonly Skill[]): string {
  const answer = names.resolve(name);
  if (answer.kind === 'found') return String(skills.indexOf(answer.listed.skill));
  return answer.kind === 'ambiguous' ? answer.ids.join(' & ') : 'missing';
}

/** The promise; skills in order of precedence and the listed ids, with a star when they are not visible; what names mean. */
const TABLE = `
one skill answers to its name and its full ids, whatever the case
claude pdf -> pdf
PDF = 0; p\u200bdf = 0; Claude:PDF = 0; claude@project:pdf = 0; codex:pdf = missing; : = missing
custom comes before agents, and both before the rest
custom a; agents a; agents b; claude a; claude b; codex b -> a; agents:a; b; claude:a; claude:b; codex:b
a = 0; b = 2; custom:a = 0; agents:a = 1; claude:b = 4
within a provider project shadows global, which stays reachable
claude pdf; claude@global pdf -> pdf; claude@global:pdf*
pdf = 0; claude:pdf = 0; CLAUDE@GLOBAL:PDF = 1
a plugin or server is part of the name; a short name works while one has it, and is ambiguous when they share it
docs@market pdf; files@mcp pdf; docs@market x -> docs:pdf; files:pdf; docs:x
pdf = docs:pdf & files:pdf; claude:pdf = 0; claude:docs:pdf = 0; docs@market:pdf = 0; files:pdf = 1; x = 2
an own skill comes before plugins and servers
codex pdf; docs@market pdf; files@mcp pdf -> pdf; docs:pdf; files:pdf
pdf = 0; docs:pdf = 1; claude:pdf = 1; files:pdf = 2
a full id means the first in order, and the next is told apart by its marketplace or location
codex pdf; codex@market pdf; docs@one x; docs@two x; docs@two x -> pdf; codex@market:pdf; docs:x; docs@two:x; docs:x#2
codex:pdf = 0; claude:codex:pdf = 1; docs:x = 2; docs:x#2 = 4; x = docs:x & docs@two:x & docs:x#2
skills that would share an id get numbers in their order, and no number takes the id of another skill
claude a; claude a; claude@global a; claude@global a; claude a; claude a#2 -> a; claude:a#3; claude@global:a*; claude:a#4*; claude:a#5; a#2
a = 0; claude:a = 0; claude:a#2 = 5
an exact full name beats a skill that is called just that
claude pdf; codex claude:pdf -> pdf; codex:claude:pdf
claude:pdf = 0; codex:claude:pdf = 1
case, blanks and Unicode spelling do not tell two names apart
claude CAFÉ; codex cafe\u0301; claude my skill; claude a/b:c; claude İ -> claude:CAFÉ; codex:cafe\u0301; my skill; a/b:c; İ
café = claude:CAFÉ & codex:cafe\u0301; codex:Cafe\u0301 = 1; My\u00a0\tSk\u202eill = 2; a/b:c = 3; c = missing; i\u0307 = 4
one directory reached from several providers is one entry, all prefixes load it, and it shadows as each of them
&claude pdf; &codex pdf; codex@global pdf -> pdf; codex@global:pdf*
pdf = 0; claude:pdf = 0; codex:pdf = 0
a copy is folded into its original, and its full name still loads its own directory
claude pdf; =codex pdf; cursor pdf -> claude:pdf; cursor:pdf
codex:pdf = 1; pdf = claude:pdf & cursor:pdf`;

for (const [, promise = '', owned = '', listed = '', meanings = ''] of TABLE.matchAll(/\n(.*)\n(.*) -> (.*)\n(.*)/g)) {
  test(`names: ${promise}`, async () => {
    const lines = owned.split('; ');
    const skills = lines.map(skillOf);
    const [first = assert.fail()] = skills;
    const copies = skills.filter((_, at) => lines[at]?.startsWith('='));
    const names = await createNames(skills, new Map(copies.map((copy) => [copy, first])));
    assert.equal(names.listed.map((one) => one.id + (names.visible.includes(one) ? '' : '*')).join('; '), listed);
    for (const [name = '', expected] of meanings.split('; ').map((one) => one.split(' = ')))
      assert.equal(meaning(names, ` ${name} `, skills), expected, name);
  });
}

const OWNERS =
  'custom agents claude claude@global codex a a:b a@global a@mcp a:b@mcp a@m a:b@m A@m claude@m codex@n a@n é@m';
const PIECES = [...'a A b é e\u0301 : : @ #2 #3 global m claude / Σ ς'.split(' '), ' '];

test('whatever clashes, every listed name and every name that is offered loads exactly its own skill', async () => {
  const random = createRandom(7);
  const pick = (words: readonly string[]) => words[Math.floor(random() * words.length)] ?? '';
  const owners = [...OWNERS.split(' '), 'claude@project#2', '\u200ba@m'];
  for (let round = 0; round < 500; round++) {
    const skills = Array.from({ length: 2 + Math.floor(random() * 14) }, () => {
      const name = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(PIECES)).join('');
      return sketch(pick(owners), name.trim() || 'x', random() < 0.2 ? { identity: pick(['p', 'q']) } : {});
    });
    const [first, ...others] = skills;
    const twin = others.find(({ name }) => nameKey(name) === nameKey(first?.name ?? ''));
    const names = await createNames(skills, new Map(first && twin ? [[twin, first]] : []));
    assert.equal(new Set(ids(names).map(nameKey)).size, names.listed.length, 'two entries have one name');
    for (const listed of names.listed) assert.deepEqual(names.resolve(listed.id), { kind: 'found', listed }, listed.id);
    for (const { name } of skills) {
      const answer = names.resolve(name);
      assert.notEqual(answer.kind, 'missing', name);
      for (const id of answer.kind === 'ambiguous' ? answer.ids : []) assert.equal(names.resolve(id).kind, 'found', id);
    }
  }
});

test('a misspelt name is answered with the nearest ids, with or without a prefix, and at most five', async () => {
  const owned = ['claude pdf', 'claude spreadsheets', 'example-skills@m docx', 'codex review', 'cursor review'];
  const skills = [...owned, ...[...'abcdefg'].map((at) => `claude item-${at}`)].map(skillOf);
  const names = await createNames(skills, new Map());
  const near: Readonly<Record<string, string>> = {
    'PDFF claude:pdff': 'pdf',
    'example-skill:docx dcox wrong-plugin:docxx': 'example-skills:docx',
    'spread spreadsheet': 'spreadsheets',
    reveiw: 'codex:review cursor:review',
    'item-z': 'item-a item-b item-c item-d item-e',
    [`zzzzzz ${'x'.repeat(101)}`]: '',
  };
  for (const [words, expected] of Object.entries(near))
    for (const word of words.split(' '))
      assert.deepEqual(names.resolve(word), { kind: 'missing', near: expected.split(' ').filter(Boolean) }, word);
});
