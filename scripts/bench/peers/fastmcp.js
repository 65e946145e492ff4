/** A skill server on FastMCP. Arguments: stdio|http DIR [PORT]. */
import { FastMCP } from 'fastmcp';
import { z } from 'zod';
import { describeSkills, readSkills } from './read-skills.js';

const [transport, directory, port] = process.argv.slice(2);
const skills = readSkills(directory);

const server = new FastMCP({ name: 'fastmcp', version: '1.0.0', ping: { enabled: false } });
server.addTool({
  name: 'skill',
  description: describeSkills(skills),
  parameters: z.object({ name: z.string() }),
  execute: async ({ name }) => skills.get(name).text,
});

if (transport === 'stdio') {
  await server.start({ transportType: 'stdio' });
} else {
  const httpStream = { port: Number(port), host: '127.0.0.1', enableJsonResponse: true };
  await server.start({ transportType: 'httpStream', httpStream });
  console.error(`http://127.0.0.1:${port}/mcp`);
}
