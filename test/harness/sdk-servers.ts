/**
 * Upstream servers made with the official SDKs. Of version 1 the published server-everything, by each of its transports; of
 * version 2 one with the tools `echo`, `slow` (with progress) and `grow`, which adds the tool and the prompt `grown`, the
 * prompt `welcome`, the resource `memo://one`, a resource template and a skill. On pipes it is in test/fixtures.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import type { TestContext } from 'node:test';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { eventually, listen } from './connections.ts';

const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

/** On pipes, as an entry. */
export const everything = { command: process.execPath, args: [EVERYTHING] };

/** On a port of its own, which this makes it print: it cannot be told to. */
export async function startEverything(t: TestContext, transport: 'sse' | 'streamableHttp'): Promise<string> {
  const tell = `import { Server } from 'node:net';
    const { listen } = Server.prototype;
    Server.prototype.listen = function (...all) {
      return listen.apply(this, all).once('listening', () => console.error('port=' + this.address().port));
    };`;
  const args = [`--import=data:text/javascript,${encodeURIComponent(tell)}`, EVERYTHING, transport];
  const child = spawn(process.execPath, args, { env: { PORT: '0' }, stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  await eventually(() => /port=\d+\n/.test(said), 'its port', 30_000);
  return `http://127.0.0.1:${/port=(\d+)/.exec(said)?.[1]}/${transport === 'sse' ? 'sse' : 'mcp'}`;
}

const schemaOf = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } } }) as const;
const says = (value: unknown) => ({ content: [{ type: 'text' as const, text: String(value) }] });
const greeting = (who: unknown) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: `Greet ${who}` } }],
});

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
    server.registerResource('memo', 'memo://one', {}, async () => ({
      contents: [{ uri: 'memo://one', text: 'a memo' }],
    }));
    const notes = new ResourceTemplate('note://{year}/{title}', { list: undefined });
    server.registerResource('note', notes, {}, async ({ href }, { year, title }) => ({
      contents: [{ uri: href, text: `${title} of ${year}` }],
    }));
    skills.attach(server);
    return server;
  };
  return { factory, onGrow };
}

/** Of both eras, on a port of its own. */
export async function startV2Web(t: TestContext): Promise<URL> {
  const { factory, onGrow } = await makeV2Factory();
  const handler = createMcpHandler(factory);
  onGrow.tell = () => {
    handler.notify.toolsChanged();
    handler.notify.promptsChanged();
  };
  const serve = toNodeHandler(handler);
  return listen(t, (request, response) => void serve(request as Parameters<typeof serve>[0], response));
}
