/** A skill server on the second SDK. Arguments: stdio|http DIR. */
import { createServer } from 'node:http';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { describeSkills, readSkills } from './read-skills.js';

const [transport, directory] = process.argv.slice(2);
const skills = readSkills(directory);
const description = describeSkills(skills);

function makeServer() {
  const server = new McpServer({ name: 'sdk-v2', version: '1' });
  server.registerTool('skill', { description, inputSchema: z.object({ name: z.string() }) }, async ({ name }) => ({
    content: [{ type: 'text', text: skills.get(name).text }],
  }));
  return server;
}

if (transport === 'stdio') {
  const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  await makeServer().connect(new StdioServerTransport());
} else {
  // Stateless, through the SDK's own adapter to node:http.
  const { toNodeHandler } = await import('@modelcontextprotocol/node');
  const server = createServer(toNodeHandler(createMcpHandler(makeServer)));
  server.listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}/mcp`));
}
