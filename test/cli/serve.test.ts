import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROGRAM, runCommand, STDIO_PROGRAM, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

test('each word that means "serve" serves until the input ends, in both programs', async (t) => {
  for (const [entry, word] of [
    [PROGRAM, 'serve'],
    [PROGRAM, 'mcp'],
    [PROGRAM, 'mcp-server'],
    [STDIO_PROGRAM, 'mcp'],
  ] as const) {
    const program = startProgram(t, { tree: makeTree(t), args: [word], entry });
    await program.handshake();
    assert.equal(await program.end(), 0);
    assert.match(program.stderr(), /skillwire: stopped: the client closed its end\n$/);
  }
});

test('--quiet says nothing but errors, --log-level how much else', async (t) => {
  const tree = makeTree(t, { 'skills/bad/SKILL.md': 'x', 'skills/pdf/SKILL.md': skillText('pdf') });
  for (const [options, said] of [
    ['--quiet', /^$/],
    ['--log-level error', /^$/],
    ['--log-level warn', /^skillwire: warn: .*there is no front matter\n$/],
    ['--log-level info', /scanning[\s\S]*warn[\s\S]*ready[\s\S]*stopped/],
  ] as const) {
    const program = startProgram(t, { tree, args: options.split(' ') });
    await program.description();
    await program.end();
    assert.match(program.stderr(), said, options);
  }
});

test('an address that should not be listened on is one line', (t) => {
  for (const [host, token, why] of [
    ['[::]', {}, 'listening on :: lets others in: set SKILLWIRE_TOKEN, or say --no-auth'],
    ['0.0.0.0', { SKILLWIRE_TOKEN: '' }, 'the token must be one or more visible ASCII characters'],
  ] as const)
    assert.deepEqual(runCommand(makeTree(t), ['--transport', 'http', '--host', host], token), {
      status: 2,
      stdout: '',
      stderr: `skillwire: ${why} (see --help)\n`,
    });
});

test('a hub over HTTP does not connect to its own address', (t) => {
  const servers = { self: { url: 'http://127.0.0.1:45673/mcp' }, other: { command: 'x', disabled: true } };
  const tree = makeTree(t, { 'servers.json': JSON.stringify({ mcpServers: servers }) });
  const args = 'doctor --hub --config servers.json --transport http --port 45673 --json'.split(' ');
  const { upstreams } = JSON.parse(runCommand(tree, args).stdout);
  assert.deepEqual([upstreams.length, upstreams[0].name], [1, 'other']);
});
