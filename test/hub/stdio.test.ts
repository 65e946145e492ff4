/** A child process and its pipes: messages, lines that are none, and the reason for its end. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { StdioTarget } from '../../src/hub/entries.ts';
import { openStdio } from '../../src/hub/stdio.ts';
import { MAX_PRINTED_LINES } from '../../src/limits.ts';
import { MAX_LINE } from '../../src/protocol/index.ts';
import { command, eventually } from '../harness/connections.ts';

const shell = (script: string) => command('sh', ['-c', script]);
const node = (script: string) => command(process.execPath, ['-e', script]);

/** Records what its owner hears, and closes the connection at the end. */
function open(t: TestContext, target: StdioTarget) {
  const heard: string[] = [];
  const note = (what: string) => (said: string | Error) => void heard.push(`${what}: ${Object(said).message ?? said}`);
  const reports = { text: note('text'), dropped: note('dropped'), closed: note('closed'), log: note('log') };
  const connection = openStdio(target, { ...reports, isPending: () => false, headers: () => ({}) }, process.env, 1);
  t.after(() => connection.close());
  return { connection, heard };
}

const LAST_LINES = Array.from({ length: MAX_PRINTED_LINES }, (_, at) => 51 - MAX_PRINTED_LINES + at).join('\n');
const LONG = `[1, 2, 3].map((at) => console.error(String(at).repeat(900))); console.error('x'.repeat(3000)); process.exit(1)`;
const SAYS = 'exited with code 1; its stderr says: ';
const closing = (pipe: number) => node(`require('fs').closeSync(${pipe}); setInterval(() => {}, 9)`);

const REASONS: readonly (readonly [what: string, target: StdioTarget, reason: string])[] = [
  ['is killed', shell('kill -KILL $$'), 'ended by SIGKILL'],
  ['ends its last line without a line break', shell('printf a >&2; exit 1'), `${SAYS}a`],
  ['leaves a helper with its pipes', shell('sleep 5 & echo gone >&2; exit 1'), `${SAYS}gone`],
  ['prints many lines', shell('for at in $(seq 50); do echo $at >&2; echo >&2; done; exit 1'), SAYS + LAST_LINES],
  ['prints long lines', node(LONG), `${SAYS}${'2'.repeat(900)}\n${'3'.repeat(900)}\n(a line over 2048 bytes)`],
  ['closes its stdin', closing(0), 'the server closed its stdin'],
  ['closes its stdout', closing(1), 'the server closed its stdout'],
  [
    'has no directory',
    { ...command('nil', []), cwd: '/nil' },
    'cannot be started: "nil" was not found, or /nil was not',
  ],
  ['may not be executed', command('/etc/passwd', []), 'cannot be started: spawn /etc/passwd EACCES'],
];
// Most of them wait for something, so they run side by side.
describe('the reason for the end of a server', { concurrency: true }, () => {
  for (const [what, target, reason] of REASONS)
    test(`that ${what} says what is wrong`, async (t) => {
      const { connection, heard } = open(t, target);
      if (what === 'closes its stdin') setInterval(() => void connection.send({ text: '{}' }), 50).unref();
      await eventually(() => heard.some((line) => line.startsWith('closed: ')), 'its end');
      assert.ok(heard.find((line) => line.startsWith('closed: '))?.startsWith(`closed: ${reason}`), heard.join('\n'));
    });
});

test('messages go both ways; lines that are none are skipped, and one too long is reported', async (t) => {
  const script = `console.log('starting\\n'.repeat(20) + '{"level":30,"msg":"a log","id":1}');
    console.log('x'.repeat(${MAX_LINE + 1}));
    process.stdin.pipe(process.stdout)`;
  const { connection, heard } = open(t, node(script));
  const messages = [1, 2].map((id) => `{"jsonrpc":"2.0","id":${id},"method":"a"}`);
  for (const text of messages) await connection.send({ text });
  await eventually(() => heard.length === 4, 'both messages');
  const dropped = `dropped: a message over ${MAX_LINE} bytes was dropped`;
  const texts = messages.map((text) => `text: ${text}`);
  assert.deepEqual(heard, ['log: prints lines on stdout that are not JSON-RPC', dropped, ...texts]);
});

test('a message to a server that has long stopped reading fails at once', async (t) => {
  const { connection } = open(t, node('setTimeout(() => {}, 3000)'));
  void connection.send({ text: 'x'.repeat(MAX_LINE + 2 ** 20) });
  // The write leaves at the end of the turn.
  await new Promise((done) => setImmediate(done));
  await assert.rejects(connection.send({ text: 'x' }), /the server does not read what it is sent/);
});
