import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SkillwireOptions, settingsFrom } from '../src/config.ts';

test('an option that does not exist, or has a value of another kind, is refused with its name and what it takes', () => {
  const rows: Readonly<Record<string, object>> = {
    'skillDirs must be a list of texts': { skillDirs: '/x' },
    'include has a pattern of over 128 characters': { include: ['a'.repeat(129)] },
    'exclude has a pattern of over 4 stars or braces': { exclude: ['ok,a*b*c*d*e*'] },
    'root must be text': { root: null },
    'root is empty': { root: ' ' },
    'names must be one of auto, plain, safe': { names: 'zzz' },
    'tools must be a list of list, skill, search, read': { tools: ['nope'] },
    'watch must be true or false': { watch: 'no' },
    'refreshInterval must be a whole number from 1 to 2147483647': { refreshInterval: '5' },
    'descriptionBudget must be a whole number from 200 to 2147483647': { descriptionBudget: 10 },
    'env must be an object': { env: 'A=b' },
    'unknown option "skilDirs"': { skilDirs: [] },
  };
  for (const [message, options] of Object.entries(rows))
    assert.throws(() => settingsFrom(options as SkillwireOptions), { name: 'Error', message });
});

test('every default is a value that its option takes, and patterns are split at commas outside of braces', () => {
  const { cwd, refreshInterval, healthInterval, tools, include } = settingsFrom({});
  assert.deepEqual([cwd, refreshInterval, healthInterval, include], [process.cwd(), 30_000, 30_000, []]);
  assert.deepEqual(tools, ['list', 'skill', 'search', 'read']);
  const patterns = settingsFrom({ include: ['a, {b,{c,d}}', 'd,{e'], exclude: [' , '] });
  // An empty value matches nothing: `--include "$UNSET"` must not include everything.
  assert.deepEqual([patterns.include, patterns.exclude], [['a', '{b,{c,d}}', 'd', '{e'], ['']]);
});
