/** What an entry of `mcpServers` means, and what is said of one that means nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, isSelf, servedName } from '../../src/hub/entries.ts';

const ENV = { TOKEN: 's3cr3t', EMPTY: '', HOME: '/h', NEST: '${TOKEN}' };
const variables = { env: ENV, workspaceFolder: '/w', userHome: '/h' };
const read = (entry: unknown) => configOf('one', entry, '/file', variables);
const stdio = { kind: 'stdio', command: 'run', args: [], env: {}, cwd: '/w' } as const;
const http = { kind: 'http', url: 'http://x/', headers: {}, fallback: false } as const;
const url = 'http://x/';

const TARGETS: readonly (readonly [name: string, entry: object, target: object])[] = [
  ['a command alone', { command: 'run' }, stdio],
  ['local is stdio', { type: 'local', command: 'run', url: 'x' }, stdio],
  ['a working directory from the project', { command: 'run', cwd: 'sub' }, { ...stdio, cwd: '/w/sub' }],
  ['unknown members are ignored', { command: 'run', gallery: true, version: [] }, stdio],
  ['an address alone may be SSE', { url }, { ...http, fallback: true }],
  ['httpUrl', { httpUrl: url }, { ...http, fallback: true }],
  ['serverUrl', { serverUrl: url }, { ...http, fallback: true }],
  ['http', { type: 'http', url }, http],
  ['headers', { type: 'streamable-http', url, headers: { A: '${TOKEN}' } }, { ...http, headers: { A: 's3cr3t' } }],
  ['sse', { type: 'sse', url }, { kind: 'sse', url, headers: {} }],
];
for (const [name, entry, target] of TARGETS)
  test(`an entry is read by its type, or by its fields: ${name}`, () => assert.deepEqual(read(entry).target, target));

test('variables are expanded everywhere, in one pass', () => {
  for (const [source, text] of Object.entries({
    '${TOKEN}': 's3cr3t',
    '${env:TOKEN}-${TOKEN}': 's3cr3t-s3cr3t',
    '${NONE:-a b:-c}': 'a b:-c',
    '${EMPTY:-x}': 'x',
    '${EMPTY}': '',
    '${NEST}': '${TOKEN}',
    '${workspaceFolder}/${userHome}': '/w//h',
    '$TOKEN {TOKEN} $': '$TOKEN {TOKEN} $',
  })) {
    const { target } = read({ command: `c${source}`, args: [source], env: { A: source } });
    assert.deepEqual(target, { ...stdio, command: `c${text}`, args: [text], env: { A: text } }, source);
  }
});

const FAULTS: readonly (readonly [entry: unknown, reason: RegExp])[] = [
  [{ command: '' }, /^failed: command is empty$/],
  [{ command: 'x', env: { A: 1 } }, /^failed: env\.A must be text$/],
  [{ command: 'x', env: { 'A=s3cr3t': 'x' } }, /^failed: env has a name that is not allowed there$/],
  [{ type: 'ws', url }, /^failed: type must be stdio, sse or http$/],
  [{ url: 'file:///etc/passwd' }, /^failed: url must be an http or https address$/],
  [{ url, headers: { 'Authorization: Bearer s3cr3t': '' } }, /^failed: headers has a name that is not/],
  [{ url, headers: { 'Authorization: Bearer s3cr3t': null } }, /^failed: headers must be text$/],
  [{ command: 'x', timeout: 0 }, /^failed: timeout must be a whole number from 1 to 2147483647$/],
  [{ command: 'x', include: ['*'.repeat(5)] }, /^failed: include\.0 has a pattern of over 4 stars or braces$/],
  [{ command: 'x', env: { A: 'b ${NONE}' } }, /^failed: env\.A: the variable NONE is not set$/],
  [{ command: '${constructor}' }, /^failed: command: the variable constructor is not set$/],
  [{ command: '${A B:-s3cr3t}' }, /^failed: command: \$\{A B\} is no known variable$/],
  [{ command: '${A:-${TOKEN}}' }, /^failed: command: \$\{A\} is not closed, or has another inside$/],
  [{ command: 1, disabled: true }, /^disabled: /],
];
test('a fault is the reason of a server that is not started; it names the field and no value', () => {
  for (const [entry, reason] of FAULTS) {
    const { target } = read(entry);
    const text = target.kind === 'none' ? `${target.state}: ${target.reason}` : target.kind;
    assert.match(text, reason);
    assert.doesNotMatch(text, /s3cr3t/);
  }
});

test('an entry has its filter, its timeout, and its secrets: env, headers, variables, what is in addresses', () => {
  const entry = { command: '${TOKEN}', args: ['${HOME}'], env: { A: 'e' }, exclude: 'a,b' };
  const { filter, timeout, secrets } = read(entry);
  assert.deepEqual([filter, timeout], [{ include: [], exclude: ['a', 'b'] }, 300_000]);
  assert.deepEqual(secrets, ['s3cr3t', 'e']);
  const remote = read({ url: 'http://me:p%40ss@x/?key=k%2f1', headers: { A: 'Bearer abc' }, timeout: 5 });
  assert.equal(remote.timeout, 5);
  const basic = Buffer.from('me:p@ss').toString('base64');
  for (const secret of ['me', 'p@ss', 'p%40ss', basic, 'k/1', 'k%2f1', 'Bearer abc'])
    assert.ok(remote.secrets.includes(secret), secret);
});

test('colons, slashes and blanks in a server name become dashes; other names are kept or refused', () => {
  for (const [written, name] of Object.entries({ 'a b': 'a-b', ' io.x/y: z ': 'io.x-y-z', ü_1: 'ü_1' }))
    assert.equal(servedName(written), name);
  for (const written of ['', ' ', 'a\u200bb', 'a\u0007', 'x'.repeat(65)])
    assert.throws(() => servedName(written), /its name/);
});

test('an entry that starts skillwire, or has our own address, is recognised, and no other', () => {
  const run = (line: string) => {
    const [command = '', ...args] = line.split(' ');
    return isSelf({ ...stdio, command, args }, undefined);
  };
  const own = ['skillwire', '/x/skillwire.cjs', 'C:\\npm\\skillwire.CMD', 'skillwire-stdio', 'node d/skillwire.cjs'];
  for (const line of [...own, 'npx -y skillwire@0.3.0 serve', 'cmd /c npx skillwire']) assert.ok(run(line), line);
  for (const line of ['npx other skillwire', 'node /skillwire/server.js', 'my-skillwire']) assert.ok(!run(line), line);
  const at = (address: string, ours?: string) => isSelf({ kind: 'sse', url: address, headers: {} }, ours);
  assert.ok(at('http://localhost:3333/mcp', '127.0.0.1:3333') && at('http://[::1]:3333/', '0.0.0.0:3333'));
  assert.ok(!at('http://localhost:3334/mcp', '127.0.0.1:3333') && !at('http://localhost:3333/mcp'));
});
