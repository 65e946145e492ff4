/** Entries of mcpServers: what is accepted, and the messages about faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, tryReadEntry, type UpstreamConfig } from '../../../src/hub/config/entries.ts';
import type { Variables } from '../../../src/hub/config/expand.ts';

const variables = {
  env: { KEY: 'k-123', EMPTY: '', NEST: '${KEY}' },
  workspaceFolder: '/project',
  userHome: '/home/you',
};

const parseEntry = (name: string, entry: unknown, from: string, values: Variables) =>
  configOf(
    name,
    tryReadEntry(name, () => entry),
    from,
    values,
  );

const config = (entry: unknown, name = 'one'): UpstreamConfig => parseEntry(name, entry, '/f.json', variables);

const reason = (entry: unknown, name?: string) => {
  const { target } = config(entry, name);
  return target.kind === 'none' ? `${target.state}: ${target.reason}` : target.kind;
};

test('an entry is read by its type, or by its fields', () => {
  const rows: readonly (readonly [entry: object, kind: string])[] = [
    [{ command: 'a' }, 'stdio'],
    [{ type: 'stdio', command: 'a', args: ['b'], env: { C: 'd' }, cwd: 'e', timeout: 5 }, 'stdio'],
    [{ url: 'http://a/' }, 'http'],
    [{ type: 'http', url: 'https://a/', headers: { Authorization: 'Bearer x' } }, 'http'],
    [{ type: 'streamable-http', url: 'https://a/' }, 'http'],
    [{ type: 'sse', url: 'https://a/' }, 'sse'],
    [{ type: 'local', command: 'a' }, 'stdio'],
    [{ type: 'remote', url: 'https://a/' }, 'http'],
    [{ command: 'a', enabled: true }, 'stdio'],
    [{ command: 'a', enabled: false }, 'disabled: disabled in its configuration'],
    [{ command: 'a', alwaysAllow: ['x'], autoApprove: true }, 'stdio'],
    [{ command: 'a', disabled: true }, 'disabled: disabled in its configuration'],
  ];
  for (const [entry, kind] of rows) assert.equal(reason(entry), kind, JSON.stringify(entry));
});

test('a message about a fault names the field', () => {
  const rows: readonly (readonly [entry: unknown, why: string, name?: string])[] = [
    [{}, 'command is required'],
    [{ command: 1 }, 'command must be text'],
    [{ command: '' }, 'command is empty'],
    [{ command: 'a', args: 'b' }, 'args must be a list of texts'],
    [{ command: 'a', args: ['b', 1] }, 'args.1 must be text'],
    [{ command: 'a', env: { PORT: 1 } }, 'env.PORT must be text'],
    [{ command: 'a', timeout: '5' }, 'timeout must be a number of milliseconds'],
    [{ command: 'a', timeout: 0 }, 'timeout must be at least 1'],
    [{ command: 'a', disabled: 'no' }, 'disabled must be true or false'],
    [{ type: 'sse' }, 'url is required'],
    [{ type: 'ftp', url: 'x' }, 'type must be one of stdio, sse, http'],
    [{ url: 'not an address' }, 'url must be an http or https address'],
    [{ url: 'file:///etc/passwd' }, 'url must be an http or https address'],
    [{ url: 'http://a/', headers: { 'a b': 'c' } }, 'headers.a… is not a valid header name'],
    [{ url: 'http://a/', headers: { a: 'c\nd' } }, 'headers.a has a character that is not allowed in a header'],
    ['text', 'must be an object'],
    [{ command: '${NOPE}' }, 'command: the variable NOPE is not set'],
    [{ command: 'a', args: ['${config:x}'] }, 'args[0]: ${config:x} is not a variable that can be expanded here'],
    [
      { command: 'a', env: { KEY: '${input:key}' } },
      'env.KEY: ${input:key} has no value: its host asks a person for it; write the value or a ${VARIABLE} in its place',
    ],
    [{ command: 'a', envVars: 'KEY' }, 'envVars must be a list of names'],
    [{ command: 'a', envVars: ['A=B'] }, 'envVars.0 is not a valid variable name'],
    [{ command: 'a', enabled: 'no' }, 'enabled must be true or false'],
    [{ url: 'http://a/', headers: { a: '${NOPE}' } }, 'headers.a: the variable NOPE is not set'],
    [{ command: 'a' }, 'its name has only colons, slashes and spaces', ' :/ '],
    [{ command: 'a' }, 'its name has a control character', 'a b\u0000'],
    [{ command: 'a' }, 'its name has an invisible character', 'a\u3164b'],
    [{ command: 'a' }, 'its name is over 64 characters', 'x'.repeat(65)],
    [{ command: 'a' }, 'its name is empty', ''],
  ];
  for (const [entry, why, name] of rows) assert.equal(reason(entry, name), `failed: ${why}`);
});

test('envVars are those of our variables that are set; env comes before them', () => {
  const names = ['KEY', 'EMPTY', 'NEST', 'NOPE', 'constructor', '__proto__'];
  const { target, secrets } = config({ command: 'a', envVars: names, env: { NEST: 'own' } });
  assert.deepEqual(target.kind === 'stdio' && target.env, { KEY: 'k-123', EMPTY: '', NEST: 'own' });
  assert.ok(secrets().includes('k-123'));
});

test('an entry that is disabled needs nothing else (11.26)', () => {
  const rows = [{}, { type: 'ftp' }, { url: 1 }, { command: '${NOPE}' }, { args: 'x', timeout: 'y' }];
  for (const row of rows) assert.equal(reason({ ...row, disabled: true }), 'disabled: disabled in its configuration');
  const { target } = parseEntry('an odd: name', { disabled: true }, '/f.json', variables);
  assert.equal(target.kind === 'none' && target.state, 'disabled');
});

test('texts that no program can be given are refused, with the name of the field (10.5)', () => {
  const half = 'it has half of a surrogate pair, which is not a character';
  const rows: readonly (readonly [entry: object, why: string])[] = [
    [{ command: 'a', env: { KEY: 'x\ud800y' } }, `env.KEY: ${half}`],
    [{ command: 'a\udc00' }, `command: ${half}`],
    [{ command: 'a', args: ['b', '\udbff'] }, `args[1]: ${half}`],
    [{ command: 'a', cwd: '/\ud800' }, `cwd: ${half}`],
    [{ url: 'http://a/?\ud800' }, `url: ${half}`],
    [{ url: 'http://a/', headers: { K: '\ud800' } }, `headers.K: ${half}`],
    [{ command: 'a\0b' }, 'command: it has a NUL character'],
    [{ command: 'a', args: ['\0'] }, 'args[0]: it has a NUL character'],
    [{ command: 'a', env: { KEY: '\0' } }, 'env.KEY: it has a NUL character'],
    [{ command: 'a', cwd: '\0' }, 'cwd: it has a NUL character'],
    [{ command: 'a', env: { 'A=B': 'c' } }, 'env.A… is not a valid variable name'],
    [{ command: 'a', env: { '': 'c' } }, 'env. is not a valid variable name'],
    [{ command: 'a', env: { 'A\0': 'c' } }, 'env.A… is not a valid variable name'],
  ];
  for (const [entry, why] of rows) assert.equal(reason(entry), `failed: ${why}`);
});

test('an entry has a limit in size, also after expansion, and messages about it are short (10.5)', () => {
  const env = { BIG: 'x'.repeat(100_000) };
  const big = (entry: object) => {
    const { target } = parseEntry('one', entry, '/f.json', { ...variables, env });
    return target.kind === 'none' ? target.reason : target.kind;
  };
  assert.equal(big({ command: 'a', env: { KEY: 'x'.repeat(10_000_000) } }), 'env.KEY: it is too long');
  assert.equal(big({ command: 'a', args: ['${BIG}'.repeat(20_000)] }), 'args[0]: it is too long');
  assert.equal(big({ command: 'a', args: Array(2_000_000).fill('') }), 'args[1048575]: it is too long');
  assert.equal(big({ command: 'a', args: Array(100_000).fill(1) }), 'args.0 must be text');
  assert.ok(big({ command: 'a', env: { ['K'.repeat(1_000_000)]: 1 } }).length < 200);
  assert.ok(big({ url: 'http://a', headers: { ['ü'.repeat(1_000_000)]: '' } }).length < 200);
  assert.ok(big({ command: `\${${'!'.repeat(1_000_000)}}` }).length < 200);
  assert.equal(big({ command: 'a', args: ['${BIG}'] }), 'stdio');
});

test('a secret that is written into the name of a field is not shown', () => {
  const rows: readonly (readonly [entry: object, why: string])[] = [
    [
      { url: 'http://a', headers: { 'Authorization: Bearer sk-live': '' } },
      'headers.Authorization… is not a valid header name',
    ],
    [{ url: 'http://a', headers: { 'X-Key: sk-live': null } }, 'headers.X-Key… is not a valid header name'],
    [{ command: 'a', env: { 'X-Key: sk-live': null } }, 'env.X-Key… must be text'],
    [{ command: 'a', env: { 'X-Key: sk-live': '${NOPE}' } }, 'env.X-Key…: the variable NOPE is not set'],
    [{ command: 'a', env: { 'API_KEY=sk-live': '' } }, 'env.API_KEY… is not a valid variable name'],
  ];
  for (const [entry, why] of rows) assert.equal(reason(entry), `failed: ${why}`);
});

test('a pattern has a limit in length (10.5)', () => {
  assert.equal(reason({ command: 'a', include: ['x*', '{a,b}'] }), 'stdio');
  assert.equal(reason({ command: 'a', include: 'x'.repeat(70_000) }), 'failed: include is over 10000 characters');
  assert.equal(
    reason({ command: 'a', include: ['x'.repeat(70_000)] }),
    'failed: include must be a pattern or a list of patterns',
  );
  assert.equal(reason({ command: 'a', exclude: Array(2000).fill('x') }), 'failed: exclude has over 1000 patterns');
  assert.equal(reason({ command: 'a', exclude: 7 }), 'failed: exclude must be a pattern or a list of patterns');
});
