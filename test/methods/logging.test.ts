import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLevelMethod } from '../../src/methods/logging.ts';
import type { LogMessage, Source } from '../../src/model.ts';
import { type Call, createSession, type LogLevel } from '../../src/protocol/index.ts';
import { modern, startProgram } from '../harness/program.ts';
import { makeTree } from '../harness/tree.ts';

test('a legacy client can set a level; a modern one has no such method, and a wrong level is refused in both', async (t) => {
  const program = startProgram(t, { tree: makeTree(t) });
  const { result } = await program.handshake();
  assert.deepEqual(result.capabilities.logging, {});
  assert.deepEqual((await program.request('logging/setLevel', { level: 'debug' })).result, {});
  for (const level of ['warn', 3, undefined])
    assert.equal((await program.request('logging/setLevel', { level })).error.code, -32602);
  assert.deepEqual((await program.request('server/discover', modern())).result.capabilities.logging, {});
  assert.equal((await program.request('logging/setLevel', modern({ level: 'debug' }))).error.code, -32601);
  const { _meta, ...params } = modern({ name: 'skills.list', arguments: {} });
  const call = (logLevel: unknown) =>
    program.request('tools/call', {
      ...params,
      _meta: { ...(_meta as object), 'io.modelcontextprotocol/logLevel': logLevel },
    });
  assert.ok((await call('debug')).result);
  for (const level of ['warn', 3, null]) assert.equal((await call(level)).error.code, -32602);
});

test('each session gets what it asked for, sources are told the most verbose level, and an ended session counts no more', () => {
  const asked: (LogLevel | undefined)[] = [];
  let say = (_message: LogMessage) => {};
  const source = {
    followLog(level, send) {
      asked.push(level);
      say = send;
    },
  } as Pick<Source, 'followLog'> as Source;
  const { run } = setLevelMethod([source, {} as Source]);
  const open = (level: string) => {
    const got: string[] = [];
    const session = createSession((text) => void got.push(JSON.parse(text).params.data));
    run({ level }, { session } as Call);
    return { session, got };
  };
  const [loud, quiet] = [open('info'), open('error')];
  assert.deepEqual(asked, ['info', 'info']);
  for (const level of ['debug', 'info', 'error', 'emergency'] as const) say({ level, logger: 'up', data: level });
  assert.deepEqual(loud.got, ['info', 'error', 'emergency']);
  assert.deepEqual(quiet.got, ['error', 'emergency']);
  loud.session.end();
  say({ level: 'alert', logger: 'up', data: 'later' });
  assert.deepEqual([loud.got.length, quiet.got.at(-1)], [3, 'later']);
  quiet.session.end();
  assert.deepEqual(asked, ['info', 'info', 'error', undefined]);
});
