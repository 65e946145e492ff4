/** Bare node:http that parses what it is asked and answers a constant of BYTES, under the right id. */
import { createServer } from 'node:http';

const result = `{"x":"${'x'.repeat(process.argv[2] - '{"x":""}'.length)}"}`;

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { id } = JSON.parse(Buffer.concat(chunks).toString());
    const body = `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}/mcp`));
