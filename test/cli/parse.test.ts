import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_OPTIONS } from '../../src/cli/commands.ts';
import type { Option } from '../../src/cli/options.ts';
import { checkedValues, parseArguments, UsageError } from '../../src/cli/parse.ts';
import { libraryOptions } from '../../src/cli/process.ts';
import { type Settings, settingsFrom } from '../../src/config.ts';

const read = (...argv: readonly string[]) => checkedValues(parseArguments(argv, ALL_OPTIONS).given, ALL_OPTIONS);

const GOOD: readonly (readonly [name: string, argv: readonly string[], key: string, value: unknown])[] = [
  ['the transport that is not given', [], 'transport', 'stdio'],
  ['the port that is not given', [], 'port', 3333],
  ['a value after =', ['--root=x=y'], 'root', 'x=y'],
  ['a value that begins with a dash, after =', ['--root=-x'], 'root', '-x'],
  ['the last of several', ['--root', 'a', '--root', 'b'], 'root', 'b'],
  ['all of a repeatable one', ['--skill-dir', 'a', '--skill-dir=b'], 'skill-dir', ['a', 'b']],
  ['short flags together', ['-qh'], 'help', true],
  ['a number', ['--port', '0'], 'port', 0],
  ['a list of tools, with blanks', ['--tools', 'read, skill'], 'tools', ['read', 'skill']],
  ['an empty pattern, which matches nothing', ['--include', ''], 'include', ['']],
  ['patterns between commas', ['--include', 'a,{b,c}', '--include=d'], 'include', ['a', '{b,c}', 'd']],
];
for (const [name, argv, key, value] of GOOD)
  test(`${name}: ${argv.join(' ')}`, () =>
    assert.deepEqual(new Map<string, unknown>(Object.entries(read(...argv))).get(key), value));

const BAD: readonly (readonly [argv: readonly string[], message: string])[] = [
  [['--skil-dir', 'x'], 'unknown option --skil-dir; did you mean --skill-dir?'],
  [['--xyzzyxyzzy'], 'unknown option --xyzzyxyzzy'],
  [['--toString'], 'unknown option --toString'],
  [['-qx'], 'unknown option -x'],
  [['--quiet=yes'], '--quiet takes no value'],
  [['--skill-dir'], '--skill-dir needs a value: DIR'],
  [['--skill-dir', '--root', 'x'], '--skill-dir needs a value: DIR'],
  [['--skill-dir', ''], '--skill-dir is empty'],
  [['--refresh-interval', '-5'], '--refresh-interval needs a value: MS'],
  [['--port', '65536'], '--port must be a whole number from 0 to 65535'],
  [['--port', '0x10'], '--port must be a whole number from 0 to 65535'],
  [['--describe', ''], '--describe must be one of auto, full, compact, list'],
  [['--tools', 'skill,lst'], '--tools must be a list of list, skill, search, read'],
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
  const standard = textsOf(settingsFrom({ env: process.env }));
  const none = textsOf(settings([]));
  for (const [key, text] of none) assert.equal(text, standard.get(key), key);
  const same = [...textsOf(settings(changed))].filter(([key, text]) => text === none.get(key)).map(([key]) => key);
  assert.deepEqual(same, ['sources', 'cwd', 'home', 'env', 'log']);
});
