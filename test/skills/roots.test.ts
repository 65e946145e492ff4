import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { hashOf } from '../../src/text.ts';
import { listed, names, warnings } from '../harness/listing.ts';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

/** A SKILL.md for each directory, named after its last part. */
const skillsAt = (...directories: readonly string[]) =>
  Object.fromEntries(
    directories.map((directory) => [`${directory}/SKILL.md`, skillText(directory.replace(/^.*\//, ''))]),
  );

test('every root of the table is searched, and its skills have the right provider and location', async (t) => {
  const roots: readonly (readonly [directory: string, provider: string, location: string])[] = [
    ['skills', 'custom', 'custom'],
    ['.agents/skills', 'agents', 'project'],
    ['.agent/skills', 'agents', 'project'],
    ['home/.agents/skills', 'agents', 'global'],
    ['home/.agent/skills', 'agents', 'global'],
    ['home/.config/agents/skills', 'agents', 'global'],
    ['.claude/skills', 'claude', 'project'],
    ['home/.claude/skills', 'claude', 'global'],
    ['.codex/skills', 'codex', 'project'],
    ['home/.codex/skills', 'codex', 'global'],
    ['.github/skills', 'github', 'project'],
    ['.Windsurf/skills', 'windsurf', 'project'],
    ['home/.gemini/skills', 'gemini', 'global'],
    ['home/.config/opencode/skills', 'opencode', 'global'],
  ];
  const tree = makeTree(t, skillsAt(...roots.map(([directory], at) => `${directory}/s${at}`)));
  const program = startProgram(t, { tree });
  for (const [at, [directory, provider, location]] of roots.entries()) {
    const text = await program.skill(`s${at}`);
    assert.match(text, new RegExp(`Location: ${location}\nProvider: ${provider}\n`), directory);
    assert.equal(await program.skill(`${provider}:s${at}`), text, directory);
  }
  assert.equal((await names(program)).length, roots.length);
});

test('environment variables move the homes of claude and codex, and nothing else is taken from their old places', async (t) => {
  const tree = makeTree(
    t,
    skillsAt('elsewhere/c/skills/a', 'x/skills/b', 'home/.claude/skills/old', 'home/.codex/skills/old2'),
  );
  const env = { CLAUDE_CONFIG_DIR: tree.at('elsewhere/c'), CODEX_HOME: tree.at('x') };
  const program = startProgram(t, { tree, env });
  assert.deepEqual(await listed(program), ['a (global)', 'b (global)']);
  assert.match(await program.skill('a'), /Provider: claude\n/);
});

test('--skill-dir, --root and --no-default-dirs say where to look', async (t) => {
  const tree = makeTree(t, skillsAt('one/a', 'two/b', 'own/c', 'skills/d', '.claude/skills/e', 'home/mine/f'));
  const start = (...args: string[]) => startProgram(t, { tree, args });
  const all = start('--skill-dir', 'one', '--skill-dir', tree.at('two'), '--skill-dir', '~/mine', '--root', 'own');
  assert.deepEqual(await names(all), ['a', 'b', 'f', 'c', 'e']);
  assert.deepEqual(await names(start('--skill-dir', 'one', '--no-default-dirs')), ['a']);
  assert.deepEqual(await names(start()), ['d', 'e']);
  const missing = start('--no-default-dirs', '--skill-dir', 'nowhere');
  assert.deepEqual(await listed(missing), ['none (none)']);
  assert.deepEqual(warnings(missing, tree.path), [
    'nowhere: does not exist; correct --skill-dir, or create the directory',
  ]);
});

test('started from the home directory, its skills are global and counted once', async (t) => {
  const tree = makeTree(t, skillsAt('.claude/skills/a'));
  assert.deepEqual(await listed(startProgram(t, { tree, home: tree.path })), ['a (global)']);
});

test('a root is walked deep, nested skills are skills, version control and packages are not looked into', async (t) => {
  const deep = '.claude/skills/1/2/3/4/5/6/7';
  const tree = makeTree(t, {
    ...skillsAt('.claude/skills/out', '.claude/skills/out/in', `${deep}/eight`, `${deep}/eight/nine`),
    ...skillsAt('.claude/skills/.git/hidden', '.claude/skills/x/node_modules/pack', '.claude/skills/.dot'),
  });
  const program = startProgram(t, { tree });
  assert.deepEqual(await names(program), ['.dot', 'out', 'in', 'eight']);
  assert.deepEqual(warnings(program, tree.path), [
    `${deep}/eight: is 8 levels down; deeper directories are left out everywhere`,
  ]);
});

test('links that lead in circles end, and one real directory is one skill', async (t) => {
  const tree = makeTree(t, skillsAt('.claude/skills/pdf', 'home/.agents/skills/shared'));
  tree.link('.claude/skills/pdf/again', '..');
  tree.link('.claude/skills/alias', 'pdf');
  tree.link('home/.claude/skills', '../.agents/skills');
  tree.link('home/.codex/skills/shared-too', '../../.agents/skills/shared');
  const program = startProgram(t, { tree });
  assert.deepEqual(await listed(program), ['shared (global)', 'pdf (project)']);
  for (const name of ['agents:shared', 'claude:shared', 'codex:shared', 'codex@global:shared']) {
    assert.match(await program.skill(name), /^Loading: shared\n/, name);
  }
});

test('links are followed from global and custom roots; from a project root only inside the project', async (t) => {
  const outside = makeTree(t, skillsAt('far/secret'));
  const tree = makeTree(t, { ...skillsAt('kept/near'), 'home/x': '', 'dir/x': '' });
  tree.link('.claude/skills/secret', outside.at('far/secret'));
  tree.link('.claude/skills/near', '../../kept/near');
  tree.link('.codex/skills', outside.at('far'));
  tree.link('.cursor', outside.at('far'));
  tree.link('skills/secret', outside.at('far/secret'));
  const program = startProgram(t, { tree });
  assert.deepEqual(await names(program), ['near']);
  assert.match(await program.skill('secret'), /not found/);
  assert.deepEqual(
    warnings(program, tree.path).map((line) => line.replace(/ leaves .*;/, ' leaves …;')),
    ['skills/secret', '.claude/skills/secret', '.codex/skills'].map(
      (path) => `${path}: is a link that leaves …; --follow-symlinks would follow it`,
    ),
  );
  const following = startProgram(t, { tree, args: ['--follow-symlinks'] });
  assert.match(await following.skill('claude:secret'), /^Loading: secret\n/);

  tree.link('home/.claude/skills/secret', outside.at('far/secret'));
  assert.deepEqual(await listed(startProgram(t, { tree })), ['near (project)', 'secret (global)']);
  tree.link('dir/secret', outside.at('far/secret'));
  const custom = startProgram(t, { tree, args: ['--no-default-dirs', '--skill-dir', 'dir'] });
  assert.deepEqual(await listed(custom), ['secret (custom)']);
});

test('a SKILL.md that is a link is served only when it stays inside its skill', async (t) => {
  const tree = makeTree(t, { ...skillsAt('home/.claude/skills/a/real'), 'home/secret.md': skillText('stolen') });
  tree.link('home/.claude/skills/inside/SKILL.md', 'real.md');
  tree.write('home/.claude/skills/inside/real.md', skillText('inside'));
  tree.link('home/.claude/skills/outside/SKILL.md', tree.at('home/secret.md'));
  tree.link('home/.claude/skills/nowhere/SKILL.md', 'gone.md');
  const program = startProgram(t, { tree, args: ['--follow-symlinks'] });
  assert.deepEqual(await names(program), ['inside', 'real']);
  assert.deepEqual(warnings(program, tree.at('home/.claude/skills')), [
    'nowhere/SKILL.md: is a link that leads nowhere',
    'outside/SKILL.md: cannot be read: it is a link that leaves its directory',
  ]);
});

test('only regular files of a sane size are opened, and nothing blocks', async (t) => {
  const tree = makeTree(t, skillsAt('.claude/skills/good'));
  const at = (name: string) => {
    mkdirSync(tree.at(`.claude/skills/${name}`), { recursive: true });
    return tree.at(`.claude/skills/${name}/SKILL.md`);
  };
  execFileSync('mkfifo', [at('pipe')]);
  mkdirSync(at('directory'));
  tree.write('.claude/skills/directory/SKILL.md/SKILL.md', skillText('inner'));
  const socket = createServer().listen(at('socket'));
  t.after(() => socket.close());
  at('device');
  tree.link('.claude/skills/device/SKILL.md', '/dev/zero');
  at('pipe-link');
  execFileSync('mkfifo', [tree.at('.claude/skills/pipe-link/pipe')]);
  tree.link('.claude/skills/pipe-link/SKILL.md', 'pipe');
  writeFileSync(at('huge'), skillText('huge', 'x', 'x'.repeat(1024 * 1024)));
  writeFileSync(at('broken'), 'no front matter');
  const program = startProgram(t, { tree });
  assert.deepEqual(await names(program), ['good']);
  assert.deepEqual(warnings(program, tree.at('.claude/skills')), [
    'broken/SKILL.md: there is no front matter',
    'device/SKILL.md: cannot be read: it is a link that leaves its directory',
    'directory/SKILL.md: cannot be read: it is not a regular file',
    'huge/SKILL.md: cannot be read: it has over 1048576 bytes',
    'pipe/SKILL.md: cannot be read: it is not a regular file',
    'pipe-link/SKILL.md: cannot be read: it is not a regular file',
    'socket/SKILL.md: cannot be read: it is not a regular file',
  ]);
});

test('a directory or file that cannot be read is a Problem and affects nothing else', async (t) => {
  const tree = makeTree(t, skillsAt('.claude/skills/a', '.claude/skills/z'));
  tree.link('.claude/skills/loop', 'loop');
  tree.link('.claude/skills/m/SKILL.md', 'SKILL.md');
  tree.link('.claude/skills/gone', 'nowhere');
  const program = startProgram(t, { tree });
  assert.deepEqual(await names(program), ['a', 'z']);
  const [loop = '', file = '', ...more] = warnings(program, tree.at('.claude/skills'));
  assert.match(loop, /^loop: cannot be read: ELOOP/);
  assert.match(file, /^m\/SKILL.md: cannot be read: ELOOP/);
  assert.deepEqual(more, []);
});

test('each Problem is logged once, not at every refresh', async (t) => {
  const tree = makeTree(t, {
    '.claude/skills/bad/SKILL.md': '---\nname: bad\n---\n',
    ...skillsAt('.claude/skills/good'),
  });
  const program = startProgram(t, { tree, args: ['--refresh-interval', '50', '--no-watch'] });
  await program.waitForStderr(/(?:refresh \(timer\)[\s\S]*){4}/);
  assert.deepEqual(warnings(program, tree.path), ['.claude/skills/bad/SKILL.md: description is missing']);
});

test('a skill that breaks a harmless rule loads, and is logged only at debug level', async (t) => {
  const tree = makeTree(t, {
    '.claude/skills/a/SKILL.md': skillText('other'),
    '.claude/skills/b/SKILL.md': skillText('Odd Name!'),
  });
  const program = startProgram(t, { tree, args: ['--log-level', 'debug'] });
  assert.deepEqual(await names(program), ['other', 'Odd Name!']);
  assert.deepEqual(warnings(program, tree.path), []);
  await program.waitForStderr(/a\/SKILL.md: name "other" differs from its directory/);
  await program.waitForStderr(/b\/SKILL.md: name "Odd Name!" is not/);
});

test('a root that is named twice serves its skills once, and still after a refresh', async (t) => {
  const tree = makeTree(t, {
    'a/pdf/SKILL.md': skillText('pdf'),
    'home/.config/claude/skills/doc/SKILL.md': skillText('doc'),
  });
  const env = { CLAUDE_CONFIG_DIR: tree.at('home/.config/claude') };
  const program = startProgram(t, {
    tree,
    env,
    args: ['--skill-dir', 'a', '--skill-dir', 'a', '--refresh-interval', '100'],
  });
  await program.handshake();
  const before = await program.description();
  await program.waitForStderr(/refresh[^\n]*\n[\s\S]*refresh/);
  assert.equal(await program.description(), before);
  assert.match(before, /<name>pdf<\/name>/);
  assert.match(before, /<name>doc<\/name>/);
});

test('.agents comes before its older spelling .agent', async (t) => {
  const tree = makeTree(t, {
    'home/.agents/skills/u/SKILL.md': skillText('u', 'now'),
    'home/.agent/skills/u/SKILL.md': skillText('u', 'old'),
  });
  const program = startProgram(t, { tree });
  assert.match(await program.skill('u'), /description: now/);
  assert.match(await program.skill(`agents@global#${hashOf(tree.at('home/.agent/skills/u'))}:u`), /description: old/);
});

/** The tree as seen from one of its directories. */
const inside = (tree: Tree, name: string): Tree => ({
  ...tree,
  path: tree.at(name),
  at: (one) => tree.at(`${name}/${one}`),
});

for (const [directory, env, provider, location] of [
  ['home/.codex', {}, 'codex', 'global'],
  ['home/.config/opencode', {}, 'opencode', 'global'],
  ['moved/codex', { CODEX_HOME: 'moved/codex' }, 'codex', 'global'],
  ['project/.claude', {}, 'claude', 'project'],
] as const) {
  test(`started in a provider's own directory, its skills are that provider's: ${directory} (11.7)`, async (t) => {
    const tree = makeTree(t, skillsAt(`${directory}/skills/a`));
    const moved = Object.fromEntries(Object.entries(env).map(([name, path]) => [name, tree.at(path)]));
    const program = startProgram(t, { tree: inside(tree, directory), home: tree.at('home'), env: moved });
    assert.deepEqual(await listed(program), [`a (${location})`]);
    assert.match(await program.skill(`${provider}:a`), new RegExp(`Location: ${location}\nProvider: ${provider}\n`));
    assert.match(await program.skill('custom:a'), /not found/);
  });
}

test('started in a linked provider directory, or told to look there, it is as its user says (11.7)', async (t) => {
  const tree = makeTree(t, skillsAt('home/.codex/skills/a'));
  tree.link('alias', 'home/.codex');
  const start = (name: string, ...args: readonly string[]) =>
    listed(startProgram(t, { tree: inside(tree, name), home: tree.at('home'), args }));
  assert.deepEqual(await start('alias'), ['a (global)']);
  assert.deepEqual(await start('home/.codex', '--root', 'skills'), ['a (custom)']);
});

test('started at home with a moved home of claude, ~/.claude/skills counts as global (11.7)', async (t) => {
  const tree = makeTree(t, skillsAt('elsewhere/skills/a', '.claude/skills/b', '.codex/skills/c', 'x/skills/d'));
  const env = { CLAUDE_CONFIG_DIR: tree.at('elsewhere'), CODEX_HOME: tree.at('x') };
  const program = startProgram(t, { tree, home: tree.path, env });
  assert.deepEqual(await listed(program), ['a (global)', 'b (global)', 'd (global)', 'c (global)']);
  assert.match(await program.skill('claude:b'), /Location: global\nProvider: claude\n/);
});
