import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { PROGRAM, runCommand, STDIO_PROGRAM, startProgram, startWeb } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

for (const [words, entry] of [
  ['', PROGRAM],
  ['serve', PROGRAM],
  ['mcp', PROGRAM],
  ['mcp-server', PROGRAM],
  ['', STDIO_PROGRAM],
  ['mcp', STDIO_PROGRAM],
] as const)
  test(`"${basename(entry)} ${words}" serves until its input ends`, async (t) => {
    const program = startProgram(t, { tree: makeTree(t), args: words === '' ? [] : [words], entry });
    await program.handshake();
    assert.equal(await program.end(), 0);
    assert.match(program.stderr(), /skillwire: stopped: the client closed its end\n$/);
    assert.deepEqual(program.noise, []);
  });

test('--quiet says nothing but errors, --log-level how much else', async (t) => {
  const tree = makeTree(t, { 'skills/bad/SKILL.md': 'x', 'skills/pdf/SKILL.md': skillText('pdf') });
  const said = async (...args: readonly string[]) => {
    const program = startProgram(t, { tree, args });
    await program.description();
    await program.end();
    return program.stderr();
  };
  assert.equal(await said('--quiet'), '');
  assert.equal(await said('--log-level', 'error'), '');
  assert.match(await said('--log-level', 'warn'), /^skillwire: warn: .*there is no front matter\n$/);
  assert.match(await said(), /scanning[\s\S]*warn[\s\S]*ready[\s\S]*stopped/);
});

for (const [transport, path] of [
  ['http', '/mcp'],
  ['sse', '/sse'],
] as const)
  test(`--transport ${transport} announces ${path}, and a signal stops it with exit 0`, async (t) => {
    const { program, url } = await startWeb(t, { tree: makeTree(t), transport });
    assert.equal(new URL(url).pathname, path);
    program.child.kill('SIGINT');
    assert.equal(await program.exit(), 0);
    assert.match(program.stderr(), /\nskillwire: stopped: SIGINT\n$/);
  });

test('an address that cannot or should not be listened on is one line, before anything is scanned', async (t) => {
  const tree = makeTree(t);
  const { url } = await startWeb(t, { tree });
  const rows: readonly (readonly [args: readonly string[], line: RegExp, env?: Readonly<Record<string, string>>])[] = [
    [['--port', new URL(url).port], /cannot listen on 127\.0\.0\.1:\d+: .*; choose another with --port or --host/],
    [['--host', '0.0.0.0'], /listening on 0\.0\.0\.0 lets others in: set SKILLWIRE_TOKEN, or say --no-auth/],
    [['--host', '[::]'], /listening on :: lets others in/],
    [['--host', '0.0.0.0'], /the token must be one or more visible ASCII characters/, { SKILLWIRE_TOKEN: '' }],
  ];
  for (const [args, line, env] of rows) {
    const { status, stdout, stderr } = runCommand(tree, ['--transport', 'http', ...args], env);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, /^skillwire: [^\n]+ \(see --help\)\n$/);
    assert.match(stderr, line);
  }
});

test('a hub over HTTP does not connect to its own address', async (t) => {
  const servers = { self: { url: 'http://127.0.0.1:45673/mcp' }, other: { command: 'x', disabled: true } };
  const tree = makeTree(t, { 'servers.json': JSON.stringify({ mcpServers: servers }) });
  const args = ['doctor', '--hub', '--config', 'servers.json', '--transport', 'http', '--port', '45673', '--json'];
  const { upstreams } = JSON.parse(runCommand(tree, args).stdout);
  assert.deepEqual(
    upstreams.map(({ name }: { readonly name: string }) => name),
    ['other'],
  );
});
