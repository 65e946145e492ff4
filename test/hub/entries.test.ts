/** Odd entries in configurations: each spoils itself, nothing else, and gives no secret away. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { parseEntry } from '../../src/hub/config/entries.ts';
import { expand } from '../../src/hub/config/expand.ts';
import { type ConfigCache, readConfiguration } from '../../src/hub/config/files.ts';
import { MAX_SERVERS } from '../../src/hub/config/limits.ts';
import { createRedact, secretsOf } from '../../src/hub/config/redact.ts';
import { startHub, upstream } from '../harness/hub.ts';
import { PROGRAM } from '../harness/program.ts';
import { makeTree } from '../harness/tree.ts';

const variables = {
  env: { KEY: 'k-123', EMPTY: '' },
  workspaceFolder: '/project',
  userHome: '/home/you',
};
const reason = (entry: unknown) => {
  const { target } = parseEntry('one', entry, { from: '/f.json', variables });
  return target.kind === 'none' ? `${target.state}: ${target.reason}` : target.kind;
};
const file = (servers: object) => JSON.stringify({ mcpServers: servers });
const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

test('an entry that is disabled needs nothing else (11.26)', () => {
  const rows = [{}, { type: 'ftp' }, { url: 1 }, { command: '${NOPE}' }, { args: 'x', timeout: 'y' }];
  for (const row of rows) assert.equal(reason({ ...row, disabled: true }), 'disabled: disabled in its configuration');
  const { target } = parseEntry('an odd: name', { disabled: true }, { from: '/f.json', variables });
  assert.equal(target.kind === 'none' && target.state, 'disabled');
});

test('what no program can be given is refused, and named by its field (10.5)', () => {
  const half = 'it holds half of a surrogate pair, which is not a character';
  const rows: readonly (readonly [entry: object, why: string])[] = [
    [{ command: 'a', env: { KEY: 'x\ud800y' } }, `env.KEY: ${half}`],
    [{ command: 'a\udc00' }, `command: ${half}`],
    [{ command: 'a', args: ['b', '\udbff'] }, `args[1]: ${half}`],
    [{ command: 'a', cwd: '/\ud800' }, `cwd: ${half}`],
    [{ url: 'http://a/?\ud800' }, `url: ${half}`],
    [{ url: 'http://a/', headers: { K: '\ud800' } }, `headers.K: ${half}`],
    [{ command: 'a\0b' }, 'command: it holds a NUL character'],
    [{ command: 'a', args: ['\0'] }, 'args[0]: it holds a NUL character'],
    [{ command: 'a', env: { KEY: '\0' } }, 'env.KEY: it holds a NUL character'],
    [{ command: 'a', cwd: '\0' }, 'cwd: it holds a NUL character'],
    [{ command: 'a', env: { 'A=B': 'c' } }, 'env.A… is not a valid variable name'],
    [{ command: 'a', env: { '': 'c' } }, 'env. is not a valid variable name'],
    [{ command: 'a', env: { 'A\0': 'c' } }, 'env.A… is not a valid variable name'],
  ];
  for (const [entry, why] of rows) assert.equal(reason(entry), `failed: ${why}`);
});

test('an entry has a size, however it comes by it, and a message about it is short (10.5)', () => {
  const env = { BIG: 'x'.repeat(100_000) };
  const big = (entry: object) => {
    const { target } = parseEntry('one', entry, { from: '/f.json', variables: { ...variables, env } });
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

test('a name that every object has is no variable (10.5)', () => {
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
    /the default of NOR inside a default holds variables/,
  );
  assert.throws(() => expand('${NOPE:-{}', variables), /never closed/);
  // The default of a variable that is none may be a secret.
  assert.throws(() => expand('${NO PE:-s3cr3t}', variables), {
    message: '${NO PE} is not a variable that can be expanded here',
  });
});

test('expanding takes time in step with the text (10.5)', () => {
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

test('a secret of several lines is redacted line by line, and in base64 (10.18)', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\nhkiG9w0BAQEFAASC\n  Zz9=\nexit\n-----END KEY-----\n';
  const redact = createRedact(secretsOf({ env: { KEY: key, PASS: 'correct+horse/battery' }, inserted: [] }));
  for (const line of key.split('\n').map((one) => one.trim())) {
    if (line === '' || line === 'exit') continue;
    assert.equal(redact(`error near ${line}!`), 'error near [redacted]!', line);
  }
  assert.equal(redact('exited with code 1'), 'exited with code 1');
  assert.equal(redact(`parsing ${JSON.stringify(key)}`), 'parsing "[redacted]"');
  for (const around of ['', 'a', 'ab', 'user:']) {
    for (const code of ['base64', 'base64url'] as const) {
      const text = Buffer.from(`${around}correct+horse/battery`).toString(code);
      assert.ok(redact(text).replace('[redacted]', '').length < 12, `${text} ${redact(text)}`);
    }
  }
  assert.equal(redact(encodeURIComponent('correct+horse/battery').toLowerCase()), '[redacted]');
});

test('no line of a secret is in the log or shown by the doctor (10.18)', async (t) => {
  const tree = makeTree(t);
  const env = { KEY: '-----BEGIN KEY-----\nMIIEvQIBADANs3cr3t-one\nhkiG9w0BAQEFs3cr3t-two\n-----END KEY-----' };
  const servers = { one: { command: 'sh', args: ['-c', 'printf "%s\\n" "$KEY" >&2; exit 1'], env } };
  const hub = await startHub(t, servers, { tree, args: ['--log-level', 'debug'] });
  await hub.waitForStderr(/server one: failed/);
  assert.match(hub.stderr(), /\[one\] \[redacted\]/);
  assert.doesNotMatch(hub.stderr(), /MIIE|hkiG|s3cr3t-one/);
  const { stdout, status } = spawnSync(process.execPath, [PROGRAM, 'doctor', '--hub'], {
    cwd: tree.path,
    env: { PATH: process.env.PATH, HOME: tree.at('home') },
    encoding: 'utf8',
  });
  assert.equal(status, 0);
  assert.doesNotMatch(stdout, /MIIE|hkiG|s3cr3t-one/);
});

test('a secret that is written into the name of a field is not shown', () => {
  const rows: readonly (readonly [entry: object, why: string])[] = [
    [
      { url: 'http://a', headers: { 'Authorization: Bearer sk-live': '' } },
      'headers.Authorization… is not a valid header name',
    ],
    [{ url: 'http://a', headers: { 'X-Key: sk-live': null } }, 'headers.X-Key… must be text'],
    [{ url: 'http://a', headers: { 'X-Key: sk-live': '${NOPE}' } }, 'headers.X-Key…: the variable NOPE is not set'],
    [{ command: 'a', env: { 'API_KEY=sk-live': '' } }, 'env.API_KEY… is not a valid variable name'],
  ];
  for (const [entry, why] of rows) assert.equal(reason(entry), `failed: ${why}`);
});

test('a text that is cut inside a secret does not show its beginning', () => {
  const token = `eyJ${'0123456789abcdef'.repeat(100)}`;
  const redact = createRedact([token]);
  assert.equal(redact(`bad token ${token}`, 500), 'bad token [redacted]');
  assert.equal(redact(`bad token ${token} and ${token}`, token.length + 50), 'bad token [redacted] and [redacted]');
  assert.equal(redact('a text ends with eyJ0', 500), 'a text ends with eyJ0');
});

test('user and password of an address are redacted as basic authorization too', () => {
  for (const pair of ['u:hunter2', 'u:abc', 'me:p%2Fss']) {
    const redact = createRedact(secretsOf({ url: `http://${pair}@host/`, inserted: [] }));
    const sent = Buffer.from(decodeURIComponent(pair)).toString('base64');
    assert.equal(redact(`bad authorization Basic ${sent}`), 'bad authorization Basic [redacted]');
  }
});

test('where two secrets overlap neither shows (10.18)', () => {
  assert.equal(createRedact(['abcdef', 'defghi'])('<abcdefghi>'), '<[redacted]>');
  assert.equal(createRedact(['abcd', 'abcdefgh'])('abcdefgh abcd'), '[redacted] [redacted]');
});

test('no text is too odd to be a secret, and none takes long (10.5)', () => {
  const url = 'postgres://user:p%ss@host/db?x=%';
  const odd = secretsOf({
    args: [url, '\ud800', `${'"'.repeat(200_000)}x`],
    env: { A: 'half\ud800' },
    url,
    inserted: [],
  });
  const began = performance.now();
  const redact = createRedact(odd);
  assert.equal(redact('p%ss'), '[redacted]');
  assert.equal(redact('p%25ss'), '[redacted]');
  assert.equal(redact('<half\ud800>'), '<[redacted]>');
  const many = createRedact(Array.from({ length: 5000 }, (_, at) => `secret-number-${at}`));
  assert.equal(many(`${'x'.repeat(8000)} secret-number-4999`), `${'x'.repeat(8000)} [redacted]`);
  assert.ok(performance.now() - began < 5000);
});

test('an entry that is odd spoils itself alone (10.5)', async (t) => {
  const tree = makeTree(t);
  const servers = {
    half: { ...upstream(), env: { KEY: 'x\ud800' } },
    nul: { ...upstream(), args: ['a\0b'] },
    list: [upstream()],
    nothing: null,
    __proto__: upstream(),
    ['n'.repeat(100_000)]: upstream(),
    percent: { ...upstream(), args: [...upstream().args, 'postgres://user:p%ss@host'] },
    good: upstream(),
  };
  // Keys that an object literal gives another meaning, and nesting that no reader of it may fall over.
  const text = file(servers).replace(
    '"good":',
    `"__proto__":{"command":1,"x":${'['.repeat(50_000)}${']'.repeat(50_000)}},"good":`,
  );
  tree.write('odd.json', text);
  const hub = await startHub(t, {}, { tree, args: ['--config', 'odd.json'] });
  await hub.waitForTools(has('good:echo', 'percent:echo'), 'the good ones');
  await hub.waitForStderr(/server "half": env\.KEY: it holds half of a surrogate pair/);
  await hub.waitForStderr(/server "nul": args\[0\]: it holds a NUL character/);
  await hub.waitForStderr(/server "list": command is required/);
  await hub.waitForStderr(/server "nothing": must be an object/);
  await hub.waitForStderr(/server "__proto__": command must be text/);
  await hub.waitForStderr(/server "n{63}…": its name is over 64 characters/);
  assert.ok(hub.stderr().length < 10_000);
});

test('arguments that were written into the command are as secret as in their place (10.18)', () => {
  const command = 'npx -y some-server --token s3cr3t https://me:passw0rd@host/a%2Fb%20c';
  const redact = createRedact(secretsOf({ command, inserted: [] }));
  assert.equal(
    redact(`"${command}" was not found; a/b c`),
    '"npx -y some-server --token [redacted] https://me:[redacted]@host/[redacted]" was not found; [redacted]',
  );
});

test('a pattern has a length (10.5)', () => {
  assert.equal(reason({ command: 'a', include: ['x*', '{a,b}'] }), 'stdio');
  assert.equal(reason({ command: 'a', include: 'x'.repeat(70_000) }), 'failed: include is over 10000 characters');
  assert.equal(
    reason({ command: 'a', include: ['x'.repeat(70_000)] }),
    'failed: include must be a pattern or a list of patterns',
  );
  assert.equal(reason({ command: 'a', exclude: Array(2000).fill('x') }), 'failed: exclude has over 1000 patterns');
  assert.equal(reason({ command: 'a', exclude: 7 }), 'failed: exclude must be a pattern or a list of patterns');
});

test('a file that has not changed is not read again, and one that has is (10.5)', async (t) => {
  const tree = makeTree(t, { 'home/.kode.json': file({ one: { command: 'x' } }) });
  const options = { env: {}, cwd: tree.path, home: tree.at('home'), configFiles: [], trustProject: false };
  const memory: ConfigCache = new Map();
  const names = () => readConfiguration(options, memory).configs.map(({ name }) => name);
  // What was written this moment may be written again without a trace.
  await new Promise((done) => setTimeout(done, 600));
  assert.deepEqual(names(), ['one']);
  const [known] = memory.values();
  assert.deepEqual(names(), ['one']);
  assert.equal([...memory.values()][0], known);
  tree.write('home/.kode.json', file({ two: { command: 'x' } }));
  assert.deepEqual(names(), ['two']);
  tree.remove('home/.kode.json');
  assert.deepEqual(names(), []);
});

test('of too many entries the first are taken (10.5)', (t) => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`s${at}`, { command: 'x' }]));
  const tree = makeTree(t, { 'many.json': file(many) });
  const options = { env: {}, cwd: tree.path, home: tree.at('home'), trustProject: false };
  const { configs, problems } = readConfiguration({ ...options, configFiles: ['many.json'] });
  assert.equal(configs.length, MAX_SERVERS);
  assert.deepEqual(
    problems.map(({ what }) => what),
    ['names 100000 servers; only the first 500 are looked at'],
  );
});

test("faults of entries that another file overrides are nobody's business (11.26)", (t) => {
  const tree = makeTree(t, {
    'home/.kode.json': file({ both: { command: 1 }, given: { command: 2 }, mine: { command: 3 } }),
    '.kode.json': file({ both: { command: 'x' }, given: { command: 'x' }, off: { disabled: true } }),
    'given.json': file({ given: { command: 'y' } }),
  });
  const look = (trustProject: boolean) =>
    readConfiguration({ env: {}, cwd: tree.path, home: tree.at('home'), configFiles: ['given.json'], trustProject });
  const faults = (trustProject: boolean) => look(trustProject).problems.map(({ what }) => what.slice(0, 30));
  assert.deepEqual(faults(true), ['server "mine": command must be']);
  // One that is not trusted replaces nothing yet.
  const untrusted = (name: string) => `server "${name}": not started: this`.slice(0, 30);
  assert.deepEqual(faults(false), [
    'server "both": command must be',
    'server "mine": command must be',
    untrusted('off'),
    untrusted('both'),
  ]);
});
