import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_OPTIONS } from '../../src/cli/all-options.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { STDIO_OPTIONS } from '../../src/cli/options.ts';
import { checkedValues, readPlainArguments, skillOptions, UsageError } from '../../src/cli/parse.ts';

const DEFAULTS = { tools: STDIO_OPTIONS.tools.default };
const COMMAND = { name: 'serve', options: ALL_OPTIONS };

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

test('arguments without a word mean the main command', () => {
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
  for (const odd of [['serve'], ['-x'], ['--skill-dir'], ['--skill-dir', '--quiet'], ['--quiet=yes'], ['--nothing']])
    assert.equal(readPlainArguments(odd, COMMAND), undefined, odd.join(' '));
});
