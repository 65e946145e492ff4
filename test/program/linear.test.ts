/** What a text from outside costs to look at: time in proportion to its length, whatever is in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProfiles } from '../../src/methods/host-profiles.ts';
import { createList } from '../../src/methods/lists.ts';
import { createNameTable, LONGEST_SAFE_NAME } from '../../src/methods/spelling.ts';
import { MAX_CLIENT_TEXT } from '../../src/protocol/eras.ts';
import { clientOf, createDispatcher, createSession, legacyEra, modernEra } from '../../src/protocol/index.ts';
import { composed, oneLine, printable, shorten, visible, visibleLine, xml } from '../../src/text.ts';
import { createAccess } from '../../src/transports/http/access.ts';
import { accepts } from '../../src/transports/http/requests.ts';

// Quadratic time over this many characters is many seconds; linear time is a few milliseconds, some hundred at worst.
const LENGTH = 250_000;
const PATIENCE_MS = 3000;

/** Of the processor, not of the clock: other tests run beside this one. */
const spent = () => process.cpuUsage().user / 1000;

const HOSTILE: readonly string[] = [
  ' (via ',
  ' (via x) ',
  '[',
  '(((',
  ')',
  ' ',
  '\t\n',
  '-_ ',
  './',
  '../',
  'a:',
  ':',
  '=?base64?',
  ';q=0',
  'a/b;',
  'q=0.0,',
  '"utf-8',
  'bearer  ',
  '1.',
  '[0:',
  '&<>',
  '\u202e',
  '\u2028',
  '\ud83d',
  '\ud83d\ude00',
  '\u0000',
  '\udb40\udc41',
  '\u0301\u0323',
];
const ENDS = ['', '!', ')'];

const access = createAccess({ host: 'a', allowHosts: [], allowOrigins: [], token: 'secret' });
const auto = { names: 'auto', describe: 'auto', descriptionBudget: undefined, skipOwn: false } as const;
const swallow = (run: () => unknown) => {
  try {
    run();
  } catch {} // A refusal is an answer too.
};
const server = { name: 's', version: '1' };
const eras = [modernEra({ methods: [], notifications: [] }, server), legacyEra({ methods: [], notifications: [] })];
const handle = createDispatcher(eras, () => {});
const say = (message: object) =>
  void handle(
    createSession(() => {}),
    JSON.stringify({ jsonrpc: '2.0', ...message }),
    { reply() {}, notify() {} },
  );

const LOOKS: Readonly<Record<string, (text: string) => unknown>> = {
  'the name of a client': (name) => createProfiles(auto)({ name, version: '1' }),
  'a client of itself': (name) => clientOf({ name, version: name }),
  'a Host': (host) => access.check({ host }),
  'an Origin': (origin) => access.check({ host: 'a', origin: `http://${origin}` }),
  'a token': (text) => access.challenge({ authorization: `bearer ${text}` }),
  'an Accept': (accept) => accepts(accept, 'application/json'),
  'a cursor': (cursor) => swallow(() => createList('x', [], () => '', 1).page(cursor)),
  'every spelling of a name': (name) =>
    createNameTable('tool', new Map([[name, 1]]), [name]).find(name, LONGEST_SAFE_NAME),
  visible,
  visibleLine,
  composed,
  printable,
  oneLine,
  xml,
  shorten: (text) => shorten(oneLine(text), 100),
  'a method': (method) => say({ id: 1, method }),
  'an id': (id) => say({ id, method: 'x' }),
  'a version': (version) =>
    say({ id: 1, method: 'x', params: { _meta: { 'io.modelcontextprotocol/protocolVersion': version } } }),
};

for (const [what, look] of Object.entries(LOOKS)) {
  test(`a hostile text takes linear time: ${what} (10.3)`, () => {
    for (const part of HOSTILE) {
      for (const end of ENDS) {
        const text = part.repeat(LENGTH / part.length) + end;
        const start = spent();
        look(text);
        const ms = spent() - start;
        assert.ok(ms < PATIENCE_MS, `${JSON.stringify(part)} … ${JSON.stringify(end)}: ${ms} ms`);
      }
    }
  });
}

test('a bridge at the end of a client name is left out (10.3)', () => {
  const limit = (name: string) => createProfiles(auto)({ name, version: '1' }).nameLimit;
  assert.equal(limit('Claude-AI (via mcp-remote 0.1.29)'), LONGEST_SAFE_NAME);
  assert.equal(limit('claude-ai (via mcp-remote'), undefined);
});

test('a client that goes on too long about itself is a client of no name (10.3)', () => {
  const long = 'x'.repeat(MAX_CLIENT_TEXT + 1);
  assert.equal(clientOf({ name: long, version: '1' }), undefined);
  assert.deepEqual(clientOf({ name: 'a', version: long }), { name: 'a', version: '' });
});
