/** Whatever is listed of this machine's own skills. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { assertClean, DIRT } from '../harness/clean.ts';
import { type Answer, PROGRAM, startProgram } from '../harness/program.ts';
import { makeTree } from '../harness/tree.ts';

test('nothing that is listed of our own holds a character that cannot be seen (10.20)', async (t) => {
  const skill = (name: string) =>
    `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(`About${DIRT} it\ntwo`)}\n---\nbody ${DIRT}\n`;
  const tree = makeTree(t, {
    [`.claude/skills/di${DIRT}r/SKILL.md`]: skill(`na${DIRT}me`),
    '.claude/skills/plain/SKILL.md': skill('plain'),
    [`.claude/skills/plain/fi${DIRT}le.md`]: 'x',
    [`.claude/skills/plain/de${DIRT}ep/x.md`]: 'x',
    [`.ev${DIRT}il/skills/plain/SKILL.md`]: skill('plain'),
    'home/.claude/plugins/installed_plugins.json': JSON.stringify({
      plugins: { [`plu${DIRT}gin@mar${DIRT}ket`]: { installPath: 'p' } },
    }),
    'home/.claude/plugins/p/skills/x/SKILL.md': skill('x'),
  });
  const program = startProgram(t, { tree });
  for (const client of ['somebody', 'claude-code']) {
    await program.handshake('2025-11-25', client);
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      assertClean(method, (await program.request(method)).result);
    }
  }
  const { result } = await program.request('resources/directory/read', { uri: 'skill://claude/plain' });
  const children = result.resources.map(({ name }: Answer) => name);
  assertClean('directory', children);
  assert.deepEqual(children.sort(), ['de[31mep', 'fi[31mle.md', 'plain']);
  assertClean('skills.list', await program.call('skills.list', {}));
  assertClean('skills.search', await program.call('skills.search', { query: 'body' }));
  assertClean('not found', await program.call('skill', { name: 'nothing' }));
  assertClean('ambiguous', await program.call('skill', { name: 'plain' }));
  assertClean('stderr', program.stderr().split('\n'));
  await program.handshake();
  const entries = [
    ...(await program.description()).matchAll(/<name>(.*)<\/name>\n<description>(.*)<\/description>\n/g),
  ];
  assert.deepEqual(
    entries.map(([, name]) => name),
    ['na[31mme', 'claude:plain', 'ev[31mil:plain', 'plu[31mgin:x'],
  );
  for (const [, name = '', about] of entries) {
    assert.equal(about, 'About[31m it two');
    assert.match(await program.skill(name), /^Loading: /);
  }
  for (const json of [[], ['--json']]) {
    const { stdout } = spawnSync(process.execPath, [PROGRAM, 'doctor', ...json], {
      cwd: tree.path,
      env: { PATH: process.env.PATH, HOME: tree.at('home') },
      encoding: 'utf8',
    });
    assertClean('doctor', stdout.split('\n'));
  }
});
