import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHttpSession, createSessionTable } from '../../../src/transports/http/sessions.ts';

function tableOf(most: number) {
  const clock = { now: 0 };
  const left: string[] = [];
  const table = createSessionTable<ReturnType<typeof entry>>({ most, idleMs: 100 }, () => clock.now);
  const entry = (name: string, busy = false) => ({ busy, isBusy: () => busy, close: () => void left.push(name) });
  const add = (name: string, busy = false) => table.add(entry(name, busy));
  return { table, add, clock, left };
}

test('when the table is full, the session idle longest is removed', () => {
  const { table, add, left } = tableOf(3);
  const [first] = ['a', 'b', 'c'].map((name) => add(name));
  table.use(first ?? '');
  assert.ok(add('d'));
  assert.deepEqual(left, ['b']);
  assert.equal(table.size, 3);
});

test('a session in use is neither dropped nor expired', () => {
  const { table, add, clock, left } = tableOf(2);
  add('busy', true);
  add('idle');
  assert.ok(add('busy too', true));
  assert.deepEqual(left, ['idle']);
  assert.equal(add('one too many'), undefined);
  clock.now = 1000;
  table.removeIdle();
  assert.equal(table.size, 2);
});

test('a session expires after its idle time, counted from its last use', () => {
  const { table, add, clock, left } = tableOf(10);
  const a = add('a') ?? '';
  add('b');
  clock.now = 60;
  assert.ok(table.use(a));
  clock.now = 120;
  table.removeIdle();
  assert.deepEqual(left, ['b']);
  clock.now = 161;
  table.removeIdle();
  assert.deepEqual(left, ['b', 'a']);
  assert.equal(table.use(a), undefined);
});

test('ids are long and never repeat', () => {
  const { add } = tableOf(10_000);
  const ids = Array.from({ length: 5000 }, () => add('x') ?? '');
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[0-9a-f-]{36}$/);
});

test('of the notifications that wait for a stream, one per list and per resource is sent', () => {
  const { session, attach } = createHttpSession();
  const about = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', method, params });
  session.send(about('notifications/resources/updated', { uri: 'a' }));
  for (let at = 0; at < 200; at++) session.send(about('notifications/tools/list_changed', { _meta: { at } }));
  session.send(about('notifications/resources/updated', { uri: 'b' }));
  const sent: string[] = [];
  const send = (text: string) => void sent.push(text);
  attach({ send, reply() {}, event() {}, end() {} });
  assert.deepEqual(sent, [
    about('notifications/resources/updated', { uri: 'a' }),
    about('notifications/tools/list_changed', { _meta: { at: 199 } }),
    about('notifications/resources/updated', { uri: 'b' }),
  ]);
});
