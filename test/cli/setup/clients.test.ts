import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLIENTS, ENTRY_KEYS } from '../../../src/cli/setup/clients.ts';
import { HOSTS } from '../../../src/hub/config/hosts.ts';

test('it is known where every client keeps its files', () => {
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).toSorted();
  assert.deepEqual(names(CLIENTS), names(HOSTS));
});

test('every key of an entry counts as ours, and a token is only ever named', () => {
  for (const { name, stdio, http, takesNoVariables } of CLIENTS) {
    const entries = [stdio('node', ['x']), ...(http ? [http('http://h/', true), http('http://h/', false)] : [])];
    for (const key of entries.flatMap(Object.keys)) assert.ok(ENTRY_KEYS.includes(key), `${name}: ${key}`);
    const names = entries.map((entry) => JSON.stringify(entry).includes('SKILLWIRE_TOKEN'));
    assert.deepEqual(names, http ? [false, !takesNoVariables, false] : [false], name);
  }
});
