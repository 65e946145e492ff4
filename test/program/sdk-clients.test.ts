/** The official clients, of both generations, over every transport they have: what they do with a server, they do with ours. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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

/** What both generations have. */
interface Guest {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<object>;
  close(): Promise<void>;
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
    await client.connect(transportTo(url, tree));
    return client;
  };

const [LEGACY, MODERN] = ['2025-11-25', '2026-07-28'];

/** `version`: that it must agree on. */
const modern =
  (transportTo: (url: URL, tree: Tree) => v2.Transport, mode: 'legacy' | 'auto' | 'pin', version: string): Connect =>
  async (url, tree, onChange) => {
    const tools = { debounceMs: 0, autoRefresh: false, onChanged: onChange };
    const versionNegotiation = { mode: mode === 'pin' ? { pin: version } : mode };
    const client = new v2.Client({ name: 'tour', version: '2' }, { versionNegotiation, listChanged: { tools } });
    await client.connect(transportTo(url, tree));
    assert.equal(client.getNegotiatedProtocolVersion(), version);
    return client;
  };

const http = (url: URL) => new v2.StreamableHTTPClientTransport(url);
const stdio = (_url: URL, tree: Tree) => new StdioV2(pipes(tree));

/** How it connects, and what must be running for it. */
const WAYS: Readonly<Record<string, readonly [connect: Connect, server?: 'http' | 'sse']>> = {
  'v1, stdio': [v1((_url, tree) => new StdioV1(pipes(tree)))],
  'v1, http': [v1((url) => new HttpV1(url) as TransportV1), 'http'],
  'v1, sse': [v1((url) => new SseV1(url)), 'sse'],
  'v1, sse on the http port': [v1((url) => new SseV1(url)), 'http'],
  'v2, stdio, legacy': [modern(stdio, 'legacy', LEGACY)],
  'v2, stdio, auto': [modern(stdio, 'auto', MODERN)],
  'v2, stdio, modern': [modern(stdio, 'pin', MODERN)],
  'v2, http, legacy': [modern(http, 'legacy', LEGACY), 'http'],
  'v2, http, auto': [modern(http, 'auto', MODERN), 'http'],
  'v2, http, modern': [modern(http, 'pin', MODERN), 'http'],
};

describe('official clients', { concurrency: 4 }, () => {
  for (const [name, [connect, server]] of Object.entries(WAYS))
    test(`${name}: lists, calls, and hears of a change`, async (t) => {
      const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
      const url = server === undefined ? 'http://localhost' : (await startWeb(t, { tree, transport: server })).url;
      let onChange = () => {};
      const changed = new Promise<void>((done) => {
        onChange = done;
      });
      const guest = await connect(new URL(url), tree, () => onChange());
      t.after(() => guest.close());
      assert.ok((await guest.listTools()).tools.some((tool) => tool.name === 'skill'));
      const load = (name: string) => guest.callTool({ name: 'skill', arguments: { name } });
      assert.match(JSON.stringify(await load('pdf')), /"Loading: pdf\\n/);
      tree.write('.claude/skills/new/SKILL.md', skillText('new'));
      await changed;
      assert.match(JSON.stringify(await load('new')), /"Loading: new\\n/);
    });
});
