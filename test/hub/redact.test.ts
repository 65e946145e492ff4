import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedact } from '../../src/hub/redact.ts';

test('no secret is left in a text, in whatever spelling, and the time is linear in the text', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nabc\n-----END KEY-----';
  const redact = createRedact(['s3cr3t', 's3cr3t-longer', 'Bearer tok-12345', 'a"b/c d', key, 'abc', 'true', '']);
  const rows: readonly (readonly [what: string, text: string, redacted: string])[] = [
    ['as it is, each time', 's3cr3t and s3cr3t', '[redacted] and [redacted]'],
    ['the longer of two that begin alike', 'x s3cr3t-longer', 'x [redacted]'],
    ['a token without its scheme', 'got tok-12345!', 'got [redacted]!'],
    ['in a URL', '?q=a%22b%2Fc%20d&x', '?q=[redacted]&x'],
    ['in JSON', '{"v":"a\\"b/c d"}', '{"v":"[redacted]"}'],
    ['a line of a key', 'line MIIEvQIBADANBgkq', 'line [redacted]'],
    ['short values and common words stay', 'abc is true', 'abc is true'],
    ['credentials of a URL', 'see postgres://me:p@ss@db/x', 'see postgres://[redacted]@db/x'],
    ['an address in a query is none', 'http://host/?mail=a@b', 'http://host/?mail=a@b'],
  ];
  for (const [what, text, redacted] of rows) assert.equal(redact(text), redacted, what);
  assert.equal(createRedact([])('nothing is secret'), 'nothing is secret');
  const redactOdd = createRedact(['aaaaaaab', '(a+)+$', '[x]{1,9}']);
  const began = performance.now();
  for (const piece of ['a', '://', '://a', '@', 'a@']) redactOdd(piece.repeat(1_000_000));
  assert.ok(performance.now() - began < 3000);
  assert.equal(redactOdd('is (a+)+$ literal'), 'is [redacted] literal');
});
