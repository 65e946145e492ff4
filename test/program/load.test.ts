/** Many clients at once: everyone gets their own answer, and the memory they took comes back. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Answer, modern } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';
import { ask, initialize, modernHeaders, openSession, openStream } from '../harness/web.ts';

const SKILLS = 50;
const SESSIONS = 500;
const ABANDONED = 5000;
const IN_FLIGHT = 1000;
const MOST_KEPT = 32 * 1024 * 1024;
const PATIENCE_MS = 60_000;

const nameOf = (at: number) => `skill-${at % SKILLS}`;

test('500 sessions, 1,000 requests in flight and 5,000 abandoned sessions leave right answers and no memory', async (t) => {
  const { url, server } = await start(t);
  const at = (path: string) => new URL(path, url).href;
  await t.test('every one of 500 sessions at once gets its own answers under equal ids', async (t) => {
    const sessions = await inParallel(SESSIONS, 50, async () => {
      const headers = { 'mcp-session-id': await openSession(url) };
      return { headers, stream: await openStream(t, url, { headers }) };
    });
    assert.equal((await ask(at('/healthz'))).json.sessions, SESSIONS);
    await Promise.all(
      sessions.map(async ({ headers }, n) => assertSkill(await ask(url, { headers, body: callOf(7, n) }), n)),
    );
    for (const { stream } of sessions) stream.close();
  });

  const askAtOnce = async () => {
    const answers = await Promise.all(Array.from({ length: IN_FLIGHT }, (_, n) => callModern(url, n)));
    for (const [n, answer] of answers.entries()) assertSkill(answer, n);
  };
  await t.test('1,000 requests in flight are answered, each to who asked', askAtOnce);

  const abandon = () => inParallel(ABANDONED, 50, () => ask(url, { body: initialize() }));
  await t.test('sessions that are opened and left give way to new ones', async () => {
    await abandon();
    assert.equal((await ask(at('/healthz'))).json.sessions, 1000);
  });

  // The first load makes room that newer Nodes keep, more or less of it by chance. The same load again must find it.
  const before = await memoryOf(server);
  await askAtOnce();
  await abandon();
  // V8 hands pages back when it has been idle for some seconds, not at once.
  const grew = ({ rss, held }: Memory) => Math.max(rss - before.rss, held - before.held);
  let after = await memoryOf(server);
  for (const end = Date.now() + PATIENCE_MS; grew(after) > MOST_KEPT && Date.now() < end; )
    after = await memoryOf(server);
  assert.ok(grew(after) < MOST_KEPT, `${JSON.stringify(before)} became ${JSON.stringify(after)}`);
});

async function start(t: TestContext): Promise<{ url: string; server: ChildProcess }> {
  const names = Array.from({ length: SKILLS }, (_, n) => nameOf(n));
  const tree = makeTree(t, Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, skillText(name)])));
  const program = fileURLToPath(new URL('../fixtures/measured-server.js', import.meta.url));
  // Newer Nodes let the young generation grow with the load and keep it so: that is room, not what the load left in it.
  const server = fork(program, [tree.path], { execArgv: ['--expose-gc', '--max-semi-space-size=4'] });
  t.after(() => server.kill('SIGKILL'));
  const [{ url }] = await once(server, 'message');
  return { url, server };
}

interface Memory {
  readonly rss: number;
  /** What is reachable. */
  readonly held: number;
}

/** After a collection, which takes it half a second. */
async function memoryOf(server: ChildProcess): Promise<Memory> {
  server.send('memory');
  const [memory] = await once(server, 'message');
  return memory;
}

const callOf = (id: number, n: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'skill', arguments: { name: nameOf(n) } },
});

function callModern(url: string, n: number) {
  const { params, ...call } = callOf(1, n);
  return ask(url, { headers: modernHeaders('tools/call', 'skill'), body: { ...call, params: modern(params) } });
}

function assertSkill({ status, json }: { status: number; json: Answer }, n: number): void {
  assert.equal(status, 200);
  assert.match(json.result.content[0].text, new RegExp(`^Loading: ${nameOf(n)}\n`));
}

/** Does something `count` times, a few at a time. */
async function inParallel<T>(count: number, width: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const line = async () => {
    while (next < count) {
      const n = next++;
      results[n] = await work(n);
    }
  };
  await Promise.all(Array.from({ length: width }, line));
  return results;
}
