import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SHUTDOWN } from '../../../src/shutdown.ts';
import {
  LIMITS,
  MAX_BODIES,
  MAX_BODY,
  MAX_IN_FLIGHT,
  MAX_PIPELINED,
  MAX_STREAMS,
  MAX_UNREAD,
  MAX_UNSENT,
  MAX_WAITING,
  SESSION_LIMITS,
  UNREAD_MS,
} from '../../../src/transports/http/limits.ts';

const count = (number: number) => number.toLocaleString('en');
const seconds = (ms: number) => `${ms / 1000} s`;
const mebibytes = (bytes: number) => `${bytes / 1024 ** 2} MiB`;

test('the limits in the README are those in the code', () => {
  // Seen from .test-build/test/transports/http.
  const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');
  const [, section = ''] = /^## HTTP and SSE\n([\s\S]*?)^## /m.exec(readme) ?? [];
  const [, table = ''] = /\| what \| limit \| then \|\n\|---\|---\|---\|\n((?:\|.*\n)*)/.exec(section) ?? [];
  const rows = table.split('\n').flatMap((line) => {
    const [, what, limit] = line.split('|').map((cell) => cell.trim());
    return what === undefined ? [] : [[what, limit]];
  });
  assert.deepEqual(Object.fromEntries(rows), {
    'headers of a request': `${LIMITS.headerBytes / 1024} KiB`,
    'time for the headers': seconds(LIMITS.headersMs),
    'time for the whole request': seconds(LIMITS.requestMs),
    body: mebibytes(MAX_BODY),
    'bodies over 64 KiB that are read or worked on, all together': mebibytes(MAX_BODIES),
    connections: count(LIMITS.connections),
    'unanswered requests on one connection': count(MAX_PIPELINED),
    'idle connection': seconds(LIMITS.idleConnectionMs),
    sessions: count(SESSION_LIMITS.most),
    'idle session': `${SESSION_LIMITS.idleMs / 60_000} min`,
    'streams of one session': count(MAX_STREAMS),
    'notifications waiting for a stream': count(MAX_WAITING),
    'requests in flight of one HTTP+SSE client': count(MAX_IN_FLIGHT),
    'unread bytes of a stream, besides responses': mebibytes(MAX_UNREAD),
    'idle stream': seconds(LIMITS.streamKeepAliveMs),
    'unread answer': seconds(UNREAD_MS),
    'unread bytes of all clients': mebibytes(MAX_UNSENT),
    'last answers at SIGTERM': seconds(SHUTDOWN.lastResponsesMs),
  });
});
