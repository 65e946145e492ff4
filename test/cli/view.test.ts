import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgress } from '../../src/cli/view.ts';
import { createTestClock } from '../harness/clock.ts';

/** What is on the line after all that was written. */
function lineOf(written: readonly string[]): string {
  return written.join('').split('\r\u001b[K').at(-1) ?? '';
}

function start(isTTY: boolean) {
  const clock = createTestClock();
  const written: string[] = [];
  const progress = createProgress({ isTTY, columns: 20, write: (text) => written.push(text) }, clock);
  return { clock, written, progress };
}

test('after half a second a terminal shows the last line of the log, and at the end nothing', async () => {
  const { clock, written, progress } = start(true);
  progress.log.info('scanning');
  await clock.advance(499);
  assert.deepEqual(written, []);
  await clock.advance(1);
  assert.equal(lineOf(written), 'scanning');
  progress.log.info('scanning: 12345678 skills so far');
  assert.equal(lineOf(written), 'scanning: 12345678…');
  progress.log.info('\u001b[2Jx');
  assert.equal(lineOf(written), '\\u001b[2Jx');
  progress.log.warn('not this');
  progress.end();
  assert.equal(lineOf(written), '');
  assert.ok(!written.join('').includes('\n'));
});

test('what ends sooner, or is not on a terminal, shows nothing', async () => {
  const fast = start(true);
  fast.progress.log.info('scanning');
  fast.progress.end();
  await fast.clock.advance(10_000);
  assert.deepEqual(fast.written, []);
  const pipe = start(false);
  pipe.progress.log.info('scanning');
  await pipe.clock.advance(10_000);
  pipe.progress.end();
  assert.deepEqual(pipe.written, []);
});
