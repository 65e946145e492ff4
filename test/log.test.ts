import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, messageOf, stackOf } from '../src/log.ts';

test('an entry is one line, escaped, and is written when its level is wanted', () => {
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line), 'info');
  log.info('a\nb\u001b[2J');
  log.warn('careful');
  log.debug('too much');
  assert.deepEqual(lines, ['skillwire: a\\nb\\u001b[2J\n', 'skillwire: warn: careful\n']);
  assert.deepEqual([messageOf(new Error('why')), messageOf('thrown')], ['why', 'thrown']);
  assert.match(stackOf(new Error('why')), /^Error: why\n {4}at /);
});
