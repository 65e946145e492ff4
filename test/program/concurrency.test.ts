/** Many calls at once, while the files they ask for are being rewritten. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { test } from 'node:test';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const SKILLS = 50;
const CALLS = 200;
const ROUNDS = 8;

/** Says in every line which skill and version it is of, so that a torn or misdirected one shows. */
function versionText(skill: number, version: number): string {
  const line = `skill-${skill} version ${version}\n`;
  return skillText(`skill-${skill}`, `About ${skill}`, line.repeat(200 + ((skill * 37 + version * 101) % 300)));
}

function rewrite(tree: Tree, skill: number, version: number): void {
  const file = `skills/skill-${skill}/SKILL.md`;
  const text = versionText(skill, version);
  if (skill % 2 === 0) tree.write(file, text);
  else renameSync(tree.write(`skills/skill-${skill}/.SKILL.md.tmp`, text), tree.at(file));
}

test('200 concurrent calls for 50 skills whose files are rewritten: each answer is wholly one version of the right file, every id once', async (t) => {
  const tree = makeTree(t);
  for (let skill = 0; skill < SKILLS; skill++) rewrite(tree, skill, 0);
  const program = startProgram(t, { tree, args: ['--refresh-interval', '20'] });
  await program.description();

  const seen = new Set<string>();
  for (let round = 1; round <= ROUNDS; round++) {
    const calls = Array.from({ length: CALLS }, (_, at) => program.call('skill', { name: `skill-${at % SKILLS}` }));
    // While they are on their way, every file is written: half of them in place, half by a rename.
    for (let skill = 0; skill < SKILLS; skill++) {
      rewrite(tree, skill, round);
      if (skill % 10 === 0) await new Promise((done) => setImmediate(done));
    }
    for (const [at, { content }] of (await Promise.all(calls)).entries()) {
      const skill = at % SKILLS;
      const text: string = content[0].text;
      const version = Number(/ version (\d+)\n$/.exec(text)?.[1]);
      assert.ok(
        text.endsWith(`\n\n${versionText(skill, version)}`),
        `skill-${skill} in round ${round}: ${text.slice(0, 300)}`,
      );
      seen.add(`${skill} ${version}`);
    }
    // Every other round the files rest long enough to be taken over.
    if (round % 2 === 0) await new Promise((done) => setTimeout(done, 400));
  }
  const ids = program.received.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(seen.size > SKILLS, 'new versions were seen on the way');

  const last = async () => (await program.skill('skill-1')).endsWith(versionText(1, ROUNDS));
  while (!(await last())) await program.request('ping');
  assert.equal(await program.end(), 0);
  assert.deepEqual(program.noise, []);
});
