import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AccessOptions, createAccess } from '../../../src/transports/http/access.ts';

const local: AccessOptions = { host: '127.0.0.1', allowHosts: [], allowOrigins: [], noAuth: true };
const wide = { host: '0.0.0.0' };
const pages = { allowOrigins: ['https://app.example.com', 'chrome-extension://abc'] };

/** What it is, the options, the header, its values (blanks between them), and whether they are allowed. */
const NAMES: readonly (readonly [string, Partial<AccessOptions>, 'host' | 'origin', string, boolean])[] = [
  ['a loopback name', {}, 'host', 'localhost LOCALHOST:3333 127.0.0.1 127.0.0.1:1 [::1] [::1]:65535', true],
  ['a foreign name', {}, 'host', 'localhost.evil.com evil-localhost evil.com#localhost localhost@evil.com', false],
  ['an address', {}, 'host', '192.168.0.7 127.0.0.1.evil.com ::1', false],
  ['a malformed name', {}, 'host', 'localhost: localhost:x localhost:123456 localhost,evil.com', false],
  ['an address, which cannot be rebound, elsewhere', wide, 'host', '192.168.0.7:3333 [fe80::1]:3333', true],
  ['a foreign name elsewhere', wide, 'host', 'evil.com box.local', false],
  ['the name that it listens on', { host: 'box.local' }, 'host', 'Box.Local:80', true],
  ['further names', { allowHosts: ['Box.Local', 'fd00::1'] }, 'host', 'box.local [fd00::1]', true],
  ['a local page', {}, 'origin', 'http://localhost:6274 https://127.0.0.1 http://[::1]:1 HTTP://LocalHost', true],
  ['a foreign page', pages, 'origin', 'null http://evil.com http://localhost.evil.com http://evil-localhost', false],
  ['a malformed page', {}, 'origin', 'http://localhost/ http://evil.com/localhost http://l@evil.com ftp://l', false],
  ['a page with another port', pages, 'origin', 'http://app.example.com https://app.example.com:8443', false],
  ['a page that was named', pages, 'origin', 'https://app.example.com chrome-extension://abc', true],
  ['a page at an address', wide, 'origin', 'http://6.6.6.6', false],
];

test('Host and Origin are compared whole', () => {
  for (const [what, options, header, values, isAllowed] of NAMES) {
    const { checkNames } = createAccess({ ...local, ...options });
    for (const value of values.split(' ')) {
      const check = () => checkNames({ host: 'localhost', [header]: value });
      if (isAllowed) assert.doesNotThrow(check, `${what}: ${value}`);
      else assert.throws(check, { status: 403 }, `${what}: ${value}`);
    }
  }
  assert.throws(() => createAccess(local).checkNames({}), { status: 403 });
});

test('only a page of an allowed origin may read the response, and it may send every header that it asks for', () => {
  const { checkNames } = createAccess({ ...local, ...pages });
  const asked = { 'access-control-request-headers': 'mcp-session-id, mcp-param-region' };
  const cors = checkNames({ host: 'localhost', origin: 'https://app.example.com', ...asked });
  assert.equal(cors?.get('access-control-allow-headers'), 'mcp-session-id, mcp-param-region');
  assert.match(cors?.get('access-control-expose-headers') ?? '', /mcp-session-id/);
  assert.equal(checkNames({ host: 'localhost', origin: 'http://localhost:1' }), undefined);
});

test('only the exact token is accepted', () => {
  const { checkToken } = createAccess({ ...local, noAuth: false, token: 's3cret' });
  for (const authorization of ['Bearer s3cret', 'bearer s3cret', 'Bearer  s3cret ']) checkToken({ authorization });
  for (const wrong of '|s3cret|Basic s3cret|Bearer s3cre|Bearer s3crett|Bearer S3CRET|Bearer s3cret x'.split('|'))
    assert.throws(() => checkToken({ authorization: wrong }), { status: 401 }, wrong);
  createAccess(local).checkToken({});
});

test('a port that others can reach is not opened without a token', () => {
  const open = (options: Partial<AccessOptions>) => () => createAccess({ ...local, noAuth: false, ...options });
  for (const host of ['0.0.0.0', '::', '192.168.0.7', 'box.local', '127.evil.com'])
    assert.throws(open({ host }), /lets others in: set SKILLWIRE_TOKEN/, host);
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost', 'LOCALHOST']) assert.doesNotThrow(open({ host }));
  for (const more of [{ noAuth: true }, { token: 's3cret' }]) assert.doesNotThrow(open({ ...wide, ...more }));
  for (const token of ['', 'two words', 'é']) assert.throws(open({ ...wide, token }), /visible ASCII/, token);
});
