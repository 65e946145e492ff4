/** Which generation of MCP a server speaks, and what each adds to messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '../../src/hub/connection.ts';
import { type Ask, agree } from '../../src/hub/dialects.ts';
import { SILENCE_MS } from '../../src/limits.ts';
import { META, type Params, RpcError } from '../../src/protocol/index.ts';
import { mockTimers } from '../harness/timers.ts';

const US = { name: 'us', version: '1' };
const MODERN = { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true }, prompts: {} } };
const LATER = { ...MODERN, supportedVersions: ['2099-01-01'] };
const legacy = (version: string) => ({ protocolVersion: version, serverInfo: { name: 'l\u200b', version: '2' } });
const OLD = legacy('2025-11-25');
const UNKNOWN = new RpcError(-32601, 'unknown');
const GONE = new UpstreamError('gone');
const refusal = (...supported: string[]) => new RpcError(-32022, 'not this one', { supported });

type Answer = Params | Error | (() => Promise<Params>);
const after = (ms: number, answer: Params) => () => new Promise<Params>((done) => void setTimeout(done, ms, answer));
const LATE = after(SILENCE_MS + 1000, MODERN);

/** Answers `server/discover` and `initialize` in turn as told; without an answer, never. `open`: those without an answer. */
function serverOf(discovers: readonly Answer[], initialized?: Answer) {
  const asked: string[] = [];
  const left = [...discovers];
  const open = new Set<unknown>();
  const ask: Ask = (_dialect, method, _params, signal) => {
    asked.push(method === 'initialize' ? 'I' : 'D');
    const given = method === 'initialize' ? initialized : left.shift();
    const answer = new Promise<Params>((done, fail) => {
      if (given instanceof Error) fail(given);
      else if (given) done(typeof given === 'function' ? given() : given);
      signal.addEventListener('abort', () => fail(new Error('dropped')));
    });
    open.add(answer);
    return answer.finally(() => open.delete(answer));
  };
  return { ask, asked, open };
}

const rows: readonly [what: string, discovers: Answer[], init: Answer | undefined, agreed: string, asked: string][] = [
  ['a modern server is asked once', [MODERN], undefined, '2026-07-28', 'D'],
  ['any error means initialize', [UNKNOWN], legacy('2024-11-05'), '2024-11-05', 'DI'],
  ['silence does too', [], OLD, '2025-11-25', 'DI'],
  ['so does an answer without a version of ours', [LATER], OLD, '2025-11-25', 'DI'],
  ['a refusal that names ours: again', [refusal('2026-07-28', 'x'), MODERN], undefined, '2026-07-28', 'DD'],
  ['of two late answers the later: SDK servers speak so', [LATE], after(1500, OLD), '2025-11-25', 'DI'],
  ['a late first answer counts when the second is an error', [LATE], UNKNOWN, '2026-07-28', 'DI'],
  ['the error is that of the last handshake', [UNKNOWN], GONE, 'UpstreamError: gone', 'DI'],
];
for (const [what, discovers, initialized, agreed, asked] of rows)
  test(`handshake: ${what}`, async (t) => {
    mockTimers(t, 'setTimeout');
    const server = serverOf(discovers, initialized);
    let outcome = '';
    const done = agree(server.ask, US, false).then(({ version }) => version, String);
    void done.then((text) => (outcome = text));
    // Lets promises settle between two steps of the clock.
    for (let step = 0; step < 100 && outcome === ''; step++) {
      await new Promise((done) => setImmediate(done));
      t.mock.timers.tick(500);
    }
    await new Promise((done) => setImmediate(done));
    assert.deepEqual([outcome, server.asked.join(''), server.open.size], [agreed, asked, 0]);
  });

test('each dialect adds to requests what its servers need, and removes what the other one has', async () => {
  const discovered = { ...MODERN, _meta: { [META.server]: { name: 'm', version: '3' } } };
  const { ask, asked } = serverOf([discovered], OLD);
  const { dialect: modern, server, announced } = await agree(ask, US, false);
  assert.deepEqual([server, announced], [{ name: 'm', version: '3' }, ['tools']]);
  // A server that is known to be legacy is sent nothing else.
  const { dialect: old, ...agreed } = await agree(ask, US, true);
  const introduced = { name: 'l', version: '2' };
  assert.deepEqual(agreed, { version: '2025-11-25', server: introduced, capabilities: {}, announced: [] });
  assert.deepEqual(asked, ['D', 'I']);
  const own = { [META.version]: '2026-07-28', [META.client]: US, [META.capabilities]: {} };
  const params = { name: 'ä', _meta: { own: 1, [META.client]: { name: 'theirs', version: '9' } } };
  assert.deepEqual(modern.seal(params), { name: 'ä', _meta: { own: 1, ...own } });
  assert.deepEqual(old.seal(params), { name: 'ä', _meta: { own: 1 } });
  assert.equal(JSON.stringify(old.seal({ _meta: { [META.version]: 'x' } })), '{}');
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': '=?base64?w6Q=?=' };
  assert.deepEqual(modern.headers('tools/call', params, { 'Mcp-Param-A': '1' }), { 'Mcp-Param-A': '1', ...headers });
  assert.deepEqual(old.headers('tools/call', params, { 'Mcp-Param-A': '1' }), {});
  const stamp = { resultType: 'complete', _meta: { [META.server]: US, own: 1 } };
  assert.deepEqual(modern.unseal({ content: [], ...stamp }), { content: [], _meta: { own: 1 } });
  assert.throws(() => modern.unseal({ resultType: 'input_required' }), /asks for input, which is not passed on here/);
});
