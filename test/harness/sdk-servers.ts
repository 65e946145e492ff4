/** Upstream servers made with the official SDKs, version 1 and 2, over HTTP and SSE, for the hub to connect to. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse, type Server as WebServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, fromJsonSchema, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';

const SCHEMA = { type: 'object', properties: { text: { type: 'string' } } } as const;
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: String(value) }] });
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** SDK v1: `echo`, `slow` with progress, and `grow`, which adds the tool `grown`. */
export function makeV1(): Server {
  const server = new Server({ name: 'v1', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  const names = ['echo', 'slow', 'grow'];
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: names.map((name) => ({ name, inputSchema: SCHEMA })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, signal }) => {
    const progressToken = params._meta?.progressToken;
    if (params.name === 'slow') {
      if (progressToken !== undefined)
        await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
      await wait(100);
      return text(signal.aborted ? 'aborted' : 'done');
    }
    if (params.name === 'grow') {
      names.push('grown');
      await server.sendToolListChanged();
    }
    return text(params.arguments?.text);
  });
  return server;
}

/** SDK v2, both eras, with one skill and one resource template. */
export async function makeV2Factory() {
  const skills = await SkillsExtension.load(
    memorySkillFiles({
      'greet/SKILL.md': '---\nname: greet\ndescription: Says hello\n---\n# Greet\nSee references/a.md\n',
      'greet/references/a.md': 'hello\n',
    }),
  );
  const grown = new Set<string>();
  const onGrow = { tell: () => {} };
  const factory = ({ era }: { readonly era: string }) => {
    const server = new McpServer({ name: 'v2', version: '2' }, { capabilities: { tools: { listChanged: true } } });
    server.registerTool('echo', { inputSchema: fromJsonSchema<{ text?: string }>(SCHEMA) }, async (args) =>
      text(`${era} ${args.text}`),
    );
    for (const name of grown) server.registerTool(name, {}, async () => text('grown'));
    server.registerTool('grow', {}, async () => {
      grown.add('grown');
      server.registerTool('grown', {}, async () => text('grown'));
      onGrow.tell();
      return text('ok');
    });
    const notes = new ResourceTemplate('note://{year}/{title}', { list: undefined });
    server.registerResource('note', notes, {}, async ({ href }, { year, title }) => ({
      contents: [{ uri: href, text: `${title} of ${year}` }],
    }));
    skills.attach(server);
    return server;
  };
  return { factory, onGrow };
}

export interface WebUpstream {
  readonly url: string;
  /** Headers of every request so far. */
  readonly seen: readonly IncomingMessage['headers'][];
  at(path: string): string;
}

/** Any handler as a server on a port of its own. */
export async function startUpstreamWeb(
  t: TestContext,
  handler: (request: IncomingMessage, response: ServerResponse) => unknown,
  port = 0,
): Promise<WebUpstream & { readonly server: WebServer; stop(): Promise<void> }> {
  const seen: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    void handler(request, response);
  });
  await new Promise<void>((done) => void server.listen(port, '127.0.0.1', done));
  const stop = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  t.after(stop);
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, stop, seen, url: `${base}/mcp`, at: (path) => base + path };
}

/** SDK v1 with sessions on /mcp and the older SSE on /sse. */
export async function startV1Web(t: TestContext) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const streams = new Map<string, SSEServerTransport>();
  const web = await startUpstreamWeb(t, async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    if (pathname === '/mcp') return streamable(request, response);
    if (pathname === '/messages') {
      const stream = streams.get(searchParams.get('sessionId') ?? '');
      return stream ? stream.handlePostMessage(request, response) : response.writeHead(404).end();
    }
    if (pathname !== '/sse' || request.method !== 'GET') return response.writeHead(404).end('no such page');
    const transport = new SSEServerTransport('/messages', response);
    streams.set(transport.sessionId, transport);
    return makeV1().connect(transport);
  });

  async function streamable(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (known) return known.handleRequest(request, response);
    if (id !== undefined) return response.writeHead(404).end();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    await makeV1().connect(transport as Parameters<Server['connect']>[0]);
    return transport.handleRequest(request, response);
  }

  return { ...web, sessions };
}

export async function startV2Web(t: TestContext) {
  const { factory, onGrow } = await makeV2Factory();
  const handler = createMcpHandler(factory);
  onGrow.tell = () => handler.notify.toolsChanged();
  const serve = toNodeHandler(handler);
  type Request = Parameters<typeof serve>[0];
  return startUpstreamWeb(t, (request, response) => serve(request as Request, response));
}
