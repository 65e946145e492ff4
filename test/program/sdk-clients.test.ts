/** The official clients, of both generations, over every transport they have: what they do with a server, they do with ours. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { PROGRAM } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';
import { startWeb } from '../harness/web.ts';

/** What a tour needs of a client, whichever it is. */
interface Guest {
  readonly version: string;
  tools(): Promise<readonly string[]>;
  /** The text of the `skill` tool's answer. */
  skill(name: string): Promise<string>;
  /** The next announcement that the tools have changed. */
  changed(): Promise<void>;
  close(): Promise<void>;
}

type Visit = (t: TestContext, url: URL, tree: Tree) => Promise<Guest>;

interface Way {
  readonly name: string;
  readonly visit: Visit;
  readonly server: 'none' | 'http' | 'sse';
  readonly version: string;
  /** What becomes of a client whose server was started anew. */
  readonly restart: 'goes on' | 'told 404' | 'gone';
}

const pipes = (tree: Tree) => ({
  command: process.execPath,
  args: [PROGRAM, '--quiet'],
  cwd: tree.path,
  env: { PATH: process.env.PATH ?? '', HOME: tree.at('home') },
});

const [LEGACY, MODERN] = ['2025-11-25', '2026-07-28'];
const pin = { pin: MODERN };
const http = (url: URL) => new v2.StreamableHTTPClientTransport(url);
const stdio = (_url: URL, tree: Tree) => new StdioV2(pipes(tree));

const WAYS: readonly Way[] = [
  {
    name: 'v1, stdio',
    visit: visitV1((_url, tree) => new StdioV1(pipes(tree))),
    server: 'none',
    version: LEGACY,
    restart: 'gone',
  },
  {
    name: 'v1, http',
    visit: visitV1((url) => new HttpV1(url) as TransportV1),
    server: 'http',
    version: LEGACY,
    restart: 'told 404',
  },
  { name: 'v1, sse', visit: visitV1((url) => new SseV1(url)), server: 'sse', version: LEGACY, restart: 'gone' },
  {
    name: 'v1, sse on the http port',
    visit: visitV1((url) => new SseV1(url)),
    server: 'http',
    version: LEGACY,
    restart: 'gone',
  },
  { name: 'v2, stdio, legacy', visit: visitV2(stdio, 'legacy'), server: 'none', version: LEGACY, restart: 'gone' },
  { name: 'v2, stdio, auto', visit: visitV2(stdio, 'auto'), server: 'none', version: MODERN, restart: 'gone' },
  { name: 'v2, stdio, modern', visit: visitV2(stdio, pin), server: 'none', version: MODERN, restart: 'gone' },
  { name: 'v2, http, legacy', visit: visitV2(http, 'legacy'), server: 'http', version: LEGACY, restart: 'told 404' },
  { name: 'v2, http, auto', visit: visitV2(http, 'auto'), server: 'http', version: MODERN, restart: 'goes on' },
  { name: 'v2, http, modern', visit: visitV2(http, pin), server: 'http', version: MODERN, restart: 'goes on' },
];

for (const { name, visit, server, version, restart } of WAYS) {
  test(`${name}: lists, calls, hears of a change, and comes back after a restart`, async (t) => {
    const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
    const first = server === 'none' ? undefined : await startWeb(t, { tree, transport: server });
    const url = new URL(first?.url ?? 'http://localhost');

    const guest = await visit(t, url, tree);
    assert.equal(guest.version, version);
    await tour(guest, tree, 'one');
    if (first && server !== 'none') {
      first.program.child.kill('SIGTERM');
      await first.program.exit();
      await startWeb(t, { tree, transport: server, args: ['--port', url.port] });
    }
    if (restart === 'goes on') assert.match(await guest.skill('pdf'), /^Loading: pdf/);
    if (restart === 'told 404') await assert.rejects(guest.skill('pdf'), /404|session/i);
    await guest.close();
    const again = await visit(t, url, tree);
    await tour(again, tree, 'two');
    await again.close();
  });
}

// --- internal ---

async function tour(guest: Guest, tree: Tree, added: string): Promise<void> {
  assert.ok((await guest.tools()).includes('skill'));
  assert.match(await guest.skill('pdf'), /^Loading: pdf/);
  const changed = guest.changed();
  tree.write(`.claude/skills/${added}/SKILL.md`, skillText(added));
  await changed;
  assert.match(await guest.skill(added), new RegExp(`^Loading: ${added}`));
}

function visitV1(transportTo: (url: URL, tree: Tree) => TransportV1): Visit {
  return async (t, url, tree) => {
    const client = new ClientV1({ name: 'tour', version: '1' });
    const bell = createBell();
    client.setNotificationHandler(ToolListChangedNotificationSchema, bell.ring);
    const transport = transportTo(url, tree);
    let version = '';
    // The only place where every transport is told.
    transport.setProtocolVersion = chain(transport.setProtocolVersion?.bind(transport), (one) => {
      version = one;
    });
    await client.connect(transport);
    t.after(() => client.close());
    return {
      version,
      tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
      skill: async (name) => textOf(await client.callTool({ name: 'skill', arguments: { name } })),
      changed: bell.next,
      close: () => client.close(),
    };
  };
}

function visitV2(
  transportTo: (url: URL, tree: Tree) => v2.Transport,
  mode: 'legacy' | 'auto' | { readonly pin: string },
): Visit {
  return async (t, url, tree) => {
    const bell = createBell();
    const client = new v2.Client(
      { name: 'tour', version: '2' },
      {
        versionNegotiation: { mode },
        listChanged: { tools: { debounceMs: 0, autoRefresh: false, onChanged: bell.ring } },
      },
    );
    await client.connect(transportTo(url, tree));
    t.after(() => client.close());
    return {
      version: client.getNegotiatedProtocolVersion() ?? '',
      tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
      skill: async (name) => textOf(await client.callTool({ name: 'skill', arguments: { name } })),
      changed: bell.next,
      close: () => client.close(),
    };
  };
}

function createBell() {
  let waiting: (() => void)[] = [];
  return {
    ring() {
      for (const wake of waiting) wake();
      waiting = [];
    },
    next: () => new Promise<void>((done) => void waiting.push(done)),
  };
}

function chain<T>(first: ((value: T) => void) | undefined, second: (value: T) => void): (value: T) => void {
  return (value) => {
    first?.(value);
    second(value);
  };
}

function textOf(result: object): string {
  const [first] = 'content' in result && Array.isArray(result.content) ? result.content : [];
  return String(first?.text);
}
