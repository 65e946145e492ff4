/** The scenarios of seed 001, "Capability: MCP Interface", by their names, through the built program. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ask, hello, legacy, modern, openSession, openStream } from '../harness/http.ts';
import { FAST_INTERVALS, runCommand, startProgram, startWeb } from '../harness/program.ts';
import { makeTree, pluginFiles, skillText } from '../harness/tree.ts';

const PDF = { 'skills/pdf/SKILL.md': skillText('pdf') };
const CALL = legacy('tools/call', { name: 'skill', arguments: { name: 'pdf' } }, 7);
const PROVIDERS = {
  '.claude/skills/pdf/SKILL.md': skillText('pdf', 'claude has it'),
  '.codex/skills/pdf/SKILL.md': skillText('pdf', 'codex has it'),
  '.codex/skills/review/SKILL.md': skillText('review'),
  '.agents/skills/notes/SKILL.md': skillText('notes'),
  ...pluginFiles('docs:docx'),
};

describe('seed 001', { concurrency: 4 }, () => {
  test('Skill tool listing: every skill with name, description and location, usage and discovery notes', async (t) => {
    const tree = makeTree(t, {
      '.agents/skills/one/SKILL.md': skillText('one', 'A <b> & "c"\n  on two lines'),
      'home/.codex/skills/two/SKILL.md': skillText('two'),
      'extra/three/SKILL.md': skillText('three'),
      ...pluginFiles('docs:pdf'),
    });
    const text = await startProgram(t, { tree, args: ['--skill-dir', 'extra'] }).description();
    assert.match(text, /How to use it:[\s\S]*\{"name": "pdf"\}[\s\S]*Where skills come from: /);
    const entry = (name: string, about: string, location: string) =>
      `<skill>\n<name>${name}</name>\n<description>${about}</description>\n<location>${location}</location>\n</skill>\n`;
    const entries = [
      entry('three', 'About three', 'custom'),
      entry('one', 'A &lt;b&gt; &amp; "c" on two lines', 'project'),
      entry('two', 'About two', 'global'),
      entry('docs:pdf', 'pdf of docs', 'plugin'),
    ];
    assert.ok(text.endsWith(`<available_skills>\n${entries.join('')}</available_skills>`), text);
  });

  test('Skill tool listing: no skills found', async (t) => {
    const program = startProgram(t, { tree: makeTree(t) });
    assert.match(await program.description(), /<available_skills>\n<skill>\n<name>none<\/name>/);
    assert.match(await program.skill('pdf'), /^Skill 'pdf' not found\.\n\nAvailable skills:\n- none\n/);
  });

  test('Tool invocation loads skill content: plugin short name ambiguous', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, pluginFiles('example:pdf', 'other:pdf')) });
    assert.match(await program.skill('pdf'), /ambiguous[\s\S]*- example:pdf\n- other:pdf\n/);
    assert.match(
      await program.skill('other:pdf'),
      /\nPath: .*\/SKILL\.md\nLocation: plugin\nProvider: claude\nPlugin: other@market\n\n---\nname: pdf/,
    );
  });

  test('Transports: stdio is the default', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, PDF) });
    assert.match(await program.skill('pdf'), /^Loading: pdf\n/);
    assert.doesNotMatch(program.stderr(), /listening/);
  });

  test('Transports: --transport http is streamable HTTP at /mcp, for both eras; --host and --port say where', async (t) => {
    const { url } = await startWeb(t, { tree: makeTree(t, PDF), args: ['--host', 'localhost'] });
    assert.match(url, /^http:\/\/localhost:\d+\/mcp$/);
    const { json } = await ask(url, { ...CALL, headers: await openSession(url) });
    assert.match(json.result.content[0].text, /^Loading: pdf\n/);
    assert.equal((await ask(url, modern('tools/list'))).json.result.resultType, 'complete');
    const args = ['--transport', 'http', '--host', 'localhost', '--port', new URL(url).port];
    assert.match(runCommand(makeTree(t), args).stderr, /cannot listen on localhost:\d+: .*EADDRINUSE/);
  });

  for (const transport of ['sse', 'http'] as const)
    test(`Transports: SSE session (--transport ${transport})`, async (t) => {
      const { url, at } = await startWeb(t, { tree: makeTree(t, PDF), transport });
      assert.equal(new URL(url).pathname, transport === 'sse' ? '/sse' : '/mcp');
      const [one, two] = [await openStream(t, at('/mcp')), await openStream(t, at('/sse'))];
      const [place, other] = await Promise.all(
        [one, two].map(async (stream) => {
          const { event, data } = await stream.next();
          assert.match(`${event} ${data}`, /^endpoint \/messages\?sessionId=\S+$/);
          return at(data);
        }),
      );
      for (const message of [hello, legacy('notifications/initialized'), CALL])
        assert.equal((await ask(String(place), message)).status, 202);
      assert.equal((await one.message()).result.serverInfo.name, 'skillwire');
      const { id, result } = await one.message();
      assert.equal(id, 7);
      assert.match(result.content[0].text, /^Loading: pdf\n/);
      // Messages are those of the session that the address names, and of no other.
      assert.equal((await ask(String(other), legacy('ping', {}, 8))).status, 202);
      assert.equal((await two.message()).id, 8);
      for (const id of ['nobody', '__proto__', ''])
        assert.equal((await ask(at(`/messages?sessionId=${id}`), CALL)).status, 404, id);
    });

  test('Auto-refresh: refresh interval override', async (t) => {
    const args = ['--refresh-interval', '10000'];
    const program = startProgram(t, { tree: makeTree(t), args, env: FAST_INTERVALS });
    await program.waitForStderr(/interval of 10000 ms\n/);
    await program.waitForStderr(/(?:skillwire: refresh \(timer\): no change; 0 skills in \d+ ms\n){3}/);
  });

  test('Auto-refresh: --no-refresh scans once, and has neither timer nor watcher', async (t) => {
    const tree = makeTree(t, { 'skills/old/SKILL.md': skillText('old') });
    const start = (how: string) => startProgram(t, { tree, args: [how, '--refresh-interval', '50'] });
    const [never, often] = [start('--no-refresh'), start('--no-watch')];
    await Promise.all([never, often].map((program) => program.names()));
    tree.write('skills/new/SKILL.md', skillText('new'));
    await often.waitForStderr(/changed; 2 skills/);
    await often.nextRefresh();
    assert.deepEqual(await never.names(), ['old']);
    assert.doesNotMatch(never.stderr(), /refresh/);
  });

  test('Registry configuration passthrough: plugins skipped, and every other option: CLI and MCP share one view', async (t) => {
    const tree = makeTree(t, {
      'extra/three/SKILL.md': skillText('three'),
      'vendored/four/SKILL.md': skillText('four'),
      '.claude/skills/one/SKILL.md': skillText('one'),
      ...pluginFiles('docs:pdf'),
      'my/plugins.json': JSON.stringify({ plugins: { 'mine@m': { installPath: 'deep/mine' } } }),
      'my/root/deep/mine/skills/own/SKILL.md': skillText('own'),
    });
    const rows: Readonly<Record<string, string>> = {
      '': 'one docs:pdf',
      '--no-plugins': 'one',
      '--skill-dir extra --root vendored': 'three four one docs:pdf',
      '--no-default-dirs': 'docs:pdf',
      '--no-default-dirs --no-plugins --skill-dir=extra': 'three',
      '--plugins-file my/plugins.json --plugins-root my/root': 'one mine:own',
    };
    const check = async ([options, names]: readonly [string, string]) => {
      const args = options.split(' ').filter(Boolean);
      const shown = await startProgram(t, { tree, args: ['mcp', ...args] }).names();
      const { skills } = JSON.parse(runCommand(tree, ['list', '--json', ...args]).stdout);
      const listed = skills.map(({ name }: { name: string }) => name);
      assert.deepEqual([shown.join(' '), listed.join(' ')], [names, names], options);
    };
    await Promise.all(Object.entries(rows).map(check));
  });

  test('MCP respects source filters: codex-only MCP', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, PROVIDERS), args: ['mcp', '--include=codex'] });
    assert.deepEqual(await program.names(), ['pdf', 'review']);
    for (const name of ['claude:pdf', 'claude@project:pdf', 'docs:docx', 'docx', 'notes', 'agents:notes']) {
      const { isError, content } = await program.call('skill', { name });
      assert.equal(isError, true, name);
      assert.match(content[0].text, /^Skill '.*' not found\.[\s\S]*Available skills:\n- pdf: codex has it\n- review: /);
      assert.doesNotMatch(content[0].text, /claude has it|- (?:notes|docs:docx)/, name);
    }
    assert.match((await program.call('skill', { name: 'claude:pdf' })).content[0].text, /Did you mean: pdf\?/);
    assert.match(await program.skill('pdf'), /codex has it/);
    // By no other way either.
    const everything = ['prompts/list', 'resources/list', 'skills/list'].map((method) => program.request(method));
    const tools = [program.call('skills.list', {}), program.call('skills.search', { query: 'it' })];
    const answers = JSON.stringify(await Promise.all([...everything, ...tools]));
    assert.doesNotMatch(answers, /claude has it|notes|docx/);
    const { error } = await program.request('resources/read', { uri: 'skill://claude/pdf/SKILL.md' });
    assert.equal(error.code, -32602);
  });

  test('MCP respects source filters: they are applied again at every refresh', async (t) => {
    const tree = makeTree(t, PROVIDERS);
    const args = ['--no-watch', '--refresh-interval', '40', '--include', 'codex,notes', '--exclude', 'secret*,NOTES'];
    const program = startProgram(t, { tree, args });
    assert.deepEqual(await program.names(), ['pdf', 'review']);
    for (const name of ['.claude/skills/b', '.codex/skills/c', '.codex/skills/secret-d'])
      tree.write(`${name}/SKILL.md`, skillText(name.replace(/.*\//, '')));
    await program.waitForStderr(/changed; 3 skills/);
    assert.deepEqual(await program.names(), ['c', 'pdf', 'review']);
    assert.match(await program.skill('secret-d'), /^Skill 'secret-d' not found\./);
  });

  test('Provider-aware resolution: duplicate short name', async (t) => {
    const program = startProgram(t, { tree: makeTree(t, PROVIDERS) });
    assert.match(await program.skill('pdf'), /ambiguous[\s\S]*- claude:pdf\n- codex:pdf\n[\s\S]*use the full name/);
    for (const provider of ['codex', 'claude'])
      assert.match(
        await program.skill(`${provider}:pdf`),
        new RegExp(`\nProvider: ${provider}\n\n[\\s\\S]*description: ${provider} has it\n`),
      );
  });
});
