/** The server behind every hub: bare Node with a few tools; `tool-0` answers the text that it is given. */
const about = 'Works on things. Use when the task speaks of them. '.repeat(4);
const inputSchema = { type: 'object', properties: { text: { type: 'string', description: about } } };
const tools = Array.from({ length: 10 }, (_, at) => ({ name: `tool-${at}`, description: about, inputSchema }));
const serverInfo = { name: 'upstream', version: '1' };
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text }] }),
};

let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const answer = methods[method]
      ? { result: methods[method](params ?? {}) }
      : { error: { code: -32601, message: `unknown method "${method}"` } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
  }
});
