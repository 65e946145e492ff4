import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withEntry, withoutEntry } from '../../../src/cli/setup/client-entry.ts';
import { parseJsonc } from '../../../src/files/jsonc.ts';

const JSONC = { format: 'jsonc', servers: 'mcpServers' } as const;
const TOML = { format: 'toml', servers: 'mcp_servers' } as const;
const ENTRY = { command: 'node', args: ['x.cjs'] };

/** Texts to which an entry is added, each by its format. */
const TEXTS = [
  [JSONC, '{}'],
  [JSONC, '{ }\n'],
  [JSONC, '{"mcpServers":{ }}'],
  [JSONC, '{\n  "mcpServers": {\n  }\n}'],
  [JSONC, '{\r\n\t// note\r\n\t"a": 1, // why\r\n}\r\n'],
  [JSONC, '\ufeff{\n    "mcpServers": { "b": {} },\n}'],
  [JSONC, '\n\n'],
  [TOML, 'a = 1'],
  [TOML, 'a = 1\n\n\n'],
  [TOML, '\ufeff# note'],
  [TOML, '[mcp_servers]\n'],
] as const;

test('with the backup, removing gives back every byte of the text that the entry was added to', () => {
  for (const [place, text] of TEXTS) {
    const after = withEntry(place, text, ENTRY);
    assert.notEqual(after, text);
    assert.equal(withEntry(place, after, ENTRY), after);
    assert.equal(withoutEntry(place, after, text), text, JSON.stringify(text));
  }
});

test('an entry in a file of its own leaves no file', () => {
  for (const place of [JSONC, TOML])
    assert.equal(withoutEntry(place, withEntry(place, '', ENTRY), undefined), undefined);
});

test('without the backup, or when the file has changed since, only the entry goes', () => {
  const text = withEntry(JSONC, '{\n  "a": 1\n}', ENTRY).replace('"a": 1', '"a": 2');
  for (const backup of [undefined, '{\n  "a": 1\n}', '{ broken', '']) {
    assert.equal(withoutEntry(JSONC, text, backup), '{\n  "a": 2,\n  "mcpServers": {}\n}');
  }
  // A backup that has an entry is not what there was before.
  const old = withEntry(JSONC, '{\n  "a": 1\n}', { command: 'old' });
  assert.deepEqual(parseJsonc(withoutEntry(JSONC, withEntry(JSONC, old, ENTRY), old) ?? '').value, {
    a: 1,
    mcpServers: {},
  });
  assert.equal(withoutEntry(JSONC, '{"a": 1}', undefined), '{"a": 1}');
  assert.equal(withoutEntry(TOML, 'a = 1', 'b = 1'), 'a = 1');
});

test('the only server of a TOML file is taken out wherever it is, and the file ends with a line break as before', () => {
  const tables = ['[mcp_servers.skillwire]\ncommand = "old"\n', '[mcp_servers.skillwire.env]\nA = "b"\n'];
  const entries = [tables[0], tables.join(''), tables.join('\n')];
  for (const before of ['model = "x"\n', 'model = "x"\n\n', '[mcp_servers]\n', '[mcp_servers.b]\ncommand = "y"\n']) {
    for (const entry of entries) {
      for (const behind of ['', '[tui]\n', '\n[tui]\na = 1\n', '# note\n'])
        assert.equal(withoutEntry(TOML, `${before}\n${entry}${behind}`, undefined), before + behind);
    }
  }
  const written = `${withEntry(TOML, 'model = "x"\n', ENTRY)}[tui]\n`;
  assert.equal(withoutEntry(TOML, written, 'model = "x"\n'), 'model = "x"\n[tui]\n');
});

test('an entry that differs is replaced, but keys that are not ours stay', () => {
  const http = withEntry(
    JSONC,
    '{"mcpServers": {"skillwire": {"url": "http://h", "headers": {}, "env": {"A": "b"}}}}',
    ENTRY,
  );
  assert.deepEqual(parseJsonc(http).value, { mcpServers: { skillwire: { ...ENTRY, env: { A: 'b' } } } });
  assert.equal(withEntry(JSONC, http, ENTRY), http);
  const toml = '[mcp_servers.skillwire]\nurl = "http://h"\nenabled = true\ntool_timeout_sec = 9\n';
  assert.equal(
    withEntry(TOML, toml, ENTRY),
    '[mcp_servers.skillwire]\ncommand = "node"\nargs = ["x.cjs"]\ntool_timeout_sec = 9\n',
  );
});

test('in a JSON entry only the members that differ change, and comments stay', () => {
  const cases: readonly (readonly [before: string, after: string])[] = [
    [
      '{"mcpServers": {"skillwire": {"command":"old","myown":1 /* keep */}}}',
      '{"mcpServers": {"skillwire": {"command":"node","myown":1, "args": ["x.cjs"] /* keep */}}}',
    ],
    [
      '{"mcpServers": {\n  "skillwire": { // mine\n    "command": "node", "args": [ "x.cjs" ], // same\n    "url": "old",\n    "env": {\n      // why\n      "A":"b" } } } }',
      '{"mcpServers": {\n  "skillwire": { // mine\n    "command": "node", "args": [ "x.cjs" ], // same\n    "env": {\n      // why\n      "A":"b" } } } }',
    ],
    [
      '{"mcpServers": {"skillwire": {"url": "old" /* keep */}}}',
      '{"mcpServers": {"skillwire": {"command": "node", "args": ["x.cjs"] /* keep */}}}',
    ],
    ['{"mcpServers": {"skillwire": null}}', '{"mcpServers": {"skillwire": {"command":"node","args":["x.cjs"]}}}'],
  ];
  for (const [before, after] of cases) assert.equal(withEntry(JSONC, before, ENTRY), after);
});

test('a text that cannot be changed in one place is left alone', () => {
  const twice = '{"mcpServers": {"skillwire": {}, "skillwire": {}}}';
  assert.throws(() => withoutEntry(JSONC, twice, undefined), /written in a form that setup cannot edit/);
  for (const text of ['[]', 'null', '{"mcpServers": 1}', '{"mcpServers": {}', '{ x }'])
    assert.throws(() => withEntry(JSONC, text, ENTRY), { name: 'SyntaxFault' }, text);
});

test('comments and trailing commas are refused for a client that cannot read them', () => {
  const place = { format: 'json', servers: 'mcpServers' } as const;
  assert.throws(() => withEntry(place, '{\n  // note\n}', ENTRY), { name: 'SyntaxFault', line: 2, column: 3 });
  assert.throws(() => withEntry(place, '{"a": 1,}', ENTRY), { name: 'SyntaxFault', line: 1, column: 8 });
});
