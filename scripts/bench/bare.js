/**
 * What everything is measured against: bare Node with the same duties, and not one more. By its first argument:
 *   answer DIR METHOD=BYTES...  constants of these sizes
 *   scan DIR METHOD=BYTES...    the same, but its list is made of the skills in DIR, filled up to its size
 *   http DIR METHOD=BYTES...    constants by node:http, which parses each request
 *   hub FILE ARG...             passes messages to and from the server that the rest starts, each parsed, given another
 *                               id and written again; ids swapped in the text would be cheaper, but no hub may rely on
 *                               where in a message its id stands
 *   upstream TOOL               the server behind every hub, with a tool of this name that answers the text it is given
 */
const [mode, ...args] = process.argv.slice(2);
await { answer, scan, http, hub, upstream }[mode](...args);

function answer(_root, ...sizes) {
  serve(resultsOf(sizes));
}

async function scan(root, ...sizes) {
  const skills = await import('./skills.js');
  const held = skills.scan(root);
  // The texts of all skills are part of what it must hold.
  serve(resultsOf(sizes, JSON.stringify(skills.describe(held)).replace(/}$/, ',"x":""}')), held);
}

async function http(_root, ...sizes) {
  const { createServer } = await import('node:http');
  const results = resultsOf(sizes);
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
      const body = `{"jsonrpc":"2.0","id":${id},"result":${results.get(method)}}`;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}/mcp`));
}

async function hub(...command) {
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'ignore'] });
  const asked = new Map();
  let next = 1;
  // Everything that came in one piece goes on in one piece: a write costs more than the rest.
  const pass = (from, to, swap) =>
    eachPiece(from, (messages) => {
      for (const message of messages) if (message.id !== undefined) message.id = swap(message.id);
      to.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
    });
  pass(process.stdin, child.stdin, (id) => {
    asked.set(next, id);
    return next++;
  });
  process.stdin.on('end', () => child.stdin.end());
  pass(child.stdout, process.stdout, (id) => {
    const original = asked.get(id);
    asked.delete(id);
    return original;
  });
}

function upstream(name) {
  const tools = [{ name, inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }];
  const serverInfo = { name: 'upstream', version: '1' };
  const methods = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo }),
    ping: () => ({}),
    'tools/list': () => ({ tools }),
    'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text }] }),
  };
  eachPiece(process.stdin, (messages) => {
    for (const { id, method, params } of messages.filter((one) => one.id !== undefined)) {
      const error = { code: -32601, message: `unknown method "${method}"` };
      const outcome = methods[method] ? { result: methods[method](params ?? {}) } : { error };
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
    }
  });
}

/** Each answer is written when it is there: the least that a person would write. */
function serve(results, held) {
  eachPiece(process.stdin, (messages) => {
    for (const { id, method } of messages)
      if (id !== undefined) process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${results.get(method)}}\n`);
    return held;
  });
}

/** Hands over the messages of each chunk that came. */
function eachPiece(from, take) {
  let rest = '';
  from.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    take(lines.map((line) => JSON.parse(line)));
  });
}

/** By method: an object that is filled up with "x" to its size. */
function resultsOf(sizes, list) {
  const pairs = sizes.map((pair) => {
    const [method, bytes] = pair.split('=');
    const text = (method === 'tools/list' && list) || '{"x":""}';
    const missing = Math.max(0, bytes - Buffer.byteLength(text));
    return [method, text.replace(/"x":""}$/, `"x":"${'x'.repeat(missing)}"}`)];
  });
  return new Map(pairs);
}
