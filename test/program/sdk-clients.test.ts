/** The official clients, of both generations, over every transport they have: what they do with a server, they do with ours. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { environmentOf, PROGRAM, startWeb } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

/** What a tour needs of a client, whichever it is. */
interface Guest {
  /** Of the protocol. */
  readonly version: string | undefined;
  readonly client: Pick<ClientV1, 'close'> & {
    listTools(): Promise<{ tools: { name: string }[] }>;
    callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<object>;
  };
}

/** `onChange`: called when the tools are said to have changed. */
type Connect = (url: URL, tree: Tree, onChange: () => void) => Promise<Guest>;

const pipes = (tree: Tree) => ({
  ...{ command: process.execPath, args: [PROGRAM, '--quiet'], cwd: tree.path },
  env: environmentOf(tree),
});

const v1 =
  (transportTo: (url: URL, tree: Tree) => TransportV1): Connect =>
  async (url, tree, onChange) => {
    const client = new ClientV1({ name: 'tour', version: '1' });
    client.setNotificationHandler(ToolListChangedNotificationSchema, onChange);
    const transport = transportTo(url, tree);
    const tell = transport.setProtocolVersion?.bind(transport);
    let version: string | undefined;
    // The only place where every transport is told.
    transport.setProtocolVersion = (one) => {
      version = one;
      tell?.(one);
    };
    await client.connect(transport);
    return { version, client };
  };

const modern =
  (transportTo: (url: URL, tree: Tree) => v2.Transport, mode: 'legacy' | 'auto' | { readonly pin: string }): Connect =>
  async (url, tree, onChange) => {
    const tools = { debounceMs: 0, autoRefresh: false, onChanged: onChange };
    const options = { versionNegotiation: { mode }, listChanged: { tools } };
    const client = new v2.Client({ name: 'tour', version: '2' }, options);
    await client.connect(transportTo(url, tree));
    return { version: client.getNegotiatedProtocolVersion(), client };
  };

const [LEGACY, MODERN] = ['2025-11-25', '2026-07-28'];
const http = (url: URL) => new v2.StreamableHTTPClientTransport(url);
const stdio = (_url: URL, tree: Tree) => new StdioV2(pipes(tree));

interface Way {
  readonly connect: Connect;
  /** What it needs to be running. */
  readonly server?: 'http' | 'sse';
  readonly version: string;
  /** What becomes of a client whose server was started anew; absent: it is gone. */
  readonly restart?: 'goes on' | 'told 404';
}

const WAYS: Readonly<Record<string, Way>> = {
  'v1, stdio': { connect: v1((_url, tree) => new StdioV1(pipes(tree))), version: LEGACY },
  'v1, http': {
    connect: v1((url) => new HttpV1(url) as TransportV1),
    server: 'http',
    version: LEGACY,
    restart: 'told 404',
  },
  'v1, sse': { connect: v1((url) => new SseV1(url)), server: 'sse', version: LEGACY },
  'v1, sse on the http port': { connect: v1((url) => new SseV1(url)), server: 'http', version: LEGACY },
  'v2, stdio, legacy': { connect: modern(stdio, 'legacy'), version: LEGACY },
  'v2, stdio, auto': { connect: modern(stdio, 'auto'), version: MODERN },
  'v2, stdio, modern': { connect: modern(stdio, { pin: MODERN }), version: MODERN },
  'v2, http, legacy': { connect: modern(http, 'legacy'), server: 'http', version: LEGACY, restart: 'told 404' },
  'v2, http, auto': { connect: modern(http, 'auto'), server: 'http', version: MODERN, restart: 'goes on' },
  'v2, http, modern': { connect: modern(http, { pin: MODERN }), server: 'http', version: MODERN, restart: 'goes on' },
};

describe('official clients', { concurrency: 4 }, () => {
  for (const [name, { connect, server, version, restart }] of Object.entries(WAYS)) {
    test(`${name}: lists, calls, hears of a change, and comes back after a restart`, async (t) => {
      const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
      const first = server && (await startWeb(t, { tree, transport: server }));
      const url = new URL(first?.url ?? 'http://localhost');
      const guest = await tour(t, (onChange) => connect(url, tree, onChange), tree, 'one');
      assert.equal(guest.version, version);
      if (first && server) {
        first.program.child.kill('SIGTERM');
        await first.program.exit();
        await startWeb(t, { tree, transport: server, args: ['--port', url.port] });
      }
      if (restart === 'goes on') assert.match(await skill(guest, 'pdf'), /^Loading: pdf/);
      if (restart === 'told 404') await assert.rejects(skill(guest, 'pdf'), /404|session/i);
      await guest.client.close();
      await (await tour(t, (onChange) => connect(url, tree, onChange), tree, 'two')).client.close();
    });
  }
});

async function tour(t: TestContext, open: (onChange: () => void) => Promise<Guest>, tree: Tree, added: string) {
  let onChange = () => {};
  const changed = new Promise<void>((done) => {
    onChange = done;
  });
  const guest = await open(() => onChange());
  t.after(() => guest.client.close());
  assert.ok((await guest.client.listTools()).tools.some((tool) => tool.name === 'skill'));
  assert.match(await skill(guest, 'pdf'), /^Loading: pdf/);
  tree.write(`.claude/skills/${added}/SKILL.md`, skillText(added));
  await changed;
  assert.match(await skill(guest, added), new RegExp(`^Loading: ${added}`));
  return guest;
}

async function skill({ client }: Guest, name: string): Promise<string> {
  const result = await client.callTool({ name: 'skill', arguments: { name } });
  return 'content' in result && Array.isArray(result.content) ? String(result.content[0].text) : '';
}
