/** Names that the rules of the extension do not allow, and names that are not what they look like. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERAS } from '../../harness/host.ts';
import { type Answer, startProgram } from '../../harness/program.ts';
import { makeTree, skillText } from '../../harness/tree.ts';

const ODD: readonly (readonly [name: string, segment: string])[] = [
  ['PDF Tools', 'PDF%20Tools'],
  ['ü', '%C3%BC'],
  ['数据分析', '%E6%95%B0%E6%8D%AE%E5%88%86%E6%9E%90'],
  ['a/b', 'a%2Fb'],
  ['..', '_'],
];

test('a skill with a name that is not allowed is left out of skills/list only (11.5)', async (t) => {
  const tree = makeTree(t, { '.claude/skills/good/SKILL.md': skillText('good') });
  for (const [nth, [name]] of ODD.entries()) {
    tree.write(`.claude/skills/d${nth}/SKILL.md`, skillText(`"${name}"`));
    tree.write(`.claude/skills/d${nth}/ref/a b.md`, `of ${name}`);
  }
  const program = startProgram(t, { tree });
  for (const [, speak] of ERAS) {
    const ask = speak(program);
    const { result: listing } = await ask('skills/list');
    assert.deepEqual(
      listing.skills.map(({ uri }: Answer) => uri),
      ['skill://claude/good/SKILL.md'],
    );
    const uris = (await ask('resources/list')).result.resources.map(({ uri }: Answer) => uri);
    for (const [name, segment] of ODD) {
      const root = `skill://claude/${segment}`;
      assert.ok(uris.includes(`${root}/SKILL.md`), root);
      assert.match((await ask('resources/read', { uri: `${root}/SKILL.md` })).result.contents[0].text, /^---\nname: /);
      const { contents } = (await ask('resources/read', { uri: `${root}/ref/a%20b.md` })).result;
      assert.deepEqual(contents, [{ uri: `${root}/ref/a%20b.md`, mimeType: 'text/markdown', text: `of ${name}` }]);
      const children = (await ask('resources/directory/read', { uri: root })).result.resources;
      assert.deepEqual(
        children.map(({ uri }: Answer) => uri),
        [`${root}/SKILL.md`, `${root}/ref`],
      );
      const { error } = await ask('skills/get', { uri: `${root}/SKILL.md` });
      assert.equal(error.code, -32602);
      assert.match(error.message, /its name is not 1 to 64/);
    }
  }
  // Six of a hundred real skills are like that: no cause for a warning at every start.
  assert.doesNotMatch(program.stderr(), /warn/);
});

const STRANGE: readonly (readonly [what: string, yaml: string])[] = [
  ['outer blanks', 'name: " pdf "'],
  ['a folded line', 'name: >\n  pdf'],
  ['a mark that cannot be seen', 'name: "pdf\u200e"'],
];

for (const [what, yaml] of STRANGE) {
  test(`a name with ${what} is a reason that is said, not "changing right now" for ever (11.2)`, async (t) => {
    const tree = makeTree(t, {
      '.claude/skills/pdf/SKILL.md': `---\n${yaml}\ndescription: d\n---\nbody`,
      '.claude/skills/good/SKILL.md': skillText('good'),
    });
    const program = startProgram(t, { tree });
    assert.match(await program.skill('pdf'), /^Loading: pdf\n/);
    const { error } = await program.request('skills/get', { uri: 'skill://claude/pdf/SKILL.md' });
    assert.equal(error.code, -32602);
    assert.match(error.message, /its name has spaces around it, line breaks or invisible characters/);
    const { result } = await program.request('skills/list');
    assert.deepEqual(
      result.skills.map(({ uri }: Answer) => uri),
      ['skill://claude/good/SKILL.md'],
    );
    await program.waitForStderr(/pdf\/SKILL\.md: is not in skills\/list, because its name has/);
  });
}

test('a name of two words over a folded line is what it is shown as, and no reason to ask again (11.2)', async (t) => {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': '---\nname: >-\n  pdf\n  tools\ndescription: d\n---\nbody',
  });
  const program = startProgram(t, { tree });
  const uri = 'skill://claude/pdf%20tools/SKILL.md';
  assert.match((await program.request('skills/get', { uri })).error.message, /its name is not 1 to 64/);
  assert.match((await program.request('resources/read', { uri })).result.contents[0].text, /body/);
});
