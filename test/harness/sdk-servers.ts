/** Upstream servers made with the official SDKs, version 1 and 2, over HTTP and SSE, for the hub to connect to. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse, type Server as WebServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  completable,
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';

const SCHEMA = { type: 'object', properties: { text: { type: 'string' } } } as const;
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: String(value) }] });
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** What both offer: a prompt with an argument, its values, and a resource that can be subscribed to. */
const WHO = { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] } as const;
const people = (start: string) => ['anna', 'bob'].filter((name) => name.startsWith(start));
const greeting = (who: unknown) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: `Greet ${who}` } }],
});
const MEMO = 'memo://one';

/**
 * SDK v1: `echo`, `slow` with progress, `grow`, which adds the tool `grown`, and, with a text, a prompt of that name; `log`
 * and `touch`, which send a log message and an update; `log-later`, which logs outside of its call.
 */
export function makeV1(): Server {
  const capabilities = {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true },
    completions: {},
    logging: {},
  };
  const server = new Server({ name: 'v1', version: '1' }, { capabilities });
  const names = ['echo', 'slow', 'grow', 'log', 'log-later', 'touch'];
  const subscribed = new Set<string>();
  addPromptsV1(server, names);
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: MEMO, name: 'memo' }] }));
  server.setRequestHandler(ReadResourceRequestSchema, () => ({ contents: [{ uri: MEMO, text: 'a memo' }] }));
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
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
      if (params.arguments?.text) await server.sendPromptListChanged();
    }
    const message = { level: 'info' as const, logger: 'v1', data: { said: params.arguments?.text } };
    if (params.name === 'log') await sendNotification({ method: 'notifications/message', params: message });
    if (params.name === 'log-later') setTimeout(() => void server.sendLoggingMessage(message), 20);
    if (params.name === 'touch') {
      if (subscribed.has(MEMO)) await server.sendResourceUpdated({ uri: MEMO });
      return text([...subscribed]);
    }
    return text(params.arguments?.text);
  });
  return server;
}

/** The prompt `welcome`, and a second one once there is a fitting tool. */
function addPromptsV1(server: Server, tools: readonly string[]): void {
  const welcome = { name: 'welcome', arguments: [{ name: 'who', required: true }] };
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: tools.includes('grown') ? [welcome, { name: 'grown' }] : [welcome],
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => greeting(params.arguments?.who));
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => ({
    completion: { values: people(params.argument.value) },
  }));
}

/** SDK v2, both eras, with one skill and one resource template, and what the other has except `log-later`. */
export async function makeV2Factory() {
  const skills = await SkillsExtension.load(
    memorySkillFiles({
      'greet/SKILL.md': '---\nname: greet\ndescription: Says hello\n---\n# Greet\nSee references/a.md\n',
      'greet/references/a.md': 'hello\n',
    }),
  );
  const grown = new Set<string>();
  const onGrow = { tell: () => {} };
  /** Over HTTP each request has a server of its own, so updates leave by the handler. */
  const onTouch: { tell?: (uri: string) => void } = {};
  const factory = ({ era }: { readonly era: string }) => {
    const capabilities = { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} };
    const server = new McpServer({ name: 'v2', version: '2' }, { capabilities });
    server.registerTool('log', { inputSchema: fromJsonSchema<{ text?: string }>(SCHEMA) }, async (args, ctx) => {
      await ctx.mcpReq.log('info', { said: args.text }, 'v2');
      return text(args.text);
    });
    server.registerTool('touch', {}, async () => {
      if (onTouch.tell) onTouch.tell(MEMO);
      else await server.server.sendResourceUpdated({ uri: MEMO });
      return text('touched');
    });
    server.registerResource('memo', MEMO, {}, async () => ({ contents: [{ uri: MEMO, text: 'a memo' }] }));
    // The SDK finds completers in the shape of a schema.
    const shape = { who: completable(fromJsonSchema<string>({ type: 'string' }), people) };
    const argsSchema = Object.assign(fromJsonSchema<{ who: string }>(WHO), { shape });
    server.registerPrompt('welcome', { argsSchema }, async ({ who }) => greeting(who));
    if (grown.size > 0) server.registerPrompt('grown', {}, async () => greeting('all'));
    server.registerTool('echo', { inputSchema: fromJsonSchema<{ text?: string }>(SCHEMA) }, async (args) =>
      text(`${era} ${args.text}`),
    );
    for (const name of grown) server.registerTool(name, {}, async () => text('grown'));
    server.registerTool('grow', {}, async () => {
      grown.add('grown');
      server.registerTool('grown', {}, async () => text('grown'));
      server.registerPrompt('grown', {}, async () => greeting('all'));
      onGrow.tell();
      return text('ok');
    });
    const complete = { year: (start: string) => ['2025', '2026'].filter((year) => year.startsWith(start)) };
    const notes = new ResourceTemplate('note://{year}/{title}', { list: undefined, complete });
    server.registerResource('note', notes, {}, async ({ href }, { year, title }) => ({
      contents: [{ uri: href, text: `${title} of ${year}` }],
    }));
    skills.attach(server);
    return server;
  };
  return { factory, onGrow, onTouch };
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
  const { factory, onGrow, onTouch } = await makeV2Factory();
  const handler = createMcpHandler(factory);
  onGrow.tell = () => {
    handler.notify.toolsChanged();
    handler.notify.promptsChanged();
  };
  onTouch.tell = (uri) => handler.notify.resourceUpdated(uri);
  const serve = toNodeHandler(handler);
  type Request = Parameters<typeof serve>[0];
  return startUpstreamWeb(t, (request, response) => serve(request as Request, response));
}
