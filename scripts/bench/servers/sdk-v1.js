/** The same tool on the first SDK, with sessions, straight on `node:http` and answering in JSON: its fastest way. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { TEXT } from '../http.js';

const transports = new Map();

async function open() {
  const mcp = new McpServer({ name: 'sdk-v1', version: '1' });
  mcp.registerTool('skill', { inputSchema: { name: z.string() } }, async () => ({
    content: [{ type: 'text', text: TEXT }],
  }));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void transports.set(id, transport),
  });
  await mcp.connect(transport);
  return transport;
}

const server = createServer(async (request, response) => {
  const transport = transports.get(request.headers['mcp-session-id']) ?? (await open());
  await transport.handleRequest(request, response);
});
server.listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}/mcp`));
