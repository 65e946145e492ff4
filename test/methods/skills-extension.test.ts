import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createSkillwire } from '../../src/index.ts';
import { createPeer } from '../harness/peer.ts';
import { PROGRAM } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

function doctor(tree: Tree, ...args: readonly string[]): string {
  const env = { PATH: process.env.PATH, HOME: tree.at('home') };
  return spawnSync(process.execPath, [PROGRAM, 'doctor', ...args], { cwd: tree.path, env, encoding: 'utf8' }).stdout;
}

test('a skill that cannot stand in skills/list is a problem, for the doctor and, once known, in /healthz', async (t) => {
  const tree = makeTree(t, { 'skills/many/SKILL.md': skillText('many', 'Many files') });
  for (let n = 0; n < 512; n++) tree.write(`skills/many/f${n}`, '');
  const what = 'is not in skills/list, because it has over 512 files';
  const report = JSON.parse(doctor(tree, '--json'));
  assert.deepEqual(report.problems, [{ where: tree.at('skills/many/SKILL.md'), what }]);
  assert.ok(doctor(tree).includes(`    ${tree.at('skills/many/SKILL.md')}: ${what}\n`));

  const skillwire = createSkillwire({ skillDirs: [tree.at('skills')], scanDefaultDirs: false, autoRefresh: false });
  const web = await skillwire.serveHttp({ port: 0 });
  t.after(() => web.close());
  const problems = async () =>
    ((await (await fetch(new URL('/healthz', web.url))).json()) as { problems: number }).problems;
  const peer = createPeer(skillwire.handle);
  const list = async () => (await peer.request('skills/list')).result.skills.length;
  await skillwire.registry.ready();
  assert.equal(await problems(), 0);
  assert.equal(await list(), 0);
  assert.equal(await problems(), 1);
  tree.remove('skills/many/f0');
  assert.equal(await list(), 1);
  assert.equal(await problems(), 0);
});
