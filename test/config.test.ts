/** The options of `createSkillwire`, as a program in plain JavaScript may give them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULTS, settingsFrom } from '../src/config.ts';
import { createSkillwire } from '../src/index.ts';

test('an option that does not exist, or has a value of another kind, is refused with its name and what it takes (13.21)', () => {
  const rows: readonly (readonly [options: object, message: string])[] = [
    [{ skillDirs: '/x' }, 'skillDirs must be a list of texts'],
    [{ include: ['a', 1] }, 'include must be a list of texts'],
    [{ root: 1 }, 'root must be text'],
    [{ root: null }, 'root must be text'],
    [{ names: 'zzz' }, 'names must be one of auto, plain, safe'],
    [{ describe: 'zzz' }, 'describe must be one of auto, full, compact, list'],
    [{ tools: ['nope'] }, 'tools must be "auto" or a list of skill, list, search, read'],
    [{ tools: 'skill' }, 'tools must be "auto" or a list of skill, list, search, read'],
    [{ watch: 'no' }, 'watch must be true or false'],
    [{ refreshInterval: '5' }, 'refreshInterval must be a number from 1 to 2147483647'],
    [{ healthInterval: Number.POSITIVE_INFINITY }, 'healthInterval must be a number from 1 to 2147483647'],
    [{ env: 'A=b' }, 'env must be an object'],
    [{ log: null }, 'log must be an object'],
    [{ sources: {} }, 'sources must be a list'],
    [{ skilDirs: [] }, 'unknown option "skilDirs"; did you mean skillDirs?'],
    [{ zzz: 1 }, 'unknown option "zzz"'],
    [{ constructor: 1 }, 'unknown option "constructor"'],
  ];
  for (const [options, message] of rows) assert.throws(() => createSkillwire(options), { name: 'Error', message });
  assert.throws(
    () => createSkillwire({ importHosts: ['emacs'] } as object),
    /^Error: importHosts must be a list of claude/,
  );
});

test('every default is a value that its option takes, and undefined means the default', () => {
  assert.equal(settingsFrom(DEFAULTS).names, 'auto');
  assert.equal(settingsFrom({ tools: 'auto', descriptionBudget: 300 }).descriptionBudget, 300);
  const unlimited = Number.POSITIVE_INFINITY;
  assert.equal(settingsFrom({ descriptionBudget: unlimited, refreshInterval: 1500.5 }).descriptionBudget, unlimited);
  assert.deepEqual(settingsFrom({ skillDirs: undefined, watch: undefined }), settingsFrom({}));
});
