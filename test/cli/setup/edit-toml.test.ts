import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removeTable, setTable } from '../../../src/cli/setup/edit-toml.ts';
import { parseToml } from '../../../src/files/toml.ts';

const PATH = ['mcp_servers', 'me'];
const ENTRY = { command: 'npx', args: ['-y', 'x'] };
const TABLE = '[mcp_servers.me]\ncommand = "npx"\nargs = ["-y", "x"]\n';

test('a table is added at the end, and removing it gives the same bytes back', () => {
  for (const before of ['model = "x" # mine\n', '[mcp_servers.other]\ncommand = "y"\n', '# only a comment\n']) {
    assert.equal(setTable(before, PATH, ENTRY), `${before}\n${TABLE}`);
    assert.equal(removeTable(`${before}\n${TABLE}`, PATH), before);
  }
  assert.equal(setTable('', PATH, ENTRY), TABLE);
  assert.equal(removeTable(TABLE, PATH), '');
  assert.equal(setTable('a = 1', PATH, ENTRY), `a = 1\n\n${TABLE}`);
  const windows = 'a = 1\r\n';
  assert.equal(setTable(windows, PATH, ENTRY), `${windows}\r\n${TABLE.replaceAll('\n', '\r\n')}`);
  assert.equal(removeTable(setTable(windows, PATH, ENTRY), PATH), windows);
});

test('in a table that is there only the keys that differ change', () => {
  const before = `a = 1

[mcp_servers.me] # mine
command = "old" # keep this
url = "http://old" # goes
startup_timeout_sec = 20
[mcp_servers.me.env]
A = "b"

[next]
`;
  const entry = { ...ENTRY, startup_timeout_sec: 20, env: { A: 'b' } };
  const after = setTable(before, PATH, entry);
  assert.equal(
    after,
    `a = 1

[mcp_servers.me] # mine
args = ["-y", "x"]
command = "npx" # keep this
startup_timeout_sec = 20
[mcp_servers.me.env]
A = "b"

[next]
`,
  );
  assert.equal(setTable(after, PATH, entry), after);
  assert.equal(removeTable(after, PATH), 'a = 1\n\n[next]\n');
});

test('any text is a valid value', () => {
  const odd = 'C:\\a "b" \u007f \u0001 \u2028 é 😀 \n';
  const text = setTable('', ['a b', 'c"d'], { __proto__x: odd, args: [odd, ''] });
  assert.deepEqual(parseToml(text).value, { 'a b': { 'c"d': { __proto__x: odd, args: [odd, ''] } } });
});

test('an entry in another form is not changed, and the fault says where', () => {
  const cases: readonly (readonly [text: string, line: number, column: number])[] = [
    ['a = 1\nmcp_servers = { me = { command = "x" } }', 2, 1],
    ['mcp_servers = {}', 1, 1],
    ['[mcp_servers]\nme = { command = "x" }', 2, 1],
    ['[mcp_servers]\nme.command = "x"', 2, 1],
    ['  mcp_servers.me.command = "x"', 1, 3],
    ['[[mcp_servers.me]]\ncommand = "x"', 1, 1],
  ];
  for (const [text, line, column] of cases) {
    assert.throws(() => setTable(text, PATH, ENTRY), { name: 'SyntaxFault', line, column }, text);
    assert.throws(() => removeTable(text, PATH), { name: 'SyntaxFault', line, column }, text);
  }
  // Beside such forms of other servers a table can stand.
  for (const text of ['mcp_servers.other.command = "y"\n', '[mcp_servers]\nother = { command = "y" }\n']) {
    const after = setTable(text, PATH, ENTRY);
    assert.deepEqual(parseToml(after).value, { mcp_servers: { other: { command: 'y' }, me: ENTRY } });
    assert.equal(removeTable(after, PATH), text);
  }
  const dotted = '[mcp_servers.me]\ncommand.x = 1\n';
  assert.throws(() => setTable(dotted, PATH, ENTRY), { name: 'SyntaxFault', line: 1, column: 1 });
});
