/** Answers of many megabytes over HTTP, by every way there is: what they cost, and where it ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { startHub } from '../harness/hub.ts';
import { startUpstreamWeb } from '../harness/sdk-servers.ts';

const MIB = 1024 * 1024;
const EMPTY = Buffer.alloc(0);
const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'big', version: '1' },
  },
  'tools/list': { tools: ['json', 'sse', 'echo'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
  ping: {},
};

interface Asked {
  readonly id: unknown;
  readonly method: string;
  readonly params: { readonly name: string; readonly arguments: { readonly mib: number } };
}

const textOf = (id: unknown, result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result });

/** Writes an answer with that many megabytes of text in it, as fast as it is read, until the other side hangs up. */
async function pour(response: ServerResponse, id: unknown, mib: number, end: string): Promise<number> {
  const [head = '', tail = ''] = textOf(id, { content: [{ type: 'text', text: '|' }] }).split('|');
  const piece = 'z'.repeat(MIB);
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  response.write(head);
  let sent = 0;
  while (sent < mib && !response.destroyed) {
    sent += 1;
    if (!response.write(piece)) await once(response, 'drain', { signal: closed.signal }).catch(() => {});
  }
  response.write(tail + end);
  return sent;
}

/** Streamable HTTP on /mcp and the older SSE on /sse; `json` and `sse` answer with `mib` megabytes in that form. */
async function startBigServer(t: TestContext) {
  const poured: Promise<number>[] = [];
  let stream: ServerResponse | undefined;

  function reply(response: ServerResponse, { id, method, params }: Asked): void {
    if (RESULTS[method] || params.name === 'echo') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(textOf(id, RESULTS[method] ?? { content: [{ type: 'text', text: 'fine' }] }));
      return;
    }
    const isStream = params.name === 'sse';
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    if (isStream) response.write('event: message\ndata: ');
    poured.push(pour(response, id, params.arguments.mib, isStream ? '\n\n' : '').finally(() => response.end()));
  }

  function replyOnStream(on: ServerResponse, { id, method, params }: Asked): void {
    on.write('data: ');
    if (method === 'tools/call' && params.name === 'sse') poured.push(pour(on, id, params.arguments.mib, '\n\n'));
    else on.write(`${textOf(id, RESULTS[method] ?? { content: [{ type: 'text', text: 'fine' }] })}\n\n`);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET' && request.url === '/sse') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write('event: endpoint\ndata: /messages\n\n');
      return;
    }
    const body = Buffer.concat([EMPTY, ...(await request.toArray())]).toString();
    const asked = body === '' ? undefined : JSON.parse(body);
    if (asked === undefined) response.writeHead(405).end();
    else if (request.url === '/messages') {
      response.writeHead(202).end();
      if (asked.id !== undefined && stream) replyOnStream(stream, asked);
    } else if (asked.method === 'server/discover') response.writeHead(400).end();
    else if (asked.id === undefined) response.writeHead(202).end();
    else reply(response, asked);
  }

  const web = await startUpstreamWeb(t, answer);
  const entries = { http: { type: 'http', url: web.url }, old: { type: 'sse', url: web.at('/sse') } };
  return { entries, poured };
}

test('a big answer by a stream of events takes about as long as the same answer as JSON', async (t) => {
  const { entries } = await startBigServer(t);
  const hub = await startHub(t, entries);
  await hub.waitForTools((names) => names.includes('http:sse') && names.includes('old:sse'), 'its tools');
  const mib = 24;
  async function timed(tool: string): Promise<number> {
    const began = performance.now();
    const { content } = await hub.call(tool, { mib });
    const took = performance.now() - began;
    assert.equal(content[0].text.length, mib * MIB);
    return took;
  }
  const asJson = await timed('http:json');
  // Looking at the whole event again with every chunk took some fifteen times as long.
  for (const tool of ['http:sse', 'old:sse']) {
    const took = await timed(tool);
    assert.ok(took < 4 * asJson + 1000, `${tool} took ${took} ms, as JSON it was ${asJson} ms`);
  }
});

for (const tool of ['http:json', 'http:sse', 'old:sse']) {
  test(`an answer to ${tool} that has no end is left at the limit, and the next call is answered`, async (t) => {
    const { entries, poured } = await startBigServer(t);
    const hub = await startHub(t, entries);
    await hub.waitForTools((names) => names.includes(tool), 'its tools');
    const { isError, content } = await hub.call(tool, { mib: 1_000_000 });
    assert.equal(isError, true);
    assert.match(content[0].text, /could not be called: a message over 33554432 bytes was dropped/);
    // It settles only because we hung up; the rest is what was on its way.
    const [sent = Number.NaN] = await Promise.all(poured);
    assert.ok(sent >= 32 && sent < 100, `${sent} MiB were sent`);
    assert.equal((await hub.call(tool.replace(/:.*/, ':echo'), {})).content[0].text, 'fine');
  });
}
