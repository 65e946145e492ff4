/** Cancelling a call, by a listener or by a signal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LazyAbortController } from '../../src/protocol/session.ts';

test('listeners of a cancellation are called once, and not after they were removed', () => {
  const control = new LazyAbortController();
  const called: string[] = [];
  const removed = () => void called.push('removed');
  control.addEventListener('abort', () => void called.push('first'));
  control.addEventListener('abort', removed);
  control.addEventListener('abort', () => void called.push(`second, ${control.signal.aborted}`));
  control.removeEventListener('abort', removed);
  assert.equal(control.aborted, false);
  control.abort();
  control.abort();
  assert.equal(control.aborted, true);
  assert.deepEqual(called, ['first', 'second, true']);
});

test('a signal that is made after the cancellation has fired', () => {
  const control = new LazyAbortController();
  control.abort();
  assert.equal(control.signal.aborted, true);
});
