import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createRegistry } from '../../src/catalog/registry.ts';
import { type SkillwireOptions, settingsFrom } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { Contribution, Manifest, Skill } from '../../src/model.ts';
import { sketch } from '../harness/sketch.ts';

/** A registry over one source that gives what `state.given` says, or fails with that text, when the gate is open. */
function start(given: Contribution | string = {}, options: SkillwireOptions = {}) {
  const state = { given, loads: 0, running: 0, most: 0, gate: Promise.resolve() };
  const load = async () => {
    state.loads++;
    state.most = Math.max(state.most, ++state.running);
    await state.gate;
    state.running--;
    if (typeof state.given === 'string') throw new Error(state.given);
    return state.given;
  };
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line.replace(/^skillwire: |(?: in \d+ ms)?\n$/g, '')), 'debug');
  const registry = createRegistry([{ name: 'test', load }], settingsFrom({ ...options, log }));
  const hold = () => {
    let open = () => {};
    state.gate = new Promise((done) => {
      open = done;
    });
    return () => open();
  };
  return { state, registry, lines, hold };
}

test('refreshes never overlap; asking during one causes exactly one more, with the reasons of all who asked', async () => {
  const { state, registry, hold } = start();
  const reasons: string[] = [];
  registry.onRefresh(({ reason }) => void reasons.push(reason));
  const open = hold();
  const first = registry.refresh('first');
  await turn();
  const others = ['up: tools', 'watch', 'watch'].map((reason) => registry.refresh(reason));
  const between = first.then(() => registry.refresh('timer'));
  open();
  await Promise.all([first, between, ...others]);
  assert.deepEqual([state.most, state.loads, new Set(others).size], [1, 2, 1]);
  assert.deepEqual(reasons, ['first', 'up: tools, watch, timer']);
});

test('a refresh that fails does not stop those after it', async () => {
  const { registry } = start();
  let isFaulty = true;
  registry.onRefresh(() => assert.ok(!isFaulty, 'a listener at fault'));
  await assert.rejects(registry.refresh('first'), /a listener at fault/);
  isFaulty = false;
  assert.ok(await registry.refresh('second'));
});

test('the first snapshot is waited for, later ones are not; an equal one is the same object', async () => {
  const { registry, hold } = start();
  const ready = registry.ready();
  assert.equal(registry.current(), undefined);
  const first = await registry.refresh('first');
  assert.deepEqual([await ready, registry.current(), Object.isFrozen(first)], [first, first, true]);
  const open = hold();
  const second = registry.refresh('second');
  assert.equal(await registry.ready(), first);
  open();
  assert.equal(await second, first);
});

test('the log says what is scanned and found, each refresh by the timer or with news, and each new Problem; a source that fails keeps what it had', async () => {
  const [a, b, c] = [sketch('claude', 'a'), sketch('claude', 'b'), sketch('claude', 'c')];
  const mild = { where: '/b', what: 'is odd', mild: true } as const;
  const first = { skills: [a, b], problems: [{ where: '/a', what: 'is bad' }, mild] };
  const faults = 'warn: /a: is bad|debug: /b: is odd';
  const { state, registry, lines } = start();
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
  for (const [reason, given, expected] of steps) {
    state.given = given;
    const { problems } = await registry.refresh(reason);
    assert.equal(lines.splice(0).join('|'), expected);
    assert.equal(
      problems.some(({ where }) => where === 'test'),
      given === 'gone',
    );
  }
});

test('--dedupe folds byte-identical copies, as long as they are, and only among skills that are served', async () => {
  let digest = 'x';
  const copy = (owner: string, own: () => string): Skill => {
    const manifest = async (): Promise<Manifest> => ({
      head: () => ({}),
      files: [{ path: 'a', size: 1, digest: own() }],
    });
    return sketch(owner, 'pdf', { bytes: Buffer.from('same'), files: { manifest } as Skill['files'] });
  };
  const skills = [copy('claude', () => 'x'), copy('codex', () => digest)];
  const { registry } = start({ skills }, { dedupe: true });
  const ids = async (one = registry) => (await one.refresh('test')).names.listed.map(({ id }) => id).join(' ');
  assert.equal(await ids(), 'pdf');
  assert.equal(await ids(start({ skills }).registry), 'claude:pdf codex:pdf');
  assert.equal(await ids(start({ skills }, { dedupe: true, exclude: ['claude'] }).registry), 'pdf');
  // Another file than SKILL.md has changed, which no source reports.
  digest = 'y';
  assert.equal(await ids(), 'claude:pdf codex:pdf');
});
