/** The names that upstream servers are served under. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_SERVER_NAME } from '../../../src/hub/config/limits.ts';
import { servedNames } from '../../../src/hub/config/server-names.ts';
import { hashOf } from '../../../src/text.ts';

const served = (...groups: readonly (readonly string[])[]) => [...servedNames(...groups)];

test('characters that a name may not have become one dash, and none at its ends (13.14)', () => {
  const rows: readonly (readonly [written: string, name: string])[] = [
    ['github', 'github'],
    ['-odd--one-', '-odd--one-'],
    ['io.github.upstash/context7', 'io.github.upstash-context7'],
    ['GitHub MCP', 'GitHub-MCP'],
    ['a : b', 'a-b'],
    ['a - b', 'a-b'],
    [' @scope/name/ ', '@scope-name'],
    ['a\u00a0b', 'a-b'],
  ];
  for (const [written, name] of rows) assert.deepEqual(served([written]), [[written, name]]);
});

test('of several names that become the same, the later get a hash, and one that needs no change keeps it (13.14)', () => {
  assert.deepEqual(served(['a b', 'a/b', 'c d', 'c-d']), [
    ['c-d', 'c-d'],
    ['a b', 'a-b'],
    ['a/b', `a-b-${hashOf('a/b')}`],
    ['c d', `c-d-${hashOf('c d')}`],
  ]);
  const hashed = `a-b-${hashOf('a/b')}`;
  assert.equal(new Set(served(['a b', 'a/b', hashed]).map(([, name]) => name)).size, 3);
});

test('a name of a later group changes none of an earlier one (13.14)', () => {
  assert.deepEqual(served(['a b'], ['a-b', 'a b']), [
    ['a b', 'a-b'],
    ['a-b', `a-b-${hashOf('a-b')}`],
  ]);
});

test('a name with a hash is no longer than any other, and a name with a fault is served under none (13.14)', () => {
  const [long, other] = [`${'x'.repeat(MAX_SERVER_NAME - 2)} y`, `${'x'.repeat(MAX_SERVER_NAME - 2)}/y`];
  for (const [, name] of served([long, other])) assert.equal(name.length, MAX_SERVER_NAME);
  assert.deepEqual(served(['', ' / ', 'a\u0000b', 'x'.repeat(MAX_SERVER_NAME + 1)]), []);
});
