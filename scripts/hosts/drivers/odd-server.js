/**
 * An MCP server on stdio whose tools have the names that hosts disagree about, one description of 29,000 characters,
 * and 200 tools that only add to the number. It is put behind the hub for `--wide`: what becomes of each of them is then
 * visible at the model.
 */
import { createInterface } from 'node:readline';

const NAMES = [
  'plain',
  'with.dot',
  'with/slash',
  'with-dash',
  'UPPER',
  'x'.repeat(50),
  'y'.repeat(60),
  'z'.repeat(120),
];
const schema = { type: 'object', properties: {} };

const tools = NAMES.map((name) => ({ name, description: `The tool named ${name} does nothing.`, inputSchema: schema }));
const lines = Array.from({ length: 1000 }, (_, i) => `${String(i * 30).padStart(6)}: line of a long text.\n`);
tools.push({ name: 'long', description: `The long one. ${lines.join('')}`, inputSchema: schema });

for (let i = 1; i <= 200; i++) {
  const name = `extra_${String(i).padStart(3, '0')}`;
  tools.push({ name, description: `One of many tools, here number ${i}.`, inputSchema: schema });
}

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'odd', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'nothing' }] }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = ANSWERS[method];
  const error = { code: -32601, message: `unknown method ${method}` };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(answer ? { result: answer(params) } : { error }) }));
}
