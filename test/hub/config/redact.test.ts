/** Secrets, and that none is shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedact, secretsOf } from '../../../src/hub/config/redact.ts';
import { makeTree } from '../../harness/tree.ts';

test('secrets are redacted in every spelling', () => {
  const secrets = secretsOf({
    args: [
      '--token',
      's3cr3t-one',
      '--api-key=s3cr3t-two',
      'postgres://u5er:pa55word@host/db',
      'sk-live-abcdef123456',
      'plain',
    ],
    env: { A: 's3cr3t "three"' },
    headers: { Authorization: 'Bearer s3cr3t-four' },
    url: new URL('https://host/mcp?key=s3cr3t%2Ffive'),
    inserted: ['s3cr3t-six'],
  });
  const text = `s3cr3t-one s3cr3t-two u5er pa55word sk-live-abcdef123456 s3cr3t "three" s3cr3t \\"three\\" s3cr3t-four s3cr3t/five s3cr3t%2Ffive s3cr3t-six plain host`;
  const redacted = createRedact(() => secrets)(text);
  assert.doesNotMatch(redacted, /s3cr3t|u5er|pa55|sk-live/);
  assert.match(redacted, /plain host$/);
});

test('of arguments only flags, words, packages and paths are shown', (t) => {
  const tree = makeTree(t, { 'data/x1.db': '' });
  const rows: readonly (readonly [args: readonly string[], shown: string])[] = [
    [['-y', '@scope/server-name@1.2.3', 'run', '--verbose'], '-y @scope/server-name@1.2.3 run --verbose'],
    [['--db', 'data/x1.db', 'data/x2.db'], '--db data/x1.db [redacted]'],
    [['API_KEY=hunter', 'MODE=fast', 'PIN=12345'], 'API_KEY=[redacted] MODE=fast PIN=[redacted]'],
    [['-H', 'Authorization: Bearer abcdef'], '-H [redacted]'],
    [['--pwd', 'hunter', '-p', 'swordfish'], '--pwd [redacted] -p [redacted]'],
    [['-c', 'exit 9; run hunter2', 'exit', 'hunter2'], '-c [redacted] exit [redacted]'],
    [['-c', 'export API_TOKEN=ghp_123; exec run', 'ghp_123', 'exec'], '-c [redacted] [redacted] exec'],
    [['-c', 'PASSWORD=hunter; run', 'hunter'], '-c PASSWORD=[redacted] [redacted]'],
    [['-lc', `A_KEY="s3cr3t" B_KEY='it'"s 5" && run`, 's3cr3t', 'its 5'], '-lc A_KEY=[redacted] [redacted] [redacted]'],
    [['-c', 'A_KEY=abcd && echo "denied to all"', 'abcd', 'denied'], '-c A_KEY=[redacted] [redacted] denied'],
    [['-c', 'export MODE=fast LEVEL="quick"; run', 'fast', 'quick'], '-c [redacted] fast quick'],
    [['-c', 'curl -H "X-Me: Bearer gh0" (gh12);', 'gh12', 'curl'], '-c [redacted] [redacted] curl'],
    [['-c', 'TOKEN=${OTHER} KEY= run', '${OTHER}', 'run'], '-c TOKEN=[redacted] ${OTHER} run'],
    [['Tr0ub4dor', 'correcthorsebatterystaple'], '[redacted] [redacted]'],
    [['https://me:word@host/hook/T0K3N?q=abcd'], 'https://me:[redacted]@host/hook/[redacted]?[redacted]'],
  ];
  for (const [args, shown] of rows) {
    const redact = createRedact(() => secretsOf({ args, cwd: tree.path, inserted: [] }));
    assert.equal(redact(args.join(' ')), shown);
  }
});

test('a path is shown though nothing is there, unless a part of it may be a key (13.15)', () => {
  const shown = [
    ...['/tmp/nope.js', './dist/index.js', '../my-server/build_2/main.py', '~/.config/server-v1.20.3/run.mjs', '/'],
    ...['C:\\Users\\me\\server.js', 'd:/tools/x86_64/server.exe', '/Users/jürgen/größe.js', '--root=/srv/data2'],
  ];
  const hidden = [
    ...[
      '/hook/T0K3N',
      '/services/T00000000/B00000000',
      '/wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      './ghp_16C7e42F292c69',
    ],
    ...[
      '/api?pass',
      '/u5er:pa55@host',
      '/550e8400-e29b-41d4-a716-446655440000',
      '/a/correcthorsebatterystaple',
      '/run me',
    ],
  ];
  const redact = (args: readonly string[]) => createRedact(() => secretsOf({ args, inserted: [] }))(args.at(-1) ?? '');
  for (const arg of shown) assert.equal(redact([arg]), arg);
  for (const arg of hidden) assert.equal(redact([arg]), '[redacted]', arg);
  assert.equal(redact(['--token', '/plain/words']), '[redacted]');
  assert.equal(redact(['--api-key=/plain/words']), '--api-key=[redacted]');
});

test('a secret of several lines is redacted line by line, and in base64 (10.18)', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\nhkiG9w0BAQEFAASC\n  Zz9=\nexit\n-----END KEY-----\n';
  const redact = createRedact(() => secretsOf({ env: { KEY: key, PASS: 'correct+horse/battery' }, inserted: [] }));
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

test('a text that is cut inside a secret does not show its beginning', () => {
  const token = `eyJ${'0123456789abcdef'.repeat(100)}`;
  const redact = createRedact(() => [token]);
  assert.equal(redact(`bad token ${token}`, 500), 'bad token [redacted]');
  assert.equal(redact(`bad token ${token} and ${token}`, token.length + 50), 'bad token [redacted] and [redacted]');
  assert.equal(redact('a text ends with eyJ0', 500), 'a text ends with eyJ0');
});

test('user and password of an address are redacted as basic authorization too', () => {
  for (const pair of ['u:hunter2', 'u:abc', 'me:p%2Fss']) {
    const redact = createRedact(() => secretsOf({ url: new URL(`http://${pair}@host/`), inserted: [] }));
    const sent = Buffer.from(decodeURIComponent(pair)).toString('base64');
    assert.equal(redact(`bad authorization Basic ${sent}`), 'bad authorization Basic [redacted]');
  }
});

test('where two secrets overlap neither shows (10.18)', () => {
  assert.equal(createRedact(() => ['abcdef', 'defghi'])('<abcdefghi>'), '<[redacted]>');
  assert.equal(createRedact(() => ['abcd', 'abcdefgh'])('abcdefgh abcd'), '[redacted] [redacted]');
});

test('any text can be a secret, and redacting takes little time (10.5)', () => {
  const url = 'postgres://user:p%ss@host/db?x=%';
  const odd = secretsOf({
    args: [url, '\ud800', `${'"'.repeat(200_000)}x`],
    env: { A: 'half\ud800' },
    url: new URL(url),
    inserted: [],
  });
  const began = performance.now();
  const redact = createRedact(() => odd);
  assert.equal(redact('p%ss'), '[redacted]');
  assert.equal(redact('p%25ss'), '[redacted]');
  assert.equal(redact('<half\ud800>'), '<[redacted]>');
  const many = createRedact(() => Array.from({ length: 5000 }, (_, at) => `secret-number-${at}`));
  assert.equal(many(`${'x'.repeat(8000)} secret-number-4999`), `${'x'.repeat(8000)} [redacted]`);
  assert.ok(performance.now() - began < 5000);
});

test('arguments that were written into the command are as secret as in their place (10.18)', () => {
  const command = 'npx -y some-server --token s3cr3t https://me:passw0rd@host/a%2Fb%20c';
  const redact = createRedact(() => secretsOf({ command, inserted: [] }));
  assert.equal(
    redact(`"${command}" was not found; a/b c`),
    '"npx -y some-server --token [redacted] https://me:[redacted]@host/[redacted]" was not found; [redacted]',
  );
});
