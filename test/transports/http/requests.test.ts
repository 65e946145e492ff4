import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accepts } from '../../../src/transports/http/requests.ts';

test('the accepted types are read from the Accept header', () => {
  const rows: readonly (readonly [string | undefined, string, boolean])[] = [
    [undefined, 'application/json', true],
    ['*/*', 'application/json', true],
    ['application/*', 'application/json', true],
    ['application/json, text/event-stream', 'text/event-stream', true],
    ['text/event-stream,application/json', 'application/json', true],
    ['TEXT/Event-Stream ; q=0.5', 'text/event-stream', true],
    ['application/json', 'text/event-stream', false],
    ['application/json;q=0, */*', 'text/event-stream', true],
    ['text/event-stream;q=0', 'text/event-stream', false],
    ['text/event-stream; q=0.000', 'text/event-stream', false],
    ['text/event-stream;q=0.001', 'text/event-stream', true],
    ['', 'application/json', false],
    ['json', 'application/json', false],
  ];
  for (const [accept, type, expected] of rows) assert.equal(accepts(accept, type), expected, `${accept} for ${type}`);
});
