/** A server as most are: the first SDK, on stdin and stdout. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const mcp = new McpServer({ name: 'sdk-v1', version: '1' });
mcp.registerTool('tool-0', { inputSchema: { text: z.string() } }, async ({ text }) => ({
  content: [{ type: 'text', text }],
}));
await mcp.connect(new StdioServerTransport());
