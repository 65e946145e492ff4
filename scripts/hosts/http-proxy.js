/** What proxy.js is for stdio, for MCP over HTTP: passes everything on and writes the messages to the same kind of log. */
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { request as ask, createServer } from 'node:http';

export async function startHttpProxy(port, target, log) {
  const server = createServer((request, response) => {
    const options = { host: '127.0.0.1', port: target, path: request.url, method: request.method };
    const onward = ask({ ...options, headers: { ...request.headers, host: `127.0.0.1:${target}` } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      record(answer, 'server', log);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    record(request, 'client', log);
    request.pipe(onward);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Writes each JSON text of a body, or each `data:` line of an event stream, as it becomes complete. */
function record(stream, from, log) {
  const events = stream.headers['content-type']?.includes('event-stream');
  let text = '';
  const write = (json) => {
    if (json.trim() !== '') appendFileSync(log, `${JSON.stringify({ from, message: parse(json) })}\n`);
  };
  stream.on('data', (chunk) => {
    text += chunk;
    if (!events) return;
    const lines = text.split('\n');
    text = lines.pop();
    for (const line of lines) if (line.startsWith('data:')) write(line.slice(5));
  });
  stream.on('end', () => write(events ? '' : text));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { unreadable: text };
  }
}
