/** The same tool on the second SDK, stateless, through its own adapter to `node:http`. */
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { TEXT } from '../http.js';

const handler = createMcpHandler(() => {
  const mcp = new McpServer({ name: 'sdk-v2', version: '2' });
  mcp.registerTool('skill', { inputSchema: z.object({ name: z.string() }) }, async () => ({
    content: [{ type: 'text', text: TEXT }],
  }));
  return mcp;
});

const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}/mcp`));
