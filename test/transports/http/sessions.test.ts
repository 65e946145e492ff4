import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_SESSIONS, SESSION_IDLE_MS } from '../../../src/limits.ts';
import { createHttpSession, createSessionTable, type HttpSession } from '../../../src/transports/http/sessions.ts';
import { mockTimers } from '../../harness/timers.ts';

function fakeStream() {
  const sent: string[] = [];
  const put = (text: string) => void sent.push(text);
  return { sent, stream: { send: put, reply() {}, isFull: () => false, end: () => put('end') } };
}

const isOver = ({ session }: HttpSession) => session.ended.aborted;

test('past the limit the session that has been idle longest ends, those in use last', (t) => {
  const table = createSessionTable();
  t.after(table.closeAll);
  const inUse = [createHttpSession(), createHttpSession(), createHttpSession()] as const;
  const [used, streaming, calling] = inUse;
  const idle = Array.from({ length: MAX_SESSIONS - 3 }, createHttpSession);
  for (const one of [...inUse, ...idle]) table.add(one);
  assert.equal(new Set(idle.map(({ id }) => id)).size, idle.length);
  streaming.attach(fakeStream().stream);
  calling.session.calls.set(1, new AbortController());
  assert.equal(table.use(used.id), used);
  for (const _ of idle) table.add(createHttpSession());
  assert.deepEqual([idle.every(isOver), ...inUse.map(isOver)], [true, false, false, false]);
  table.add(createHttpSession());
  assert.deepEqual(inUse.map(isOver), [true, false, false]);
});

test('an idle session expires, counted from its last use; one in use does not', (t) => {
  mockTimers(t, 'setTimeout');
  const table = createSessionTable();
  const all = [createHttpSession(), createHttpSession(), createHttpSession()] as const;
  const [used, , streaming] = all;
  all.forEach(table.add);
  const { stream } = fakeStream();
  streaming.attach(stream);
  t.mock.timers.tick(SESSION_IDLE_MS - 1);
  table.use(used.id);
  t.mock.timers.tick(1);
  assert.deepEqual(all.map(isOver), [false, true, false]);
  t.mock.timers.tick(SESSION_IDLE_MS);
  assert.deepEqual(all.map(isOver), [true, true, false]);
  assert.equal(table.use(used.id), undefined);
  streaming.detach(stream);
  t.mock.timers.tick(SESSION_IDLE_MS);
  assert.deepEqual(all.map(isOver), [true, true, true]);
});

test('a notification goes to the newest stream, and the last one of each list waits for it', () => {
  const { session, attach, detach, close } = createHttpSession();
  const changed = (list: string, at: number) => `{"method":"notifications/${list}/list_changed","params":{"at":${at}}}`;
  for (let at = 0; at < 200; at++) session.send(changed('tools', at));
  session.send(changed('prompts', 0));
  const [first, second] = [fakeStream(), fakeStream()];
  attach(first.stream);
  attach(second.stream);
  detach(first.stream);
  session.send(changed('tools', 200));
  close();
  assert.deepEqual(first.sent, [changed('tools', 199), changed('prompts', 0), 'end']);
  assert.deepEqual(second.sent, [changed('tools', 200), 'end']);
});
