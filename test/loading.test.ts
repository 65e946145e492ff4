import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRegistry } from '../src/catalog/registry.ts';
import { settingsFrom } from '../src/config.ts';
import { createLoading } from '../src/loading.ts';
import { createPeer } from './harness/peer.ts';
import { modern } from './harness/program.ts';

const UNKNOWN = -32601;
const FAULT = -32603;

test('a method is known by its name before it is loaded, and every method that is loaded can be called', async () => {
  const settings = settingsFrom({ scanDefaultDirs: false, skipPlugins: true });
  const faults: unknown[] = [];
  const report = (what: string) => (error: unknown) => void faults.push(`${what}: ${error}`);
  const { handle, loadAll, tools } = createLoading(settings, [], createRegistry([], settings), report);
  const service = await loadAll();
  service.stop();
  const names = new Set([...(tools()?.methods ?? []), ...service.methods].map(({ name }) => name));
  assert.equal(names.size, 14);
  for (const name of names) {
    const answers = [createPeer(handle).request(name, {}), createPeer(handle).request(name, modern())];
    const codes = (await Promise.all(answers)).map(({ error }) => error?.code);
    assert.ok(!codes.every((code) => code === UNKNOWN), `${name} is in no table`);
    assert.ok(!codes.includes(FAULT), `${name} is in a table, but was not loaded`);
  }
  assert.deepEqual(faults, []);
});

test('without prompts their methods do not exist', async () => {
  const settings = settingsFrom({ scanDefaultDirs: false, skipPlugins: true, prompts: false });
  const { handle, loadAll } = createLoading(settings, [], createRegistry([], settings), () => () => {});
  for (const name of ['prompts/list', 'prompts/get'])
    assert.equal((await createPeer(handle).request(name, {})).error?.code, UNKNOWN);
  (await loadAll()).stop();
});
