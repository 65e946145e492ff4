/**
 * Servers on the two SDKs, by their plain `Server`, which does least: `v1|v2 stdio DIR`, `… http DIR`, `… hub FILE ARG...`.
 * Only what a mode needs is imported, as an author who cares for the start would do.
 */
import { describe, scan } from './skills.js';

const [version, mode, ...args] = process.argv.slice(2);
const { Server } = await load('server/index');
const types = version === 'v1' ? await load('types') : undefined;
await { stdio, http, hub }[mode](...args);

/** The second SDK is several packages, without file names. */
function load(path) {
  return import(`@modelcontextprotocol/${version === 'v1' ? `sdk/${path}.js` : path.replace('/index', '')}`);
}

function makeServer(list, call) {
  const server = new Server({ name: `sdk-${version}`, version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(types?.ListToolsRequestSchema ?? 'tools/list', () => list());
  server.setRequestHandler(types?.CallToolRequestSchema ?? 'tools/call', ({ params }) => call(params));
  return server;
}

function skillServer(directory) {
  const skills = scan(directory);
  const list = describe(skills);
  const call = (params) => ({ content: [{ type: 'text', text: skills.get(params.arguments.name).bytes.toString() }] });
  return () => makeServer(() => list, call);
}

async function serve(server) {
  const { StdioServerTransport } = await load('server/stdio');
  await server.connect(new StdioServerTransport());
}

async function stdio(directory) {
  await serve(skillServer(directory)());
}

/** v1: one session, straight on node:http, answering in JSON, its fastest way. v2: stateless, through its own adapter. */
async function http(directory) {
  const { createServer } = await import('node:http');
  let handle;
  if (version === 'v1') {
    const { StreamableHTTPServerTransport } = await load('server/streamableHttp');
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 'one', enableJsonResponse: true });
    await skillServer(directory)().connect(transport);
    handle = (request, response) => transport.handleRequest(request, response);
  } else {
    const [{ createMcpHandler }, { toNodeHandler }] = [await load('server/index'), await load('node')];
    handle = toNodeHandler(createMcpHandler(skillServer(directory)));
  }
  const server = createServer(handle);
  server.listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}/mcp`));
}

async function hub(...command) {
  const [{ Client }, { StdioClientTransport }] = [await load('client/index'), await load('client/stdio')];
  const upstream = new Client({ name: 'hub', version: '1' });
  await upstream.connect(new StdioClientTransport({ command: process.execPath, args: command, stderr: 'ignore' }));
  process.stdin.on('end', () => upstream.close());
  const call = (params) => upstream.callTool(params);
  await serve(makeServer(() => upstream.listTools(), call));
}
