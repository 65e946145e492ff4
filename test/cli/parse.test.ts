import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { ALL_OPTIONS } from '../../src/cli/all-options.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { STDIO_OPTIONS } from '../../src/cli/options.ts';
import { checkedValues, readPlainArguments, skillOptions, UsageError } from '../../src/cli/parse.ts';

const DEFAULTS = { tools: STDIO_OPTIONS.tools.default };
const COMMAND = { name: 'serve', options: ALL_OPTIONS };

test('plain arguments are read as by the parser of Node, or not at all', () => {
  let seed = 11;
  const oneOf = <T>(choices: readonly [T, ...T[]]): T => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return choices[seed % choices.length] ?? choices[0];
  };
  const words = [
    ...(['--skill-dir', '--root', '--quiet', '--no-watch', '--port', '--describe', '--include', '--tools'] as const),
    ...(['--skill-dir=a', '--root=', '--root=-x', '--include=a=b\nc', '--quiet=1', '--no-quiet', '--hub'] as const),
    ...(['-q', '-', '--', '---', '--=', '--nothing', '--constructor', '--__proto__=1', '-qv', 'serve'] as const),
    ...(['a', '', ' ', '3333', 'full', '-1', '~/x', 'ä', '--version', '--help', 'a\nb'] as const),
  ] as const;
  let [plain, others] = [0, 0];
  for (let round = 0; round < 200_000; round++) {
    const argv = Array.from({ length: oneOf([0, 1, 2, 3, 4, 5]) }, () => oneOf(words));
    const read = readPlainArguments(argv, COMMAND);
    if (!read) {
      others++;
      continue;
    }
    plain++;
    const { values } = parseArgs({ args: argv, options: ALL_OPTIONS, allowPositionals: false, strict: true });
    assert.deepEqual({ ...read.values }, { ...values }, argv.join(' '));
  }
  assert.ok(plain > 10_000 && others > 10_000, `${plain} and ${others}`);
});

test('no option takes an empty value', () => {
  const tables = COMMANDS.flatMap(({ options }) => Object.entries(options));
  for (const [name, option] of tables.filter(([, { type }]) => type === 'string')) {
    for (const empty of ['', ' ']) {
      const given = { [name]: option.multiple ? [empty] : empty };
      const take = () => skillOptions(checkedValues({ ...STDIO_OPTIONS, [name]: option }, { ...DEFAULTS, ...given }));
      // The address is checked where it is used; an empty pattern matches nothing.
      if (!['url', 'include', 'exclude'].includes(name)) assert.throws(take, UsageError, name);
    }
  }
});

test('what a client gives is plain', () => {
  const argv = [
    '--skill-dir',
    'a b',
    '--skill-dir=c',
    '--no-default-dirs',
    '--describe',
    'full',
    '--port=1',
    '--quiet',
  ];
  const read = readPlainArguments(argv, COMMAND);
  const values = read && checkedValues(ALL_OPTIONS, read.values);
  assert.deepEqual(
    [values?.['skill-dir'], values?.['no-default-dirs'], values?.describe, values?.port, values?.quiet, values?.hub],
    [['a b', 'c'], true, 'full', 1, true, false],
  );
  for (const odd of [['serve'], ['-q'], ['--skill-dir'], ['--skill-dir', '--quiet'], ['--quiet=yes'], ['--nothing']])
    assert.equal(readPlainArguments(odd, COMMAND), undefined, odd.join(' '));
});
