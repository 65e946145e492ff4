/** Seed 003, "MCP Tool Contract: skill": its testing scenarios by their names, and its other promises, on the built program. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileOf } from '../harness/hub.ts';
import { type Answer, startProgram, WITHOUT_PRIVILEGE } from '../harness/program.ts';
import { makeTree, pluginFiles, skillText, type Tree } from '../harness/tree.ts';

/** The timer alone, so that what is seen is seen by a refresh, and often. */
const QUICK = ['--no-watch', '--refresh-interval', '100'];
const GIT = { 'skills/git/SKILL.md': skillText('git', 'Git workflow') };
const MORE = { ...GIT, 'skills/postgres/SKILL.md': skillText('postgres', 'PostgreSQL database operations') };

describe('seed 003', { concurrency: 4 }, () => {
  test('Tool Metadata and Input Schema', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, GIT) });
    const { tools } = (await program.request('tools/list')).result;
    const { title, annotations, inputSchema } = tools.find(({ name }: Answer) => name === 'skill');
    const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
    assert.deepEqual([title, annotations], ['Load Skill', { title: 'Load Skill', ...hints }]);
    assert.deepEqual([inputSchema.required, inputSchema.additionalProperties], [['name'], false]);
    assert.match(inputSchema.properties.name.description, /Name of the skill to load \(case-insensitive\)/);
    const { error } = await program.request('tools/call', { name: 'skill', arguments: { name: 'git', more: 1 } });
    assert.equal(error.code, -32602);
    assert.match((await program.call('skill', { command: 'git' })).content[0].text, /^Loading: git\n/);
  });

  test('1. Load existing skill; 6. Refresh detection', async (t) => {
    const tree = makeTree(t, GIT);
    const program = startProgram(t, { tree, args: QUICK });
    const text = await program.skill('git');
    assert.ok(text.startsWith(`Loading: git\nBase directory: ${tree.at('skills/git')}\n`), text);
    assert.ok(text.endsWith(`\n\n${GIT['skills/git/SKILL.md']}`), text);
    tree.write('skills/new/SKILL.md', skillText('new'));
    await program.waitForStderr(/refresh \(timer\): changed; 2 skills/);
    assert.deepEqual(await program.names(), ['git', 'new']);
  });

  test('2. Case-insensitive match; any characters are allowed in a name', async (t) => {
    const names = ['MCP-Builder', 'two words', '用户', 'naïve café', "it's & <that>", 'a/b\\c', '..', '%2e%2e', '🙂'];
    const files = names.map((name, at) => [`skills/s${at}/SKILL.md`, skillText(JSON.stringify(name))]);
    const program = startProgram(t, { tree: makeTree(t, Object.fromEntries(files)) });
    assert.deepEqual([...(await program.names())].sort(), names.toSorted());
    for (const name of names)
      for (const spelling of [name, name.toUpperCase(), name.toLowerCase(), ` ${name.normalize('NFD')}\u200b`])
        assert.ok((await program.skill(spelling)).startsWith(`Loading: ${name}\n`), spelling);
  });

  test('3. Skill not found; 4. Empty name', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, MORE) });
    const list = '- git: Git workflow\n- postgres: PostgreSQL database operations';
    const end = 'Use the exact skill name (case-insensitive) to load a skill.';
    const text = `Skill 'nonexistent' not found.\n\nAvailable skills:\n${list}\n\n${end}`;
    const content = [{ type: 'text', text }];
    assert.deepEqual(await program.call('skill', { name: 'nonexistent' }), { content, isError: true });
    for (const name of ['', ' ', '\t\n'])
      assert.equal((await program.request('tools/call', { name: 'skill', arguments: { name } })).error.code, -32602);
  });

  test('5. Priority resolution: universal before Claude, project before global; the first match wins', async (t) => {
    const places = ['.agent/skills', 'home/.agent/skills', '.claude/skills', 'home/.claude/skills'];
    const tree = makeTree(t);
    for (const place of places) tree.write(`${place}/git/SKILL.md`, skillText('git', `from ${place}`));
    const program = startProgram(t, { tree, args: QUICK });
    for (const place of places) {
      const text = await program.skill('git');
      assert.ok(text.includes(`Base directory: ${tree.at(`${place}/git`)}\n`), `${place}: ${text}`);
      const seen = program.stderr().length;
      tree.remove(`${place}/git`);
      await program.waitForStderr(/: changed;/, seen);
    }
    assert.match(await program.skill('git'), /^Skill 'git' not found\./);
  });

  test('7. Missing directory: the well-known ones in silence, a named one with a warning', async (t) => {
    const tree = makeTree(t, GIT);
    const program = startProgram(t, { tree, args: ['--skill-dir', 'no/such/place', '--skill-dir', 'skills'] });
    assert.deepEqual(await program.names(), ['git']);
    await program.end();
    const said = program.stderr().match(/^.*(?:warn|error).*$/gm);
    assert.deepEqual(said, [`skillwire: warn: ${tree.at('no/such/place')}: does not exist`]);
  });

  test('8. Malformed frontmatter; 9. Missing required field: skipped, one warning that says which and why', async (t) => {
    const faults: readonly (readonly [directory: string, text: string, why: RegExp])[] = [
      ['none', '# just a heading\n', /there is no front matter/],
      ['open', '---\nname: open\ndescription: never closed\n', /front matter is not closed/],
      ['broken', '---\nname: [\n---\n', /front matter is not valid YAML/],
      ['nameless', '---\ndescription: no name\n---\n', /name is missing/],
      ['mute', '---\nname: mute\n---\n', /description is missing/],
    ];
    const tree = makeTree(t, GIT);
    for (const [name, text] of faults) tree.write(`skills/${name}/SKILL.md`, text);
    const program = startProgram(t, { tree, args: QUICK });
    assert.deepEqual(await program.names(), ['git']);
    await program.nextRefresh();
    for (const [name, , why] of faults) {
      const place = tree.at(`skills/${name}/SKILL.md`);
      const [, warning = '', ...more] = program.stderr().split(`skillwire: warn: ${place}: `);
      assert.match(warning.split('\n', 1)[0] ?? '', why);
      assert.deepEqual(more, [], `${name} is warned of once`);
    }
  });

  test('10. Permission denied: skipped with a line on stderr; what may be read again appears by itself', async (t) => {
    const tree = makeTree(t, {
      ...GIT,
      'skills/secret/SKILL.md': skillText('secret'),
      'skills/vault/inner/SKILL.md': skillText('inner'),
    });
    const closed = [tree.at('skills/secret/SKILL.md'), tree.at('skills/vault')];
    for (const path of closed) chmodSync(path, 0);
    const program = startProgram(t, { tree, args: QUICK, through: WITHOUT_PRIVILEGE });
    assert.deepEqual(await program.names(), ['git']);
    await program.waitForStderr(/warn: .*skills\/secret\/SKILL\.md: cannot be read: EACCES/);
    await program.waitForStderr(/warn: .*skills\/vault: cannot be read: EACCES/);
    for (const path of closed) chmodSync(path, 0o700);
    await program.waitForStderr(/changed; 3 skills/);
    assert.deepEqual(await program.names(), ['git', 'secret', 'inner']);
  });

  test('Performance Guarantees: a lookup within 100 ms, discovery and refresh within a second', async (t) => {
    const names = Array.from({ length: 100 }, (_, at) => `skill-${at}`);
    const files = names.map((name) => [`skills/${name}/SKILL.md`, skillText(name, 'About it', 'text\n'.repeat(500))]);
    const program = startProgram(t, { tree: makeTree(t, Object.fromEntries(files)), args: QUICK });
    await program.nextRefresh();
    const [, ...times] = [...program.stderr().matchAll(/100 skills in (\d+) ms/g)].map(([, ms]) => Number(ms));
    assert.ok(times.length > 0 && Math.max(...times) < 1000, `${times}`);
    const lookups: number[] = [];
    for (const name of names) {
      const start = performance.now();
      await program.skill(name);
      lookups.push(performance.now() - start);
    }
    const [middle = Number.NaN] = lookups.sort((a, b) => a - b).slice(50);
    assert.ok(middle < 100, `${lookups}`);
  });

  test('Path Traversal Prevention: a name is only ever looked up', async (t) => {
    const tree = makeTree(t, {
      ...GIT,
      'skills/git/inner.md': 'inner',
      'secret/SKILL.md': skillText('secret', 'Not to be served'),
      'home/.ssh/id_rsa': 'private',
    });
    const program = startProgram(t, { tree });
    const ways =
      '../secret ../../../etc/passwd .ssh/id_rsa git/../../secret git/inner.md ./git /etc/passwd ~/.ssh/id_rsa skills/git';
    for (const name of [...ways.split(' '), tree.at('secret'), 'git\u0000/../secret', '__proto__']) {
      const result = await program.call('skill', { name });
      assert.equal(result.isError, true, name);
      assert.match(result.content[0].text, /^Skill '.*' not found\./, name);
      assert.doesNotMatch(result.content[0].text, /Not to be served|private/);
    }
  });

  for (const transport of ['stdio', 'http', 'sse'] as const) {
    test(`Read-only operations only: serving by ${transport} writes nothing, and starts servers only with --hub`, async (t) => {
      const started = makeTree(t).at('started');
      const servers = { one: { command: 'touch', args: [started] } };
      const tree = makeTree(t, { ...GIT, ...pluginFiles('docs:pdf'), 'home/.kode.json': fileOf(servers), 'tmp/x': '' });
      const before = everythingIn(tree);
      for (const hub of [[], ['--hub']]) {
        const args = ['--transport', transport, '--port', '0', ...hub, ...QUICK];
        const program = startProgram(t, { tree, args, env: { TMPDIR: tree.at('tmp') } });
        await program.nextRefresh();
        if (transport === 'stdio') assert.match(await program.skill('git'), /^Loading: git\n/);
        program.child.kill('SIGTERM');
        assert.equal(await program.exit(), 0);
        assert.equal(existsSync(started), hub.length > 0);
      }
      assert.deepEqual(everythingIn(tree), before);
    });
  }
});

/** Every path below the working directory, which has the home in it, with its size and times. */
function everythingIn(tree: Tree): readonly string[] {
  const names = readdirSync(tree.path, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => {
    const { size, mtimeMs, ctimeMs, mode } = statSync(join(tree.path, name));
    return `${name} ${size} ${mtimeMs} ${ctimeMs} ${mode}`;
  });
}
