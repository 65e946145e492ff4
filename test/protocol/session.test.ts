import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cancel, createSession } from '../../src/protocol/index.ts';

test('the end of a session cancels all its calls, also those that others are cancelled by, and fires once', () => {
  const session = createSession(() => {});
  const calls = [1, 2, 3].map(() => new AbortController());
  for (const [id, call] of calls.entries()) session.calls.set(id, call);
  calls[0]?.signal.addEventListener('abort', () => cancel(session, 1));
  let fired = 0;
  session.ended.addEventListener('abort', () => fired++);
  session.end();
  session.end();
  assert.deepEqual([calls.every(({ signal }) => signal.aborted), session.calls.size, fired], [true, 0, 1]);
});
