/** A hub on the second SDK: its arguments start the upstream server; lists and calls are passed on. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const upstream = new Client({ name: 'hub', version: '1' });
await upstream.connect(
  new StdioClientTransport({ command: process.execPath, args: process.argv.slice(2), stderr: 'ignore' }),
);
const server = new Server({ name: 'hub', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler('tools/list', () => upstream.listTools());
server.setRequestHandler('tools/call', ({ params }) => upstream.callTool(params));
process.stdin.on('end', () => upstream.close());
await server.connect(new StdioServerTransport());
