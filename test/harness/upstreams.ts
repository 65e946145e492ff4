/**
 * Upstream servers in processes of their own that answer what a script says (test/fixtures/upstream.ts), the hub's source
 * in front of them, and requests of a client of ours.
 */
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { settingsFrom } from '../../src/config.ts';
import { createHubSource } from '../../src/hub/index.ts';

import { type Call, createSession, type Peer } from '../../src/protocol/index.ts';
import type { Script } from '../fixtures/upstream.ts';
import { eventually } from './connections.ts';
import type { Tree } from './tree.ts';

/** A program of test/fixtures, as an entry. */
export function fixture(name: string, ...args: readonly string[]) {
  const file = fileURLToPath(new URL(`../fixtures/${name}.js`, import.meta.url));
  return { command: process.execPath, args: [file, ...args] };
}

/** The server that does what a script says: with tools of its own unless the script has others. */
export const upstream = (script: Script = {}, journal = '') => fixture('upstream', JSON.stringify(script), journal);

/** A tool that takes nothing. */
export const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
/** A script that lists these tools. */
export const listing = (...names: string[]): Script => ({
  answers: { 'tools/list': { tools: names.map((name) => tool(name)) } },
});

/** The hub's source with these servers in the user's own file. */
export function startSource(t: TestContext, tree: Tree, servers: object) {
  const changes: string[] = [];
  const write = (next: object) => tree.write('home/.kode.json', JSON.stringify({ mcpServers: next }));
  write(servers);
  const source = createHubSource(settingsFrom({ cwd: tree.path, home: tree.at('home'), env: process.env }));
  source.onChange?.((reason) => void changes.push(reason));
  t.after(() => source.close?.());
  const isReady = (name: string) =>
    source.status?.().some((one) => one.name === name && one.state === 'ready') === true;
  return { changes, source, write, ready: (name: string) => eventually(() => isReady(name), `${name} is ready`) };
}

/** A request of a client, with what it is sent before the answer. */
export function callOf(params: object = {}, peer: Partial<Peer> = {}) {
  const cancel = new AbortController();
  const notified: (readonly [string, object])[] = [];
  const call: Call = {
    ...{ id: 1, params: { ...params }, session: createSession(() => {}), cancellation: () => cancel.signal },
    peer: { client: undefined, version: undefined, anyStructure: false, ...peer },
    notify: (method, sent) => void notified.push([method, sent]),
  };
  return { call, cancel: () => cancel.abort(), notified };
}
