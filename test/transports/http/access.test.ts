import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AccessOptions, createAccess, findAccessFault } from '../../../src/transports/http/access.ts';
import { MAX_PARAM_HEADERS } from '../../../src/transports/http/limits.ts';
import { upstream } from '../../harness/hub.ts';
import { makeTree } from '../../harness/tree.ts';
import { ask, initialize, startWeb } from '../../harness/web.ts';

const local: AccessOptions = { host: '127.0.0.1', allowHosts: [], allowOrigins: [], token: undefined };

const host = (name: string | undefined, options: Partial<AccessOptions> = {}) =>
  createAccess({ ...local, ...options }).check({ host: name }).kind;
const origin = (name: string, options: Partial<AccessOptions> = {}) =>
  createAccess({ ...local, ...options }).check({ host: 'localhost', origin: name }).kind;

test('a loopback server is reached by loopback names alone, with any port', () => {
  for (const name of ['localhost', 'LOCALHOST:3333', '127.0.0.1', '127.0.0.1:1', '[::1]', '[::1]:65535'])
    assert.equal(host(name), 'allowed', name);
  const refused = [
    undefined,
    '',
    'evil.example.com',
    'localhost.evil.com',
    'evil.com#localhost',
    'localhost@evil.com',
    'localhost:',
    'localhost:x',
    'localhost:123456',
    '::1',
    '192.168.0.7',
    '127.0.0.1.evil.com',
    'localhost, evil.com',
    ' localhost',
    'xn--lcalhost-54a',
  ];
  for (const name of refused) assert.equal(host(name), 'refused', String(name));
});

test('a server bound elsewhere is also reached by its own name and by address, which cannot be rebound', () => {
  const wide = { host: '0.0.0.0' };
  assert.equal(host('192.168.0.7:3333', wide), 'allowed');
  assert.equal(host('[fe80::1]:3333', wide), 'allowed');
  assert.equal(host('evil.example.com', wide), 'refused');
  assert.equal(host('box.local', { host: 'box.local' }), 'allowed');
  assert.equal(host('box.local', { ...wide, allowHosts: ['Box.Local'] }), 'allowed');
  assert.equal(host('[fd00::1]', { allowHosts: ['fd00::1'] }), 'allowed');
});

test('an origin that is an address is not allowed because addresses are', () => {
  assert.equal(origin('http://6.6.6.6', { host: '0.0.0.0' }), 'refused');
  assert.equal(origin('http://192.168.0.7', { host: '192.168.0.7' }), 'allowed');
});

test('an origin is allowed when its host is this server or when it is listed', () => {
  for (const name of ['http://localhost:6274', 'https://127.0.0.1', 'http://[::1]:1', 'HTTP://LocalHost'])
    assert.equal(origin(name), 'allowed', name);
  const refused = [
    'null',
    '',
    'http://evil.com',
    'http://localhost.evil.com',
    'http://localhost@evil.com',
    'http://localhost/',
    'http://localhost:80/x',
    'http://evil.com/localhost',
    'file://',
    'ftp://localhost',
    'localhost',
    'http://localhost http://evil.com',
    'chrome-extension://abc',
  ];
  for (const name of refused) assert.equal(origin(name), 'refused', name);
  const allowed = { allowOrigins: ['https://app.example.com', 'chrome-extension://abc'] };
  assert.equal(origin('https://app.example.com', allowed), 'allowed');
  assert.equal(origin('chrome-extension://abc', allowed), 'allowed');
  assert.equal(origin('http://app.example.com', allowed), 'refused');
  assert.equal(origin('https://app.example.com:8443', allowed), 'refused');
});

test('only the exact token is accepted', () => {
  const doors = createAccess({ ...local, token: 's3cret' });
  for (const right of ['Bearer s3cret', 'bearer s3cret', 'Bearer  s3cret '])
    assert.equal(doors.challenge({ authorization: right }), undefined, right);
  assert.equal(doors.challenge({}), 'Bearer realm="skillwire"');
  for (const wrong of ['Bearer s3cre', 'Bearer s3crett', 'Bearer S3CRET', 'Bearer s3cret x'])
    assert.match(doors.challenge({ authorization: wrong }) ?? '', /^Bearer/, wrong);
  assert.match(doors.challenge({ authorization: 'Bearer guess' }) ?? '', /error="invalid_token"/);
  assert.equal(doors.challenge({ authorization: 'Basic s3cret' }), 'Bearer realm="skillwire"');
});

test('a port that others can reach is not opened without a token', () => {
  const open = { host: '0.0.0.0', token: undefined, noAuth: false };
  for (const where of ['0.0.0.0', '::', '192.168.0.7', 'box.local', '127.evil.com'])
    assert.match(findAccessFault({ ...open, host: where }) ?? '', /SKILLWIRE_TOKEN/, where);
  for (const where of ['127.0.0.1', '127.1.2.3', '::1', 'localhost', 'LOCALHOST'])
    assert.equal(findAccessFault({ ...open, host: where }), undefined, where);
  assert.equal(findAccessFault({ ...open, noAuth: true }), undefined);
  assert.equal(findAccessFault({ ...open, token: 's3cret' }), undefined);
  assert.match(findAccessFault({ ...open, token: '' }) ?? '', /visible ASCII/);
  assert.match(findAccessFault({ ...open, token: 'a', noAuth: true }) ?? '', /contradict/);
});

test('access is checked before every path and verb', async (t) => {
  const { url, at } = await startWeb(t, { tree: makeTree(t), env: { SKILLWIRE_TOKEN: 's3cret' } });
  for (const path of ['/mcp', '/messages?sessionId=x', '/', '/healthz']) {
    for (const verb of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PUT']) {
      const evil = await ask(at(path), { verb, headers: { host: 'evil.example.com' } });
      assert.equal(evil.status, 403, `${verb} ${path}`);
      const page = await ask(at(path), { verb, headers: { origin: 'http://evil.example.com' } });
      assert.equal(page.status, 403, `${verb} ${path}`);
      assert.equal(page.headers['access-control-allow-origin'], undefined);
      if (path === '/healthz') continue;
      const bare = await ask(at(path), { verb });
      assert.equal(bare.status, 401, `${verb} ${path}`);
      assert.equal(bare.headers['www-authenticate'], 'Bearer realm="skillwire"');
    }
  }
  const headers = { authorization: 'Bearer s3cret', origin: new URL(url).origin };
  assert.equal((await ask(url, { headers, body: initialize() })).status, 200);
  const health = await ask(at('/healthz'));
  assert.doesNotMatch(health.text, /s3cret/);
});

test('a page of an allowed origin may ask first, without the token, and read the answers', async (t) => {
  const page = 'https://app.example.com';
  const { url } = await startWeb(t, {
    tree: makeTree(t),
    env: { SKILLWIRE_TOKEN: 's3cret' },
    args: ['--allow-origin', page],
  });
  const preflight = await ask(url, { verb: 'OPTIONS', headers: { origin: page } });
  assert.equal(preflight.status, 200);
  assert.equal(preflight.headers['access-control-allow-origin'], page);
  assert.match(String(preflight.headers['access-control-allow-headers']), /mcp-session-id/);
  assert.equal((await ask(url, { headers: { origin: page }, body: initialize() })).status, 401);
  const answer = await ask(url, { headers: { origin: page, authorization: 'Bearer s3cret' }, body: initialize() });
  assert.equal(answer.headers['access-control-allow-origin'], page);
  assert.match(String(answer.headers['access-control-expose-headers']), /mcp-session-id/);
  // A page on this machine passes the door, but nothing tells its browser to hand the answer over.
  const local = await ask(url, {
    headers: { origin: 'http://localhost:1', authorization: 'Bearer s3cret' },
    body: initialize(),
  });
  assert.deepEqual([local.status, local.headers['access-control-allow-origin']], [200, undefined]);
});

test('a preflight allows the headers that repeat arguments of a tool, by their shape and not without end (10.22)', async (t) => {
  const page = 'https://app.example.com';
  const { url } = await startWeb(t, { tree: makeTree(t), args: ['--allow-origin', page] });
  const allowed = async (asked: string) => {
    const headers = { origin: page, 'access-control-request-headers': asked };
    const reply = await ask(url, { verb: 'OPTIONS', headers });
    assert.equal(reply.status, 200);
    return String(reply.headers['access-control-allow-headers']).split(', ');
  };
  const names = await allowed('content-type, mcp-param-region,Mcp-Param-A.b ,x-evil, mcp-param-, mcp-param-a b');
  assert.deepEqual(names.slice(-2), ['mcp-param-region', 'Mcp-Param-A.b']);
  assert.ok(names.includes('mcp-session-id') && !names.includes('x-evil'));
  const many = Array.from({ length: 500 }, (_, at) => `mcp-param-${at}`).join(',');
  assert.equal((await allowed(many)).filter((name) => name.startsWith('mcp-param-')).length, MAX_PARAM_HEADERS);
});

test('why a server is down is told to those with the token, or on this machine where there is none (10.18)', async (t) => {
  const tree = makeTree(t);
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: { broken: upstream('stderr=last.words', 'exit=3') } }));
  const args = ['--hub', '--no-default-dirs', '--no-plugins'];
  const reasonOf = async (at: (path: string) => string, headers = {}) => {
    for (;;) {
      const { json, text } = await ask(at('/healthz'), { headers });
      const [one] = json.upstreams;
      if (one?.state === 'failed') {
        assert.equal(one.name, 'broken');
        assert.equal(one.tools, 0);
        return { reason: one.reason, text };
      }
      await new Promise((done) => setTimeout(done, 20)); // It is on its way.
    }
  };
  const open = await startWeb(t, { tree, args });
  assert.match((await reasonOf(open.at)).reason, /exited with code 3/);
  const locked = await startWeb(t, { tree, args, env: { SKILLWIRE_TOKEN: 's3cret' } });
  const shown = await reasonOf(locked.at);
  assert.equal(shown.reason, undefined);
  assert.doesNotMatch(shown.text, /last words|exited/);
  assert.equal((await reasonOf(locked.at, { authorization: 'Bearer wrong' })).reason, undefined);
  assert.match((await reasonOf(locked.at, { authorization: 'Bearer s3cret' })).reason, /exited with code 3/);
  const wide = await startWeb(t, { tree, args: [...args, '--host', '0.0.0.0', '--no-auth'] });
  assert.equal((await reasonOf((path) => wide.at(path).replace('0.0.0.0', '127.0.0.1'))).reason, undefined);
});
