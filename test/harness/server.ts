/** A server in this process over a temporary tree, and a client of both eras on its dispatcher. */
import type { TestContext } from 'node:test';
import { type SkillwireOptions, settingsFrom } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { Contribution } from '../../src/model.ts';
import { createSession, type Dispatcher, type EncodedReply, META, MODERN_VERSIONS } from '../../src/protocol/index.ts';
import { createServer } from '../../src/server.ts';
import { makeTree } from './tree.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer is what it asserts.
export type Answer = any;
type Ask = (method: string, params?: object) => Promise<Answer>;

/** A session on a dispatcher. Requests have the numbers from 1 on as their ids. */
export function createPeer(dispatcher: Dispatcher) {
  const received: Answer[] = [];
  const take = (message: string | EncodedReply) => void received.push(JSON.parse(String(message)));
  const session = createSession(take);
  let id = 0;
  const sendRaw = (message: unknown, turn?: Promise<void>, reply = take) =>
    dispatcher.answer(dispatcher.read(JSON.stringify(message)), session, { reply, notify: take, turn });
  const send = (message: object) => sendRaw({ jsonrpc: '2.0', ...message });
  const ask: Ask = async (method, params = {}) => {
    const own = ++id;
    await send({ id: own, method, params });
    return received.find((message) => message.id === own);
  };
  const modern: Ask = (method, params) => ask(method, modernParams(params));
  const shakeHands = async (name = 'test', version = '2025-11-25') => {
    const answer = await ask('initialize', { protocolVersion: version, clientInfo: { name, version: '1' } });
    await send({ method: 'notifications/initialized' });
    return answer;
  };
  return { session, received, sendRaw, send, ask, modern, shakeHands, eras: [ask, modern] };
}

/** What a client of that name sends without a handshake. */
export function modernParams(params: object = {}, name = 'test'): object {
  const client = { [META.client]: { name, version: '1' } };
  return { ...params, _meta: { [META.version]: MODERN_VERSIONS[0], [META.capabilities]: {}, ...client } };
}

/** `files`: of the project, whose home is its directory `home`. `more`: what another source has. */
export function startServer(
  t: TestContext,
  files: Readonly<Record<string, string>> = {},
  options: SkillwireOptions = {},
  more: Contribution | (() => Contribution) = {},
) {
  const tree = makeTree(t, files);
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line), 'debug');
  const settings = settingsFrom({ cwd: tree.path, home: tree.at('home'), autoRefresh: false, log, ...options });
  const server = createServer(settings, [
    { name: 'test', load: async () => (typeof more === 'function' ? more() : more) },
  ]);
  t.after(() => {
    server.stop();
    return server.close();
  });
  return { tree, lines, server, refresh: server.registry.refresh, ...createPeer(server.dispatcher) };
}
