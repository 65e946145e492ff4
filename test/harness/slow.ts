/** The server in this process, over HTTP, with one tool that answers when the test says so. */
import type { TestContext } from 'node:test';
import { type Contribution, createSkillwire, type Listening, type Source, type Tool } from '../../src/index.ts';
import { SHUTDOWN } from '../../src/shutdown.ts';
import { LIMITS, type Limits } from '../../src/transports/http/limits.ts';
import { listen } from '../../src/transports/http/listener.ts';
import { createHttpEndpoint } from '../../src/transports/http/streamable.ts';
import { modern } from './program.ts';
import { createQueue } from './queue.ts';
import { makeTree } from './tree.ts';
import { type Ask, modernHeaders } from './web.ts';

interface SlowCall {
  readonly signal: AbortSignal;
  /** Says something before the answer. */
  notify(text: string): void;
  answer(text: string): void;
}

export interface SlowServer extends Listening {
  /** The next call of the tool, once it has come in. */
  called(): Promise<SlowCall>;
}

export async function startSlow(
  t: TestContext,
  { lastResponsesMs = SHUTDOWN.lastResponsesMs, ...limits }: Partial<Limits & { lastResponsesMs: number }> = {},
): Promise<SlowServer> {
  const calls = createQueue<SlowCall>('a call of the tool');
  const tool: Tool = {
    name: 'wait',
    description: 'Waits.',
    inputSchema: { type: 'object' },
    run: (_args, _snapshot, { signal, notify }) =>
      new Promise((done) => {
        calls.put({
          signal,
          notify: (message) => notify('notifications/progress', { progressToken: 1, progress: 1, message }),
          answer: (text) => done({ content: [{ type: 'text', text }] }),
        });
      }),
  };
  const contribution: Contribution = { tools: [tool] };
  const source: Source = { name: 'test', load: async () => contribution };
  const { path } = makeTree(t);
  const skillwire = createSkillwire({ cwd: path, home: path, sources: [source], autoRefresh: false });
  const listening = await listen(createHttpEndpoint, skillwire.handle, {
    host: '127.0.0.1',
    port: 0,
    allowHosts: [],
    allowOrigins: [],
    token: undefined,
    noAuth: false,
    limits: { ...LIMITS, ...limits },
    health: () => ({ state: 'ready' }),
    onFault: (error) => t.diagnostic(String(error)),
    lastResponsesMs,
    onLast: () => void skillwire.close(),
  });
  t.after(() => listening.close());
  return { ...listening, called: calls.take };
}

export const waitModern: Ask = {
  headers: modernHeaders('tools/call', 'wait'),
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: modern({ name: 'wait', arguments: {} }) },
};

export const waitLegacy = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait', arguments: {} } };
