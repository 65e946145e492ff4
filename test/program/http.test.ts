/**
 * The built program over HTTP: many clients at once, access, behind nginx, and its end. The transport itself is in
 * test/transports/http.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { ask, hello, legacy, modern, openSession, openStream } from '../harness/http.ts';
import { fileOf } from '../harness/hub.ts';
import { startWeb } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';
import { upstream } from '../harness/upstreams.ts';

const modernAsk = (method: string, params: object) => modern(method, undefined, params);
const LISTEN = modernAsk('subscriptions/listen', { notifications: { toolsListChanged: true } });

describe('over HTTP', { concurrency: 3 }, () => {
  test('200 clients at once, of both eras, get their own answers under equal ids, and are each told of a change', async (t) => {
    const names = Array.from({ length: 100 }, (_, at) => `skill-${at}`);
    const tree = makeTree(t, Object.fromEntries(names.map((name) => [`skills/${name}/SKILL.md`, skillText(name)])));
    const { url } = await startWeb(t, { tree });
    const clients = names.map(async (name) => {
      const headers = await openSession(url);
      const [stream, listening] = [await openStream(t, url, { headers }), await openStream(t, url, LISTEN)];
      assert.equal((await listening.message()).method, 'notifications/subscriptions/acknowledged');
      const params = { name: 'skill', arguments: { name } };
      const asked = [{ ...legacy('tools/call', params), headers }, modernAsk('tools/call', params)];
      for (const { json } of await Promise.all(asked.map((one) => ask(url, one))))
        assert.ok(json.result.content[0].text.startsWith(`Loading: ${name}\n`), name);
      return [stream, listening];
    });
    const streams = (await Promise.all(clients)).flat();
    tree.write('skills/new/SKILL.md', skillText('new'));
    for (const stream of streams) assert.equal((await stream.message()).method, 'notifications/tools/list_changed');
  });

  test('access is what the options say: token, Host and Origin', async (t) => {
    const args = ['--allow-host', 'skills.test', '--allow-origin', 'https://app.test'];
    const env = { SKILLWIRE_TOKEN: 'tok-1234' };
    const { url, at } = await startWeb(t, { tree: makeTree(t), args, env });
    const right = { authorization: 'Bearer tok-1234' };
    const rows: readonly (readonly [headers: Record<string, string>, status: number])[] = [
      [right, 200],
      [{}, 401],
      [{ authorization: 'Bearer tok-123' }, 401],
      [{ ...right, host: 'skills.test' }, 200],
      [{ ...right, host: 'evil.test' }, 403],
      [{ ...right, origin: 'https://app.test' }, 200],
      [{ ...right, origin: 'https://app.test.evil' }, 403],
    ];
    for (const [headers, status] of rows)
      assert.equal((await ask(url, { ...hello, headers })).status, status, JSON.stringify(headers));
    assert.equal((await ask(at('/healthz'))).status, 200, 'health needs no token');
  });

  test('SIGTERM: health is 503, new requests too, what is in flight is answered, streams end, exit 0', async (t) => {
    const tree = makeTree(t, { 'home/.kode.json': fileOf({ up: upstream() }) });
    const { url, at, program } = await startWeb(t, { tree, args: ['--hub'] });
    await program.waitForStderr(/server up: ready/);
    const headers = await openSession(url);
    const streams = [await openStream(t, url, { headers }), await openStream(t, at('/sse'))];
    const listening = await openStream(t, url, LISTEN);
    await listening.message();
    const slow = { name: 'up:slow', arguments: { ms: 1000 } };
    const calls = [ask(url, { ...legacy('tools/call', slow), headers }), ask(url, modernAsk('tools/call', slow))];
    await ask(url, { ...legacy('tools/call', { name: 'up:pid' }), headers }); // Behind them: they have been read.
    const began = performance.now();
    program.child.kill('SIGTERM');
    let health = 200;
    while (health === 200) health = (await ask(at('/healthz'))).status;
    assert.equal(health, 503);
    assert.equal((await ask(url, hello)).status, 503);
    for (const { json } of await Promise.all(calls)) assert.equal(json.result.content[0].text, 'slow is done');
    assert.equal((await listening.message()).result.resultType, 'complete');
    assert.deepEqual(await Promise.all([...streams, listening].map(({ ended }) => ended)), [true, true, true]);
    assert.equal(await program.exit(), 0);
    assert.ok(performance.now() - began < 11_000);
    assert.match(program.stderr(), /\nskillwire: stopped: SIGTERM\n$/);
  });
});

// Debian puts it where only root looks. `.ci/run` installs it.
const NGINX = ['nginx', '/usr/sbin/nginx'].find((path) => !spawnSync(path, ['-v']).error);

test('behind nginx any of two servers answers a modern client, one of them a session, and events pass', {
  skip: NGINX === undefined && 'nginx is not installed',
}, async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const [first, second] = await Promise.all([startWeb(t, { tree }), startWeb(t, { tree })]);
  const url = await startNginx(t, tree, [first.url, second.url]);
  const lists = await Promise.all(Array.from({ length: 20 }, () => ask(url, modernAsk('tools/list', {}))));
  assert.equal(new Set(lists.map(({ status, text }) => `${status} ${text}`)).size, 1, 'equal trees give equal bytes');
  const headers = await openSession(url);
  const params = { name: 'skill', arguments: { name: 'pdf' } };
  for (let round = 0; round < 8; round++)
    assert.match((await ask(url, { ...legacy('tools/call', params), headers })).text, /Loading: pdf/);
  const streams = [await openStream(t, url, { headers }), await openStream(t, url, LISTEN)];
  assert.match((await streams[1]?.message())?.method, /acknowledged$/);
  const older = await openStream(t, new URL('/sse', url).href);
  assert.match((await older.next()).data, /^\/messages/);
  tree.write('skills/new/SKILL.md', skillText('new'));
  for (const stream of streams) assert.equal((await stream.message()).method, 'notifications/tools/list_changed');
  // A modern client notices nothing when one of the servers ends.
  first.program.child.kill('SIGTERM');
  assert.equal(await first.program.exit(), 0);
  for (let round = 0; round < 6; round++) assert.equal((await ask(url, modernAsk('tools/call', params))).status, 200);
});

/** In front of the given servers; a client with a session stays with one of them. Gives the URL. */
async function startNginx(t: TestContext, tree: Tree, servers: readonly string[]): Promise<string> {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as { port: number };
  free.close();
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${tree.at(name)};`,
  );
  const hosts = servers.map((url) => `server ${new URL(url).host};`).join(' ');
  const config = `daemon off; pid ${tree.at('nginx.pid')}; error_log ${tree.at('nginx.log')}; events {}
http {
  ${places.join(' ')} access_log off;
  map $http_mcp_protocol_version $skillwire { 2026-07-28 any; default sticky; }
  upstream any { ${hosts} }
  upstream sticky { ip_hash; ${hosts} }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://$skillwire;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host localhost;
    }
  }
}
`;
  const child = spawn(NGINX ?? '', ['-c', tree.write('nginx.conf', config)], { stdio: 'ignore' });
  t.after(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'close');
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  for (;;) {
    const health = await ask(new URL('/healthz', url).href).catch(() => undefined);
    if (health?.status === 200) return url;
    assert.equal(child.exitCode, null, 'nginx ended');
  }
}
