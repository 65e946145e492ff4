/** The requirement "Transports" of the MCP interface, with the built program. Other requirements are in seed-001.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, hello, legacy, modern, openSession, openStream } from '../harness/http.ts';
import { startProgram, startWeb } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const FILES = { 'skills/pdf/SKILL.md': skillText('pdf') };
const CALL = legacy('tools/call', { name: 'skill', arguments: { name: 'pdf' } }, 7);

test('Transports: stdio is the default', async (t) => {
  const program = startProgram(t, { tree: makeTree(t, FILES) });
  assert.equal((await program.handshake()).result.serverInfo.name, 'skillwire');
  assert.match(await program.skill('pdf'), /^Loading: pdf\n/);
  assert.doesNotMatch(program.stderr(), /listening/);
});

test('Transports: --transport http is streamable HTTP at /mcp, for both eras', async (t) => {
  const { url } = await startWeb(t, { tree: makeTree(t, FILES) });
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const { json } = await ask(url, { ...CALL, headers: await openSession(url) });
  assert.match(json.result.content[0].text, /^Loading: pdf\n/);
  assert.equal((await ask(url, modern('tools/list'))).json.result.resultType, 'complete');
});

test('Transports: --host and --port configure where it listens', async (t) => {
  const args = ['--host', 'localhost', '--allow-host', 'skills.test'];
  const { url, program } = await startWeb(t, { tree: makeTree(t, FILES), args });
  assert.equal(new URL(url).hostname, 'localhost');
  const { port } = new URL(url);
  assert.equal((await ask(url, { ...hello, headers: { host: `skills.test:${port}` } })).status, 200);
  // The port was chosen, and is taken now.
  const second = startProgram(t, {
    tree: makeTree(t),
    args: ['--transport', 'http', '--host', 'localhost', '--port', port],
  });
  assert.equal(await second.exit(), 2);
  assert.match(second.stderr(), /cannot listen.*EADDRINUSE.*--port/);
  program.child.kill('SIGTERM');
  assert.equal(await program.exit(), 0);
});

for (const transport of ['sse', 'http'] as const)
  for (const path of ['/mcp', '/sse'])
    test(`Transports: SSE session (--transport ${transport}, GET ${path})`, async (t) => {
      const { url, at } = await startWeb(t, { tree: makeTree(t, FILES), transport });
      assert.equal(new URL(url).pathname, transport === 'sse' ? '/sse' : '/mcp');
      const [one, two] = [await openStream(t, at(path)), await openStream(t, at(path))];
      const places = [await one.next(), await two.next()];
      for (const { event, data } of places) {
        assert.equal(event, 'endpoint');
        assert.match(data, /^\/messages\?sessionId=\S+$/);
      }
      const [place, other] = places.map(({ data }) => at(data));
      assert.notEqual(place, other);
      for (const message of [hello, legacy('notifications/initialized'), CALL])
        assert.equal((await ask(String(place), message)).status, 202);
      assert.equal((await one.message()).result.serverInfo.name, 'skillwire');
      const { id, result } = await one.message();
      assert.equal(id, 7);
      assert.match(result.content[0].text, /^Loading: pdf\n/);
      // Messages are those of the session that the address names, and of no other.
      assert.equal((await ask(String(other), legacy('ping', {}, 8))).status, 202);
      assert.equal((await two.message()).id, 8);
      assert.equal((await ask(at('/messages?sessionId=nobody'), CALL)).status, 404);
    });
