import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROGRAM, runCommand, STDIO_PROGRAM, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

test('"serve" serves until the input ends; so does an alias, which the stdio program knows too', async (t) => {
  for (const [word, entry] of Object.entries({ serve: PROGRAM, mcp: STDIO_PROGRAM })) {
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
    ['--log-level warn', /^skillwire: warn: .*there is no front matter\n$/],
    ['--log-level info', /scanning[\s\S]*warn[\s\S]*ready[\s\S]*stopped/],
  ] as const) {
    const program = startProgram(t, { tree, args: options.split(' ') });
    await program.description();
    await program.end();
    assert.match(program.stderr(), said, options);
  }
});

test('an address may have the brackets of a URL', (t) => {
  const { status, stderr } = runCommand(makeTree(t), ['--transport', 'http', '--host', '[::]']);
  const why = 'listening on :: lets others in: set SKILLWIRE_TOKEN, or say --no-auth';
  assert.deepEqual([status, stderr], [2, `skillwire: ${why} (see --help)\n`]);
});

test('a hub over HTTP does not connect to its own address', (t) => {
  const servers = { self: { url: 'http://127.0.0.1:45673/mcp' }, other: { command: 'x', disabled: true } };
  const tree = makeTree(t, { 'servers.json': JSON.stringify({ mcpServers: servers }) });
  const args = 'doctor --hub --config servers.json --transport http --port 45673 --json'.split(' ');
  const { upstreams } = JSON.parse(runCommand(tree, args).stdout);
  assert.deepEqual([upstreams.length, upstreams[0].name], [1, 'other']);
});
