import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createRegistry } from '../../src/catalog/registry.ts';
import { type SkillwireOptions, settingsFrom } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { Contribution, Skill, Source } from '../../src/model.ts';
import { sketch } from '../harness/sketch.ts';

/** A registry over one source, and what it logs. */
function start(load: Source['load'], options: SkillwireOptions = {}) {
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line.replace(/^skillwire: |(?: in \d+ ms)?\n$/g, '')), 'debug');
  return { registry: createRegistry([{ name: 'test', load }], settingsFrom({ ...options, log })), lines };
}

test('refreshes never overlap; asking during one causes exactly one more, with all reasons, also when the first fails', async () => {
  let [running, most] = [0, 0];
  const later: Promise<unknown>[] = [];
  const { registry } = start(async () => {
    most = Math.max(most, ++running);
    // In the middle of the first one.
    if (later.length === 1) later.push(...['up: tools', 'watch', 'watch'].map(registry.refresh));
    await turn();
    running--;
    return {};
  });
  const reasons: string[] = [];
  registry.onRefresh(({ reason }) => {
    reasons.push(reason);
    assert.notEqual(reason, 'first', 'a listener at fault');
  });
  const first = registry.refresh('first');
  later.push(first.catch(() => registry.refresh('timer')));
  await assert.rejects(first, /a listener at fault/);
  await Promise.all(later);
  assert.deepEqual([most, reasons], [1, ['first', 'up: tools, watch, timer']]);
});

test('the log says what is scanned and found, each refresh by the timer or with news, and each new Problem; a source that fails keeps what it had', async () => {
  const [a, b, c] = [sketch('claude', 'a'), sketch('claude', 'b'), sketch('claude', 'c')];
  const mild = { where: '/b', what: 'is odd', mild: true } as const;
  const first = { skills: [a, b], problems: [{ where: '/a', what: 'is bad' }, mild] };
  const faults = 'warn: /a: is bad|debug: /b: is odd';
  const steps: readonly (readonly [reason: string, given: Contribution | string, lines: string])[] = [
    ['start', first, `scanning skill directories|${faults}|ready: 2 skills`],
    ['timer', first, 'refresh (timer): no change; 2 skills'],
    ['watch', first, 'debug: refresh (watch): no change; 2 skills'],
    ['x', { skills: [{ ...b, description: '' }, c] }, 'refresh (x): changed; 2 skills'],
    ['x', first, `${faults}|refresh (x): changed; 2 skills`],
    ['up', 'gone', 'warn: test: could not be refreshed: gone|refresh (up): changed; 2 skills'],
    ['up', 'gone', 'debug: refresh (up): no change; 2 skills'],
    ['up', { skills: [a, b] }, 'refresh (up): changed; 2 skills'],
  ];
  let given: Contribution | string = '';
  const { registry, lines } = start(async () => (typeof given === 'string' ? assert.fail(given) : given));
  for (const [reason, next, expected] of steps) {
    given = next;
    await registry.refresh(reason);
    assert.equal(lines.splice(0).join('|'), expected);
  }
});

test('--dedupe folds byte-identical copies, as long as they are, and only among skills that are served', async () => {
  let digest = 'x';
  const copy = (owner: string, digestNow: () => string): Skill => {
    const manifest = async () => ({ head: () => ({}), files: [{ path: 'a', size: 1, digest: digestNow() }] });
    return sketch(owner, 'pdf', { bytes: Buffer.from('same'), files: { manifest } as unknown as Skill['files'] });
  };
  let contribution = { skills: [copy('claude', () => 'x'), copy('codex', () => digest)] };
  const begin = (options: SkillwireOptions) => start(async () => contribution, options).registry;
  const ids = async (registry = begin({})) =>
    (await registry.refresh('test')).names.listed.map(({ id }) => id).join(' ');
  const folding = begin({ dedupe: true });
  assert.equal(await ids(folding), 'pdf');
  assert.equal(await ids(), 'claude:pdf codex:pdf');
  assert.equal(await ids(begin({ dedupe: true, exclude: ['claude'] })), 'pdf');
  // Another file than SKILL.md has changed: that counts when a skill changes.
  digest = 'y';
  assert.equal(await ids(folding), 'pdf');
  contribution = { ...contribution };
  assert.equal(await ids(folding), 'claude:pdf codex:pdf');
});
