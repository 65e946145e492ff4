import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { MAX_LINE } from '../../../src/protocol/index.ts';
import { acceptedBy, readBody, targetOf } from '../../../src/transports/http/request.ts';
import { type Ask, ask, hello, legacy, modern, startHttp } from '../../harness/http.ts';

const requestWith = (members: Partial<IncomingMessage>) => Object.assign(new IncomingMessage(new Socket()), members);

test('the accepted forms are read from the Accept header', () => {
  const rows: readonly (readonly [accept: string | undefined, json: boolean, events: boolean])[] = [
    [undefined, true, true],
    ['application/json, text/event-stream', true, true],
    ['TEXT/Event-Stream ; q=0.5', false, true],
    ['text/html, */*;q=0.1', true, true],
    ['', false, false],
    ['application/jsonp, text/event-streams', false, false],
  ];
  for (const [accept, json, events] of rows)
    assert.deepEqual(acceptedBy(requestWith({ headers: accept === undefined ? {} : { accept } })), { json, events });
});

test('path and query are split at the first question mark, also of a whole URL', () => {
  assert.deepEqual(targetOf(requestWith({ url: '/messages?sessionId=1?2' })), ['/messages', 'sessionId=1?2']);
  assert.deepEqual(targetOf(requestWith({ url: 'http://localhost:3333/mcp' })), ['/mcp', '']);
});

test('a body that breaks off is refused', async () => {
  const request = requestWith({ headers: { 'content-type': 'application/json' } });
  const body = readBody(request);
  request.push('{"half');
  request.destroy();
  await assert.rejects(body, { status: 400 });
});

const listen = modern('subscriptions/listen');
const chunked = { 'transfer-encoding': 'chunked' };
const blank = Buffer.alloc(MAX_LINE + 1, ' ');
const longest = Buffer.concat([blank, Buffer.from(JSON.stringify(hello.body))]).subarray(-MAX_LINE);
const ROWS: readonly (readonly [what: string, status: number, Ask, path?: string])[] = [
  ['JSON of any case and parameter', 200, { ...hello, headers: { 'content-type': 'Application/JSON; charset=UTF-8' } }],
  ['an empty body', 400, { raw: '', verb: 'POST' }],
  ['a batch without a session', 400, { raw: '[{"jsonrpc":"2.0","id":1,"method":"echo"}]' }],
  ['a body over the limit', 413, { raw: blank }],
  ['one that did not announce its length', 413, { raw: blank, headers: chunked }],
  ['the longest body', 200, { raw: longest }],
  ['another type', 415, { ...hello, headers: { 'content-type': 'application/jsonp' } }],
  ['neither form is accepted', 406, { ...hello, headers: { accept: 'text/html' } }],
  ['no stream, but the method streams', 406, { ...listen, headers: { ...listen.headers, accept: 'application/json' } }],
  ['no stream for a GET', 406, { headers: { accept: 'application/json' } }],
  ['no session', 400, legacy('echo')],
  ['another verb', 405, { ...hello, verb: 'PUT' }],
  ['a preflight from nowhere', 405, { verb: 'OPTIONS' }],
  ['another path', 404, hello, '/mcp/'],
];

test('what is no message over HTTP is refused with a status and a reason, and the next one is read', async (t) => {
  const { at } = await startHttp(t);
  for (const [what, expected, options, path = '/mcp'] of ROWS) {
    const { status, json, headers } = await ask(at(path), options);
    assert.deepEqual([status, typeof json.error?.message], [expected, expected === 200 ? 'undefined' : 'string'], what);
    assert.equal(headers.allow, expected === 405 ? 'GET, POST, DELETE' : undefined, what);
  }
});
