import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removeMember, setMember } from '../../../src/cli/setup/edit-json.ts';
import { parseJsonc } from '../../../src/files/jsonc.ts';

const PATH = ['servers', 'me'];
const set = (text: string) => setMember(text, PATH, { run: 'x' });
const remove = (text: string) => removeMember(text, PATH);

test('a member is added in the style of the file, and removing it gives the same bytes back', () => {
  const cases: readonly (readonly [what: string, before: string, after: string])[] = [
    [
      'beside another',
      '{\n  "servers": {\n    "other": {}\n  },\n  "z": 1\n}\n',
      '{\n  "servers": {\n    "other": {},\n    "me": {\n      "run": "x"\n    }\n  },\n  "z": 1\n}\n',
    ],
    [
      'with tabs and CRLF',
      '{\r\n\t"servers": {\r\n\t\t"other": 1\r\n\t}\r\n}',
      '{\r\n\t"servers": {\r\n\t\t"other": 1,\r\n\t\t"me": {\r\n\t\t\t"run": "x"\r\n\t\t}\r\n\t}\r\n}',
    ],
    [
      'behind a trailing comma and a comment',
      '{\n  "servers": {\n    "other": 1, // mine\n    // end\n  }\n}',
      '{\n  "servers": {\n    "other": 1, // mine\n    "me": {\n      "run": "x"\n    },\n    // end\n  }\n}',
    ],
    [
      'behind a comment without a comma',
      '{\n  "servers": {\n    "other": 1 /* a */ // mine\n  }\n}',
      '{\n  "servers": {\n    "other": 1, /* a */ // mine\n    "me": {\n      "run": "x"\n    }\n  }\n}',
    ],
    [
      'with four spaces, a comment first and a byte order mark',
      '\ufeff// head\n{\n    // first\n    "servers": {\n        "other": [1, 2]\n    }\n}\n',
      '\ufeff// head\n{\n    // first\n    "servers": {\n        "other": [1, 2],\n        "me": {\n            "run": "x"\n        }\n    }\n}\n',
    ],
    [
      'into an empty object',
      '{\n  "servers": {}\n}\n',
      '{\n  "servers": {\n    "me": {\n      "run": "x"\n    }\n  }\n}\n',
    ],
    ['on one line', '{"servers":{"other":1}}', '{"servers":{"other":1, "me": {"run":"x"}}}'],
    ['on one line, empty', '{"a":1,"servers":{}}', '{"a":1,"servers":{"me": {"run":"x"}}}'],
  ];
  for (const [what, before, after] of cases) {
    assert.equal(set(before), after, what);
    assert.equal(remove(after), before, what);
  }
});

test('objects that are missing on the way are made; an empty file becomes a whole document', () => {
  const whole = '{\n  "servers": {\n    "me": {\n      "run": "x"\n    }\n  }\n}';
  assert.equal(set(''), `${whole}\n`);
  assert.equal(set('\ufeff \n'), `\ufeff${whole}\n`);
  assert.equal(set('{}'), whole);
  assert.equal(set('{ }'), whole);
  assert.equal(set('{\n}\n'), `${whole}\n`);
  assert.equal(set('{ /* note */ }'), `{ /* note */${whole.slice(1)}`);
  assert.equal(set('{\n  // note\n}'), `{\n  // note${whole.slice(1)}`);
  assert.equal(set('{"a": 1}'), '{"a": 1, "servers": {"me":{"run":"x"}}}');
  assert.equal(set('{\n  "a": 1\n}'), '{\n  "a": 1,\n  "servers": {\n    "me": {\n      "run": "x"\n    }\n  }\n}');
});

test('a member that is there is replaced where it is', () => {
  assert.equal(
    set('{\n  "servers": {\n    "me": {"old": true}, // why\n    "b": 1\n  }\n}'),
    '{\n  "servers": {\n    "me": {\n      "run": "x"\n    }, // why\n    "b": 1\n  }\n}',
  );
  assert.equal(set('{"servers": {"me": [1, /* c */ 2], "b": 1}}'), '{"servers": {"me": {"run":"x"}, "b": 1}}');
});

test('removing leaves valid JSON, wherever the member is', () => {
  const cases: readonly (readonly [before: string, after: string])[] = [
    ['{"servers": {"me": 1, "b": 2}}', '{"servers": {"b": 2}}'],
    ['{"servers": {"a": 1, "me": 1}}', '{"servers": {"a": 1}}'],
    ['{"servers": {"a": 1, "me": 1, "b": 2}}', '{"servers": {"a": 1, "b": 2}}'],
    ['{"servers": {"me": 1}}', '{"servers": {}}'],
    ['{"servers": {\n  "me": {}\n}}', '{"servers": {}}'],
    ['{"servers": {\n  // note\n  "me": {}\n}}', '{"servers": {\n  // note\n}}'],
    ['{"servers": {\n  "me": 1, // gone\n  "b": 2\n}}', '{"servers": {\n  "b": 2\n}}'],
    ['{"servers": {\n  "a": 1, // stays\n  "me": 1\n}}', '{"servers": {\n  "a": 1 // stays\n}}'],
    ['{"servers": {\n  "a": 1\n  , "me": 1 }}', '{"servers": {\n  "a": 1\n   }}'],
    ['{"servers": {"a": 1, /* stays */ "me": 1}}', '{"servers": {"a": 1 /* stays */ }}'],
    ['{"servers": {\n  "a": 1, // stays\n  "me": 1 }}', '{"servers": {\n  "a": 1 // stays\n   }}'],
    ['{"servers": {"a": 1}}', '{"servers": {"a": 1}}'],
    ['{"a": 1}', '{"a": 1}'],
  ];
  for (const [before, after] of cases) assert.equal(remove(before), after, before);
});

test('what is not an object is not changed, and the fault says where', () => {
  for (const [text, line, column] of [
    ['[]', 1, 1],
    ['{\n  "servers": []\n}', 2, 14],
    ['{\n  "servers": null\n}', 2, 14],
  ] as const) {
    assert.throws(() => set(text), { name: 'SyntaxFault', message: 'expected an object', line, column }, text);
  }
});

test('whatever a file looks like, an edit changes the one member and keeps every comment', () => {
  // A pseudo-random sequence, the same in every run.
  let seed = 20_240_501;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  const trivia = () => pick(['', '', '', ' ', '\n  ', '\r\n', '\t', '/* c */', ' // c\n', '/* c\n */']);
  const write = (value: unknown): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const items = Object.entries(value).map(
      ([key, item]) => `"${key}"${trivia()}:${trivia()}${write(item)}${trivia()}`,
    );
    const end = items.length > 0 && random(3) === 0 ? `,${trivia()}` : '';
    return `{${trivia()}${items.join(`,${trivia()}`)}${end}}`;
  };
  const comments = (text: string) => text.match(/\/\* c\s*\*\/|\/\/ c/g)?.length ?? 0;
  for (let round = 0; round < 3000; round++) {
    const inner = Object.fromEntries(
      ['a', 'b', 'c'].slice(random(4)).map((key) => [key, pick([1, {}, { x: { y: 2 } }])]),
    );
    const value = {
      ...(random(2) ? { first: 1 } : {}),
      ...(random(3) ? { servers: inner } : {}),
      ...(random(2) ? { z: {} } : {}),
    };
    const text = trivia() + write(value) + trivia();
    const known = Object.hasOwn(value, 'servers') ? inner : {};
    const added = set(text);
    assert.deepEqual(parseJsonc(added).value, { ...value, servers: { ...known, me: { run: 'x' } } }, text);
    assert.equal(comments(added), comments(text), text);
    assert.deepEqual(parseJsonc(remove(added)).value, { ...value, servers: known }, added);
  }
});
