import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SyntaxFault } from '../../src/files/scanner.ts';
import { parseToml } from '../../src/files/toml.ts';

const read = (text: string) => parseToml(text).value;

/** `line:column message` of the fault. */
function faultOf(text: string): string {
  try {
    parseToml(text);
  } catch (error) {
    assert.ok(error instanceof SyntaxFault, String(error));
    return `${error.line}:${error.column} ${error.message}`;
  }
  return assert.fail(`no fault in ${text}`);
}

test('the configuration of Codex is read as it is in the wild', () => {
  const text = `# mine
model = "gpt-5-codex" # a comment
approval_policy = 'on-request'
notify = ["notify-send", "done", ]

[projects."/home/a b/c.d"]
trust_level = "trusted"

[mcp_servers.files]
command = "npx"
args = [
  "-y", # why
  "server",
]
env = { TOKEN = "a\\tb", "X.Y" = 'c\\d' }
startup_timeout_sec = 10
tool_timeout_sec = 2.5
enabled = true
[mcp_servers.files.tools.read]
approval_mode = "approve"

[[hooks.stop]]
command = "one"
[[hooks.stop]]
command = "two"
`;
  assert.deepEqual(read(text), {
    model: 'gpt-5-codex',
    approval_policy: 'on-request',
    notify: ['notify-send', 'done'],
    projects: { '/home/a b/c.d': { trust_level: 'trusted' } },
    mcp_servers: {
      files: {
        command: 'npx',
        args: ['-y', 'server'],
        env: { TOKEN: 'a\tb', 'X.Y': 'c\\d' },
        startup_timeout_sec: 10,
        tool_timeout_sec: 2.5,
        enabled: true,
        tools: { read: { approval_mode: 'approve' } },
      },
    },
    hooks: { stop: [{ command: 'one' }, { command: 'two' }] },
  });
});

test('every kind of value is read', () => {
  const cases: readonly (readonly [text: string, value: unknown])[] = [
    ['"\\u00e9\\U0001F600\\"\\\\\\x41\\e"', 'é😀"\\A\u001b'],
    ["'C:\\Users'", 'C:\\Users'],
    ['""', ''],
    ['"""\nline 1\n  line 2"""', 'line 1\n  line 2'],
    ['"""a \\\n    b"""', 'a b'],
    ['"""a""b"""""', 'a""b""'],
    ["'''\nraw \\n'''", 'raw \\n'],
    ["''''quoted''''", "'quoted'"],
    ['+1_000', 1000],
    ['-17', -17],
    ['0xdead_beef', 0xdeadbeef],
    ['0o755', 0o755],
    ['0b1010', 10],
    ['3.14e-2', 0.0314],
    ['-inf', Number.NEGATIVE_INFINITY],
    ['+nan', Number.NaN],
    ['1979-05-27T07:32:00.5Z', '1979-05-27T07:32:00.5Z'],
    ['1979-05-27 07:32:00', '1979-05-27 07:32:00'],
    ['07:32:00', '07:32:00'],
    ['[]', []],
    ['[[1, 2], ["a"], {b = 1}]', [[1, 2], ['a'], { b: 1 }]],
    ['{ a.b = 1, a.c = { d = [] } }', { a: { b: 1, c: { d: [] } } }],
    ['{}', {}],
  ];
  for (const [text, value] of cases) assert.deepEqual(read(`key = ${text}\n`), { key: value }, text);
});

test('keys may be quoted, dotted and spaced, and are never the prototype', () => {
  assert.deepEqual(read('a . "b.c" . \'d\' = 1\na.e = 2\n[ x . "y" ]\n1 = 2'), {
    a: { 'b.c': { d: 1 }, e: 2 },
    x: { y: { 1: 2 } },
  });
  const polluted = read('[__proto__]\npolluted = 1\n[a]\n__proto__.b = 1');
  assert.deepEqual(Object.keys(polluted), ['__proto__', 'a']);
  assert.equal(Object.getPrototypeOf(polluted), Object.prototype);
  assert.equal(Object.hasOwn({}, 'polluted'), false);
});

test('a fault has a line, a column and a reason, and never quotes the text', () => {
  const cases: readonly (readonly [text: string, fault: string])[] = [
    ['a = 1\nb =', '2:4 expected a value'],
    ['a', '1:2 expected "="'],
    ['= 1', '1:1 expected a key'],
    ['a = 1 b = 2', '1:7 expected the end of the line'],
    ['[a\nb = 1', '1:3 expected "]"'],
    ['[[a]\nb = 1', '1:4 expected "]]"'],
    ['a = "b\nc"', '1:5 the text in quotes has no end'],
    ['a = """b', '1:5 the text in quotes has no end'],
    ["a = 'b", '1:5 the text in quotes has no end'],
    ['a = "\\q"', '1:5 the text in quotes has an escape that is not valid'],
    ['a = "\\uD8"', '1:5 the text in quotes has an escape that is not valid'],
    ['a = [1 2]', '1:8 expected "," or "]"'],
    ['a = {b = 1', '1:11 expected "," or "}"'],
    ['a = 01', '1:5 expected a value'],
    ['a = yes', '1:5 expected a value'],
    ['a = 1\na = 2', '2:1 this is defined twice'],
    ['[a]\n[a]', '2:1 this is defined twice'],
    ['[a]\nb = 1\n[a.b]', '3:1 this is defined twice'],
    ['[[a]]\n[a]', '2:1 this is defined twice'],
    ['a = []\n[[a]]', '2:1 this is defined twice'],
    ['a = {b = 1}\n[a.c]', '2:1 this is inside a value to which nothing can be added'],
    ['a = {b = 1}\na.c = 1', '2:1 this is inside a value to which nothing can be added'],
    ['a = 1\r\nb = \u0000', '2:5 this control character must be an escape'],
  ];
  for (const [text, fault] of cases) assert.equal(faultOf(text), fault, JSON.stringify(text));
  assert.doesNotMatch(faultOf('token = sk-secret'), /secret/);
});

test('nesting has a limit, so that the stack cannot overflow', () => {
  for (const text of [`a = ${'['.repeat(1e6)}`, `a = ${'{a='.repeat(1e6)}`, `[${'a.'.repeat(1e6)}a]`])
    assert.match(faultOf(text), /there are over 500 levels of nesting/);
});

test('the places of the statements are given', () => {
  const text = 'a.b = 1 # c\n[x]\n"y" = [\n  2,\n]\n[[z]]';
  const shown = parseToml(text).statements.map(({ kind, table, keys, start, end }) => [
    kind,
    table.join('.'),
    keys.join('.'),
    text.slice(start, end),
  ]);
  assert.deepEqual(shown, [
    ['pair', '', 'a.b', 'a.b = 1'],
    ['table', 'x', '', '[x]'],
    ['pair', 'x', 'y', '"y" = [\n  2,\n]'],
    ['list', 'z', '', '[[z]]'],
  ]);
});
