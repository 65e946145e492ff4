import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonc } from '../../src/files/jsonc.ts';
import { MAX_NESTING, SyntaxFault } from '../../src/files/scanner.ts';

/** `line:column message` of the fault. */
function faultOf(text: string, isStrict = false): string {
  try {
    parseJsonc(text, { isStrict });
  } catch (error) {
    assert.ok(error instanceof SyntaxFault, String(error));
    return `${error.line}:${error.column} ${error.message}`;
  }
  return assert.fail(`no fault in ${text}`);
}

test('plain JSON has the value that JSON.parse gives', () => {
  const texts = [
    '{}',
    '[]',
    ' {"a": [1, -2.5e+3, 0, true, false, null], "b": {"c": "d\\n\\u00e9\\ud83d\\ude00\\/"}} ',
    '"text"',
    '-0',
    '{"__proto__": {"x": 1}, "constructor": 2, "a": 1, "a": 2}',
    '\n\r\n\t[\r\n]\n',
  ];
  for (const text of texts) {
    assert.deepEqual(parseJsonc(text).value, JSON.parse(text), text);
    assert.deepEqual(parseJsonc(text, { isStrict: true }).value, JSON.parse(text), text);
  }
  assert.equal(Object.getPrototypeOf(parseJsonc('{"__proto__": null}').value), Object.prototype);
});

test('comments, trailing commas and a byte order mark are read past', () => {
  const text =
    '\ufeff// one\n{ /* two */ "a" /**/ : [1, 2, /* , */ ], // "b": 1\n "c": "// text /* */", }\n/* end */ // end';
  assert.deepEqual(parseJsonc(text).value, { a: [1, 2], c: '// text /* */' });
});

test('a fault has a line, a column and a reason, and never quotes the text', () => {
  const cases: readonly (readonly [text: string, fault: string])[] = [
    ['', '1:1 expected a value'],
    ['// only a comment\n', '2:1 expected a value'],
    ['{', '1:2 expected a key in double quotes or "}"'],
    ['{\n  "a": 1\n  "b": 2\n}', '3:3 expected "," or "}"'],
    ['{"a" 1}', '1:6 expected ":"'],
    ['{"a": }', '1:7 expected a value'],
    ['{"a": tru}', '1:7 expected a value'],
    ['{"a": 01}', '1:7 expected a value'],
    ['{"a": 1,,}', '1:9 expected a key in double quotes or "}"'],
    ["{'a': 1}", '1:2 expected a key in double quotes or "}"'],
    ['[1 2]', '1:4 expected "," or "]"'],
    ['[,]', '1:2 expected a value'],
    ['{} {}', '1:4 expected nothing more'],
    ['{"a": "b\n"}', '1:9 a line break or control character must be an escape here'],
    ['{"a": "b', '1:7 the text in quotes has no end'],
    ['{"a": "\\x"}', '1:7 the text in quotes has an escape that is not valid'],
    ['{"a": 1 /* no end }', '1:9 the comment has no end'],
    ['{"a": / }', '1:7 expected a value'],
    ['\ufeff{"a": x}', '1:7 expected a value'],
    ['{\r\n"a": x}', '2:6 expected a value'],
    ['{\r"a": x}', '2:6 expected a value'],
  ];
  for (const [text, fault] of cases) assert.equal(faultOf(text), fault, JSON.stringify(text));
  assert.doesNotMatch(faultOf('{"token": sk-secret}'), /secret/);
});

test('strictly, comments and trailing commas are faults', () => {
  assert.equal(faultOf('{\n  // note\n}', true), '2:3 a comment is not plain JSON');
  assert.equal(faultOf('{"a": 1,\n}', true), '1:8 a comma here is not plain JSON');
  assert.equal(faultOf('[1, ]', true), '1:3 a comma here is not plain JSON');
});

test('nesting has a limit, so that the stack cannot overflow', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  assert.ok(parseJsonc(deep(MAX_NESTING)));
  assert.match(faultOf(deep(1_000_000)), /^1:\d+ there are over 500 levels of nesting$/);
});

test('the places of the objects on a path are given, of equal keys the last', () => {
  const text = '{"a": {"x": 1}, "a": {"b": {"c": 2,}}, "d": {"b": 3}}';
  const { objects } = parseJsonc(text, { path: ['a', 'b'] });
  const shown = objects.map(({ start, end, members }) => ({
    text: text.slice(start, end + 1),
    members: members.map((member) => [
      member.key,
      text.slice(member.start, member.end),
      text.slice(member.valueStart, member.end),
      member.comma === undefined ? '' : text.charAt(member.comma),
    ]),
  }));
  assert.deepEqual(shown, [
    {
      text,
      members: [
        ['a', '"a": {"x": 1}', '{"x": 1}', ','],
        ['a', '"a": {"b": {"c": 2,}}', '{"b": {"c": 2,}}', ','],
        ['d', '"d": {"b": 3}', '{"b": 3}', ''],
      ],
    },
    { text: '{"b": {"c": 2,}}', members: [['b', '"b": {"c": 2,}', '{"c": 2,}', '']] },
    { text: '{"c": 2,}', members: [['c', '"c": 2', '2', ',']] },
  ]);
  assert.deepEqual(parseJsonc('{"a": 1, "a": []}', { path: ['a', 'b'] }).objects.length, 1);
  assert.deepEqual(parseJsonc('[{"a": {}}]', { path: ['a'] }).objects, []);
});
