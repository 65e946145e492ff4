import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_OPTIONS } from '../../src/cli/commands.ts';
import type { Option } from '../../src/cli/options.ts';
import { checkedValues, nearestOf, parseArguments, UsageError } from '../../src/cli/parse.ts';
import { libraryOptions } from '../../src/cli/process.ts';
import { type Settings, settingsFrom } from '../../src/config.ts';

const read = (...argv: readonly string[]) => checkedValues(parseArguments(argv, ALL_OPTIONS).given, ALL_OPTIONS);

test('what is not given has its default, or is missing', () => {
  const values = read();
  assert.deepEqual(
    [values.transport, values.port, values['refresh-interval'], values.tools, values.names, values.describe],
    ['stdio', 3333, 30_000, ['skill', 'list', 'search', 'read'], 'auto', 'auto'],
  );
  assert.deepEqual([values['skill-dir'], values.root, values.hub, values.quiet], [[], undefined, false, false]);
});

const GOOD: readonly (readonly [name: string, argv: readonly string[], key: string, value: unknown])[] = [
  ['a value after a blank', ['--root', 'x'], 'root', 'x'],
  ['a value after =', ['--root=x=y'], 'root', 'x=y'],
  ['a value that begins with a dash, after =', ['--root=-x'], 'root', '-x'],
  ['the last of several', ['--root', 'a', '--root', 'b'], 'root', 'b'],
  ['all of a repeatable one', ['--skill-dir', 'a', '--skill-dir=b'], 'skill-dir', ['a', 'b']],
  ['a short flag', ['-q'], 'quiet', true],
  ['short flags together', ['-qh'], 'help', true],
  ['a number', ['--port', '0'], 'port', 0],
  ['the largest number', ['--refresh-interval', '2147483647'], 'refresh-interval', 2_147_483_647],
  ['a choice', ['--transport', 'sse'], 'transport', 'sse'],
  ['a list of tools, with blanks', ['--tools', 'read, skill'], 'tools', ['read', 'skill']],
  ['an empty pattern, which matches nothing', ['--include', ''], 'include', ['']],
  ['patterns between commas', ['--include', 'a,{b,c}', '--include=d'], 'include', ['a', '{b,c}', 'd']],
];
for (const [name, argv, key, value] of GOOD)
  test(`${name}: ${argv.join(' ')}`, () =>
    assert.deepEqual(new Map<string, unknown>(Object.entries(read(...argv))).get(key), value));

const BAD: readonly (readonly [argv: readonly string[], message: string])[] = [
  [['--skil-dir', 'x'], 'unknown option --skil-dir; did you mean --skill-dir?'],
  [['--no-refesh'], 'unknown option --no-refesh; did you mean --no-refresh?'],
  [['--xyzzyxyzzy'], 'unknown option --xyzzyxyzzy'],
  [['--toString'], 'unknown option --toString'],
  [['-qx'], 'unknown option -x'],
  [['--quiet=yes'], '--quiet takes no value'],
  [['--skill-dir'], '--skill-dir needs a value: DIR'],
  [['--skill-dir', '--root', 'x'], '--skill-dir needs a value: DIR'],
  [['--skill-dir', ''], '--skill-dir is empty'],
  [['--skill-dir', 'x', '--skill-dir', ' '], '--skill-dir is empty'],
  [['--plugins-file='], '--plugins-file is empty'],
  [['--host', ''], '--host is empty'],
  [['--refresh-interval', 'soon'], '--refresh-interval must be a whole number from 1 to 2147483647'],
  [['--refresh-interval', '0'], '--refresh-interval must be a whole number from 1 to 2147483647'],
  [['--refresh-interval', '99999999999'], '--refresh-interval must be a whole number from 1 to 2147483647'],
  [['--refresh-interval', '-5'], '--refresh-interval needs a value: MS'],
  [['--port', '65536'], '--port must be a whole number from 0 to 65535'],
  [['--port', '0x10'], '--port must be a whole number from 0 to 65535'],
  [['--description-budget', '1.5'], '--description-budget must be a whole number from 200 to 2147483647'],
  [['--names', 'save'], '--names must be one of auto, plain, safe'],
  [['--describe', ''], '--describe must be one of auto, full, compact, list'],
  [['--tools', 'skill,lst'], '--tools must be a list of skill, list, search, read'],
  [['--include', 'ok,a*b*c*d*e*'], '--include has a pattern with over 4 stars'],
  [['--exclude', 'x'.repeat(129)], '--exclude has a pattern of over 128 characters'],
];
for (const [argv, message] of BAD)
  test(`refused: ${argv.join(' ').slice(0, 40)}`, () => assert.throws(() => read(...argv), new UsageError(message)));

test('words, options and what follows -- are told apart', () => {
  const { given, words, rest } = parseArguments(['a', '--port', '1', 'b', '--', '--hub', 'c'], ALL_OPTIONS);
  assert.deepEqual([given.map(({ name }) => name), words, rest], [['port'], ['a', 'b'], ['--hub', 'c']]);
});

test('every option of the server reaches the settings; without any, they have their defaults', () => {
  const changed = Object.entries<Option>(ALL_OPTIONS).flatMap(([name, { type, hint = '', key }]) => {
    if (key === undefined) return [];
    const value = hint.includes('|') ? hint.split('|').at(-1) : { TOOLS: 'read' }[hint];
    return type === 'boolean' ? [`--${name}`] : [`--${name}=${value ?? '777'}`];
  });
  const settings = (argv: readonly string[]) => settingsFrom(libraryOptions(read(...argv), ALL_OPTIONS));
  const textsOf = (one: Settings) => new Map(Object.entries(one).map(([key, value]) => [key, JSON.stringify(value)]));
  const [standard, none, all] = [
    textsOf(settingsFrom({ env: process.env })),
    textsOf(settings([])),
    textsOf(settings(changed)),
  ];
  for (const [key, text] of none) assert.equal(text, standard.get(key), key);
  const same = [...all].filter(([key, text]) => text === none.get(key)).map(([key]) => key);
  assert.deepEqual(same, ['sources', 'cwd', 'home', 'env', 'log']);
});

test('only what is near is suggested', () => {
  assert.equal(nearestOf('lst', ['list', 'show']), '; did you mean list?');
  assert.equal(nearestOf('frobnicate', ['list', 'show']), '');
});
