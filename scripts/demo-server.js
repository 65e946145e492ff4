/** The upstream server of the demo: bare Node, with one tool that counts the words of a text. */
import { createInterface } from 'node:readline';

const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const tools = [{ name: 'count', description: 'Count the words of a text.', inputSchema }];
const serverInfo = { name: 'words', version: '1.0.0' };
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: { text } }) => ({
    content: [{ type: 'text', text: `${text.trim().split(/\s+/).length} words` }],
  }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = Object.hasOwn(methods, method)
    ? { result: methods[method](params ?? {}) }
    : { error: { code: -32601, message: `unknown method "${method}"` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
