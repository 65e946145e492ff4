/** Several servers behind a load balancer: nginx, where it is installed. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as StreamableV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { modern } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';
import { ask, freePort, modernHeaders, openStream, startWeb } from '../harness/web.ts';

// Debian puts it where only root looks.
const NGINX = ['nginx', '/usr/sbin/nginx'].find((path) => !spawnSync(path, ['-v']).error);
const skip = NGINX === undefined ? 'nginx is not installed' : false;

const message = (method: string, params: Parameters<typeof modern>[0] = {}) => ({
  headers: modernHeaders(method, typeof params?.name === 'string' ? params.name : undefined),
  body: { jsonrpc: '2.0', id: 1, method, params: modern(params) },
});
const callSkill = message('tools/call', { name: 'skill', arguments: { name: 'pdf' } });

test('modern clients are served by any of several servers, which share nothing', { skip }, async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  const args = ['--log-level', 'debug'];
  const [one, two] = await Promise.all([startWeb(t, { tree, args }), startWeb(t, { tree, args })]);
  const url = await startNginx(t, tree, [one.url, two.url]);

  await t.test('each request may reach another server', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url, callSkill)));
    for (const { status, json } of answers) {
      assert.equal(status, 200);
      assert.match(json.result.content[0].text, /^Loading: pdf/);
    }
    const lists = await Promise.all([1, 2, 3, 4].map(() => ask(url, message('tools/list'))));
    assert.equal(new Set(lists.map(({ text }) => text)).size, 1);
    for (const { program } of [one, two]) await program.waitForStderr(/"path":"\/mcp","status":200/);
  });

  await t.test('events pass at once', async () => {
    const stream = await openStream(
      t,
      url,
      message('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    );
    assert.equal((await stream.message()).method, 'notifications/subscriptions/acknowledged');
    tree.write('.claude/skills/xlsx/SKILL.md', skillText('xlsx'));
    assert.equal((await stream.message()).method, 'notifications/tools/list_changed');
    stream.close();
  });

  await t.test('a client of the official SDK notices nothing of it, not even that one server ends', async () => {
    const client = new Client({ name: 'tour', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const load = () => client.callTool({ name: 'skill', arguments: { name: 'pdf' } });
    for (let round = 0; round < 4; round++) assert.notEqual((await load()).isError, true);
    one.program.child.kill('SIGTERM');
    assert.equal(await one.program.exit(), 0);
    for (let round = 0; round < 6; round++) assert.notEqual((await load()).isError, true);
    await client.close();
  });
});

test('clients with a session reach the server that has it, by streamable HTTP and by SSE', { skip }, async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  const [one, two] = await Promise.all([startWeb(t, { tree }), startWeb(t, { tree })]);
  const url = await startNginx(t, tree, [one.url, two.url]);
  for (const [name, transport] of [
    ['stream', new StreamableV1(new URL(url))],
    ['sse', new SseV1(new URL('/sse', url))],
  ] as const) {
    const client = new ClientV1({ name: 'tour', version: '1' });
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    await client.connect(transport as Parameters<ClientV1['connect']>[0]);
    for (let round = 0; round < 8; round++) {
      const { isError } = await client.callTool({ name: 'skill', arguments: { name: 'pdf' } });
      assert.notEqual(isError, true);
    }
    tree.write(`.claude/skills/${name}/SKILL.md`, skillText(name));
    while (changes === 0) await new Promise((again) => setTimeout(again, 20));
    await client.close();
  }
});

/** An nginx in front of the given servers; gives the URL it is reached by. */
async function startNginx(t: TestContext, tree: Tree, servers: readonly string[]): Promise<string> {
  const port = await freePort();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${tree.at(name)};`,
  );
  // The snippet of the README, with the addresses of this test.
  const readme = readFileSync(fileURLToPath(new URL('../../../README.md', import.meta.url)), 'utf8');
  const snippet = /```nginx\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const hosts = servers.map((url) => new URL(url).host);
  const addresses = new Map([
    ['127.0.0.1:3333', hosts[0]],
    ['127.0.0.1:3334', hosts[1]],
    ['127.0.0.1:8080', `127.0.0.1:${port}`],
  ]);
  for (const address of addresses.keys()) assert.ok(snippet.includes(address), address);
  const config = tree.write(
    'nginx.conf',
    `daemon off;
pid ${tree.at('nginx.pid')};
error_log ${tree.at('nginx.log')};
events {}
http {
  ${paths.join('\n  ')}
  access_log off;
${snippet.replace(/127\.0\.0\.1:\d+/g, (address) => addresses.get(address) ?? address)}
}
`,
  );
  const child = spawn(NGINX ?? 'nginx', ['-c', config, '-e', tree.at('nginx.log')], { stdio: 'ignore' });
  const ended = once(child, 'close');
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  for (;;) {
    const reply = await ask(new URL('/healthz', url).href).catch(() => undefined);
    if (reply?.status === 200) return url;
    assert.equal(child.exitCode, null, 'nginx ended');
    await new Promise((again) => setTimeout(again, 50));
  }
}
