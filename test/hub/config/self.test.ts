/** Which entries start this program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tryReadEntry } from '../../../src/hub/config/entries.ts';
import { startsSkillwire } from '../../../src/hub/config/self.ts';

const starts = (...words: readonly string[]) => {
  const [command, ...args] = words;
  return startsSkillwire(tryReadEntry('one', () => ({ command, args })));
};

test('an entry starts skillwire however it is run', () => {
  const commands = [
    'skillwire',
    'skillwire --hub',
    '/usr/local/bin/skillwire --hub',
    'npx -y skillwire',
    'npx -y skillwire@0.2.0 --hub',
    'npx --yes --package=skillwire skillwire',
    'pnpm dlx skillwire',
    'yarn dlx skillwire',
    'npm exec -- skillwire',
    'bunx skillwire',
    'node /srv/skillwire/dist/skillwire.cjs --hub',
    '/opt/node/bin/node --no-warnings dist/skillwire-stdio.cjs',
    'deno run -A /srv/dist/skillwire.cjs',
    'cmd /c npx -y skillwire',
    'C:\\npm\\npx.cmd -y skillwire',
    'node C:\\app\\skillwire.cjs',
  ];
  for (const command of commands) assert.ok(starts(...command.split(' ')), command);
});

test('an entry that only mentions it does not', () => {
  const commands = [
    'npx -y @modelcontextprotocol/server-filesystem /home/you/skillwire',
    'npx -y skillwire-notes',
    'npx -y @other/skillwires',
    'node server.js skillwire',
    'docker run -i image skillwire',
    'my-skillwire',
    'node',
  ];
  for (const command of commands) assert.equal(starts(...command.split(' ')), false, command);
  assert.equal(startsSkillwire(tryReadEntry('skillwire', () => ({ url: 'http://127.0.0.1:3333/mcp' }))), false);
  assert.equal(startsSkillwire(tryReadEntry('skillwire', () => ({ command: 7 }))), false);
});

test('telling takes time linear in the words', () => {
  const began = performance.now();
  const size = 1_000_000;
  for (const word of [
    `${'a'.repeat(size)}/`,
    `${'@'.repeat(size)}\n`,
    `${'a@'.repeat(size)}\n`,
    '-'.repeat(size),
    '/'.repeat(size),
  ])
    assert.equal(starts('npx', word, 'skillwire-not'), false);
  assert.equal(starts('npx', ...Array(50_000).fill('-y')), false);
  assert.ok(performance.now() - began < 5000);
});
