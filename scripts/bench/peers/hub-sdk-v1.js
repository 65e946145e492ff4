/** A hub on the first SDK: its arguments start the upstream server; lists and calls are passed on. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const upstream = new Client({ name: 'hub', version: '1' });
await upstream.connect(
  new StdioClientTransport({ command: process.execPath, args: process.argv.slice(2), stderr: 'ignore' }),
);
const server = new Server({ name: 'hub', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => upstream.listTools());
server.setRequestHandler(CallToolRequestSchema, ({ params }) => upstream.callTool(params));
server.onclose = () => upstream.close();
process.stdin.on('end', () => upstream.close());
await server.connect(new StdioServerTransport());
