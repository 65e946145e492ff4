/** What many clients together can make the server hold. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { MAX_BODIES, MAX_BODY, MAX_UNSENT } from '../../src/transports/http/limits.ts';
import { eventually } from '../harness/hub.ts';
import { modern } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';
import { ask, initialize, modernHeaders, startWeb } from '../harness/web.ts';

test('long texts in a handshake are not kept (10.7)', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const { url, program } = await startWeb(t, { tree, env: { NODE_OPTIONS: '--max-old-space-size=96' } });
  const hello = initialize();
  const long = 'x'.repeat(1_700_000);
  const params = {
    ...hello.params,
    clientInfo: { name: 'test', version: long },
    capabilities: { roots: { long }, extensions: {} },
  };
  for (let at = 0; at < 40; at++) {
    const { status } = await ask(url, { body: { ...hello, params } });
    assert.equal(status, 200);
  }
  assert.equal(program.child.exitCode, null);
});

test('clients that do not read take no more memory than the limit, and do not harm one that reads (10.7)', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  tree.write('skills/pdf/big.txt', 'x'.repeat(16 * 1024 * 1024));
  const { url, program } = await startWeb(t, { tree });
  const uri = 'skill://custom/pdf/big.txt';
  const body = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: modern({ uri }) };
  const headers = {
    ...modernHeaders('resources/read', uri),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const deaf = Array.from({ length: 40 }, () => {
    const asking = request(url, { method: 'POST', headers, agent: false });
    asking.on('error', () => {}); // Most are dropped.
    asking.end(JSON.stringify(body));
    t.after(() => asking.destroy());
    return asking;
  });
  const answers = await Promise.all(deaf.map(async (one) => (await once(one, 'response'))[0] as IncomingMessage));
  const { json } = await ask(url, { headers, body });
  assert.equal(json.result.contents[0].text.length, 16 * 1024 * 1024);
  // Those that were kept can still be read to their end. The system itself holds a few megabytes of each.
  const whole = await Promise.all(answers.map(isWhole));
  const kept = whole.filter(Boolean).length;
  assert.ok(kept > 5 && kept < 35, `${kept} answers were kept`);
  if (process.platform === 'linux') {
    const [, most] = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${program.child.pid}/status`, 'utf8')) ?? [];
    t.diagnostic(`${Number(most) / 1024} MiB at most`);
    // Besides what waits there is garbage, and Node decides when to collect it. All answers together would take 2.5 GB.
    assert.ok(Number(most) * 1024 < 4 * MAX_UNSENT, `${Number(most) / 1024} MiB at most`);
  }
});

async function isWhole(answer: IncomingMessage): Promise<boolean> {
  answer.on('error', () => {}); // Cut off in the middle.
  answer.resume();
  if (!answer.closed) await new Promise((done) => answer.once('close', done));
  return answer.complete;
}

test('unfinished bodies take memory only up to a limit, and small requests are served meanwhile (10.7)', async (t) => {
  const { url } = await startWeb(t, { tree: makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') }) });
  const headers = { 'content-type': 'application/json', 'content-length': MAX_BODY };
  const half = Buffer.alloc(MAX_BODY - 1, ' ');
  const statuses: (number | undefined)[] = [];
  for (let at = 0; at < MAX_BODIES / MAX_BODY + 3; at++) {
    const asking = request(url, { method: 'POST', headers, agent: false });
    asking.on('error', () => {}); // Ends with the test.
    asking.on('response', (response) => statuses.push(response.resume().statusCode));
    asking.write(half);
    t.after(() => asking.destroy());
  }
  await eventually(() => statuses.length === 3, 'the refusals');
  assert.deepEqual(statuses, [503, 503, 503]);
  assert.equal((await ask(url, { body: initialize() })).status, 200);
});
