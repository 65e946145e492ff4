/** Variables in configuration files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expand, literally, referencesIn } from '../../../src/hub/config/expand.ts';

const variables = {
  env: { KEY: 'k-123', EMPTY: '', NEST: '${KEY}' },
  workspaceFolder: '/project',
  userHome: '/home/you',
};

test('variables are expanded in one pass', () => {
  const rows: readonly (readonly [text: string, expanded: string])[] = [
    ['${KEY}', 'k-123'],
    ['a${env:KEY}b', 'ak-123b'],
    ['${NOPE:-fallback}', 'fallback'],
    ['${EMPTY:-fallback}', 'fallback'],
    ['${NOPE:-}', ''],
    ['${EMPTY}', ''],
    ['${KEY:-fallback}', 'k-123'],
    ['${workspaceFolder}/x ${userHome}', '/project/x /home/you'],
    ['${NEST}', '${KEY}'],
    ['$KEY $$ {KEY} ${', '$KEY $$ {KEY} ${'],
  ];
  for (const [text, expanded] of rows) assert.equal(expand(text, variables).text, expanded, text);
});

test('a text that is to be taken literally is itself after expansion, and refers to nothing', () => {
  for (const text of ['${KEY}', '$${KEY}', '${', '${NOPE:-${KEY}}', '${$}{', '${$}', 'a$b{c}', '}${']) {
    assert.equal(expand(literally(text), variables).text, text);
    assert.deepEqual(expand(literally(text), variables).inserted, []);
    assert.deepEqual(referencesIn(literally(text)), []);
  }
});

test('a member that every object inherits is not a variable (10.5)', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty'])
    assert.throws(() => expand(`\${${name}}`, variables), new RegExp(`the variable ${name} is not set`));
});

test('a default may hold variables; deeper ones, and braces that do not close, are refused (11.27)', () => {
  const rows: readonly (readonly [text: string, expanded: string])[] = [
    ['${NOPE:-${KEY}}', 'k-123'],
    ['<${NOPE:-a${KEY}b${userHome}}>', '<ak-123b/home/you>'],
    ['${KEY:-${NOPE}}', 'k-123'],
    ['${NOPE:-${NOR:-x}}', 'x'],
    ['${NOPE:-{"a":{}}}', '{"a":{}}'],
    ['${KEY:-{"a":{}}}', 'k-123'],
  ];
  for (const [text, expanded] of rows) assert.equal(expand(text, variables).text, expanded, text);
  assert.deepEqual(expand('${NOPE:-${KEY}} ${KEY}', variables).inserted, ['k-123']);
  assert.throws(() => expand('${NOPE:-${NOR}}', variables), /the variable NOR is not set/);
  assert.throws(
    () => expand('${NOPE:-${NOR:-${KEY}}}', variables),
    /the default of NOR inside a default has variables/,
  );
  assert.throws(() => expand('${NOPE:-{}', variables), /never closed/);
  // The default of a variable that is none may be a secret.
  assert.throws(() => expand('${NO PE:-s3cr3t}', variables), {
    message: '${NO PE} is not a variable that can be expanded here',
  });
});

test('expanding takes time linear in the text (10.5)', () => {
  const began = performance.now();
  for (const text of ['${'.repeat(500_000), `${'${A:-'.repeat(200_000)}}`, '${KEY}'.repeat(100_000)])
    try {
      expand(text, variables);
    } catch {
      // Refused is as good as expanded here.
    }
  assert.ok(performance.now() - began < 3000);
  assert.equal(expand('$'.repeat(10), variables).text, '$'.repeat(10));
});
