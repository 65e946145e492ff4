/**
 * Upstream servers made with the official SDKs, versions 1 and 2, over HTTP and SSE; on pipes they are in test/fixtures.
 * Both have the tools `echo`, `slow` (with progress) and `grow`, which adds the tool and the prompt `grown`, the prompt
 * `welcome` and the resource `memo://one`; version 2 has a resource template and a skill besides.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as v1 from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, fromJsonSchema, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';

const schemaOf = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } } }) as const;
const says = (value: unknown) => ({ content: [{ type: 'text' as const, text: String(value) }] });
const greeting = (who: unknown) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: `Greet ${who}` } }],
});
const MEMO = { contents: [{ uri: 'memo://one', text: 'a memo' }] };

export function makeV1(): Server {
  const capabilities = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: {} };
  const server = new Server({ name: 'v1', version: '1' }, { capabilities });
  const grown: string[] = [];
  server.setRequestHandler(v1.ListToolsRequestSchema, () => ({
    tools: ['echo', 'slow', 'grow', ...grown].map((name) => ({ name, inputSchema: schemaOf('text') })),
  }));
  server.setRequestHandler(v1.ListPromptsRequestSchema, () => ({
    prompts: [{ name: 'welcome', arguments: [{ name: 'who', required: true }] }, ...grown.map((name) => ({ name }))],
  }));
  server.setRequestHandler(v1.GetPromptRequestSchema, ({ params }) => greeting(params.arguments?.who));
  server.setRequestHandler(v1.ListResourcesRequestSchema, () => ({ resources: [{ uri: 'memo://one', name: 'memo' }] }));
  server.setRequestHandler(v1.ReadResourceRequestSchema, () => MEMO);
  server.setRequestHandler(v1.CallToolRequestSchema, async ({ params }, { sendNotification }) => {
    const progressToken = params._meta?.progressToken;
    if (params.name === 'slow' && progressToken !== undefined)
      await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
    if (params.name === 'slow') await new Promise((done) => setTimeout(done, 50));
    if (params.name !== 'grow') return says(params.arguments?.text);
    grown.push('grown');
    await server.sendToolListChanged();
    await server.sendPromptListChanged();
    return says('grown');
  });
  return server;
}

/** `onGrow.tell`: over HTTP each request has a server of its own, so announcements leave by the handler. */
export async function makeV2Factory() {
  const skills = await SkillsExtension.load(
    memorySkillFiles({ 'greet/SKILL.md': '---\nname: greet\ndescription: Says hello\n---\n# Greet\n' }),
  );
  const grown = new Set<string>();
  const onGrow = { tell: () => {} };
  const factory = ({ era }: { readonly era: string }) => {
    const server = new McpServer({ name: 'v2', version: '2' }, { capabilities: { tools: { listChanged: true } } });
    const inputSchema = fromJsonSchema<{ text?: string }>(schemaOf('text'));
    server.registerTool('echo', { inputSchema }, async ({ text }) => says(`${era} ${text}`));
    server.registerTool('slow', { inputSchema }, async ({ text }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
      return says(text);
    });
    const grow = (name: string) => {
      server.registerTool(name, {}, async () => says(name));
      server.registerPrompt(name, {}, async () => greeting('all'));
    };
    for (const name of grown) grow(name);
    server.registerTool('grow', {}, async () => {
      grown.add('grown');
      grow('grown');
      onGrow.tell();
      return says('grown');
    });
    const argsSchema = fromJsonSchema<{ who: string }>(schemaOf('who'));
    server.registerPrompt('welcome', { argsSchema }, async ({ who }) => greeting(who));
    server.registerResource('memo', 'memo://one', {}, async () => MEMO);
    const notes = new ResourceTemplate('note://{year}/{title}', { list: undefined });
    server.registerResource('note', notes, {}, async ({ href }, { year, title }) => ({
      contents: [{ uri: href, text: `${title} of ${year}` }],
    }));
    skills.attach(server);
    return server;
  };
  return { factory, onGrow };
}

/** Any handler as a server on a port of its own. */
async function startHandler(t: TestContext, handler: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${base}/mcp`, at: (path: string) => base + path };
}

/** With sessions on /mcp, and the older transport on /sse. */
export async function startV1Web(t: TestContext) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const streams = new Map<string, SSEServerTransport>();
  async function streamable(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const id = request.headers['mcp-session-id'];
    const known = sessions.get(String(id));
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
  return startHandler(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    if (pathname === '/mcp') return streamable(request, response);
    const stream = streams.get(searchParams.get('sessionId') ?? '');
    if (pathname === '/messages' && stream) return stream.handlePostMessage(request, response);
    if (pathname !== '/sse' || request.method !== 'GET') return response.writeHead(404).end('no such page');
    const transport = new SSEServerTransport('/messages', response);
    streams.set(transport.sessionId, transport);
    return makeV1().connect(transport);
  });
}

/** Of both eras. */
export async function startV2Web(t: TestContext) {
  const { factory, onGrow } = await makeV2Factory();
  const handler = createMcpHandler(factory);
  onGrow.tell = () => {
    handler.notify.toolsChanged();
    handler.notify.promptsChanged();
  };
  const serve = toNodeHandler(handler);
  return startHandler(t, (request, response) => serve(request as Parameters<typeof serve>[0], response));
}
