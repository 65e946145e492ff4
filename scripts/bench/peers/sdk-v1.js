/** A skill server on the first SDK. Arguments: stdio|http DIR. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { describeSkills, readSkills } from './read-skills.js';

const [transport, directory] = process.argv.slice(2);
const skills = readSkills(directory);
const description = describeSkills(skills);

function makeServer() {
  const server = new McpServer({ name: 'sdk-v1', version: '1' });
  server.registerTool('skill', { description, inputSchema: { name: z.string() } }, async ({ name }) => ({
    content: [{ type: 'text', text: skills.get(name).text }],
  }));
  return server;
}

if (transport === 'stdio') {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  await makeServer().connect(new StdioServerTransport());
} else {
  // With sessions, straight on node:http and answering in JSON: its fastest way.
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const sessions = new Map();
  const open = async () => {
    const session = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => void sessions.set(id, session),
    });
    await makeServer().connect(session);
    return session;
  };
  const server = createServer(async (request, response) => {
    const session = sessions.get(request.headers['mcp-session-id']) ?? (await open());
    await session.handleRequest(request, response);
  });
  server.listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}/mcp`));
}
