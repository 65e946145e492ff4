/**
 * Calls while a rescan is under way: 1,000 of 10,000 skills are rewritten, and until two refreshes are over (the first
 * may have begun while files were still being written), skills are called one at a time. An answer must be a whole old text or a whole new one, and never old again after new.
 * The floor, which has nothing to rescan, is called at the same time and pace: its worst call is the machine's doing.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../lib/processes.js';
import { CALL, floor, open, ours, sizesOf } from '../lib/servers.js';
import { makeSkills, skillDirectory, skillText } from '../lib/skills.js';
import { initialize } from '../lib/stdio-client.js';

const SKILLS = 10_000;
// Every tenth changes.
const STEP = 10;
// By timer alone: a watcher would begin with the first file, and several times.
const INTERVAL_MS = 1500;
const PACE_MS = 1;
const PATIENCE_MS = 30_000;

export async function measureRescan(bench) {
  const count = bench.rounds(SKILLS, 500);
  const skills = makeSkills(bench.directory('skills'), count);
  const args = ours(bench, skills, '--no-watch', '--refresh-interval', String(INTERVAL_MS));
  const sizes = await sizesOf(bench, args);
  const mine = open(bench, args);
  const bare = open(bench, floor('floor', ...sizes));
  const worst = { ours: [], floor: [] };
  let wrong = 0;
  let calls = 0;
  try {
    await Promise.all([initialize(mine), initialize(bare)]);
    await callSkill(mine, 0);
    // The first one is not counted: code that never ran before is compiled in it.
    for (let round = 0; round <= bench.rounds(5, 1); round++) {
      const outcome = await oneRescan({ mine, bare, skills, count, round });
      wrong += outcome.wrong;
      if (round === 0) continue;
      worst.ours.push(outcome.mine);
      worst.floor.push(outcome.bare);
      calls += outcome.calls;
    }
  } finally {
    await Promise.all([mine.end(), bare.end()]);
  }
  const note = `${calls} calls`;
  bench.record({
    metric: 'refresh.worst',
    label: 'worst call across a rescan, 10,000',
    unit: 'ms',
    values: worst,
    note,
  });
  bench.record({
    metric: 'refresh.wrong',
    label: 'wrong answers meanwhile',
    unit: '',
    values: { ours: [wrong] },
    note,
  });
}

// --- internal ---

async function oneRescan({ mine, bare, skills, count, round }) {
  const [before, after] = [markOf(round - 1), markOf(round)];
  const changed = Array.from({ length: Math.ceil(count / STEP) }, (_, at) => at * STEP);
  for (const at of changed) writeFileSync(join(skillDirectory(skills, at), 'SKILL.md'), skillText(at, after));
  // What was logged during the writing arrives first; it must not count as a refresh after it.
  await pause(100);
  const end = refreshes(mine) + 2;
  const deadline = performance.now() + PATIENCE_MS;
  const isOver = () => {
    if (performance.now() > deadline) throw new Error('no two refreshes within 30 s');
    return refreshes(mine) >= end;
  };
  const outcome = { wrong: 0 };
  const renewed = new Set();
  // Changed skills and others in turns.
  const pickSkill = (turn) => (turn % 2 === 0 ? changed[(turn / 2) % changed.length] : (turn * 7) % count);
  const check = (text, at) => {
    if (!isRight(text, at, { before, after, renewed })) outcome.wrong += 1;
  };
  const [own, floorLoop] = await Promise.all([
    callUntil(mine, isOver, pickSkill, check),
    callUntil(bare, isOver, pickSkill, () => {}),
  ]);
  Object.assign(outcome, { mine: own.worst, bare: floorLoop.worst, calls: own.calls });
  for (const at of [changed[0], changed.at(-1)]) {
    if (!(await callSkill(mine, at)).text.endsWith(skillText(at, after))) outcome.wrong += 1;
  }
  return outcome;
}

/** One call after the other, with a short pause between them. */
async function callUntil(client, isOver, pickSkill, check) {
  let worst = 0;
  let calls = 0;
  for (; !isOver(); calls++) {
    const at = pickSkill(calls);
    const { ms, text } = await callSkill(client, at);
    worst = Math.max(worst, ms);
    check(text, at);
    await pause(PACE_MS);
  }
  return { worst, calls };
}

/** Each refresh is one line of the log with that word. */
const refreshes = (client) => client.log().match(/^.*refresh.*$/gm)?.length ?? 0;

/** Texts of the first state carry the mark that makeSkills gives them. */
const markOf = (round) => String.fromCharCode('b'.charCodeAt(0) + round);

function isRight(text, at, { before, after, renewed }) {
  if (at % STEP !== 0) return text.endsWith(skillText(at));
  if (text.endsWith(skillText(at, after))) {
    renewed.add(at);
    return true;
  }
  return !renewed.has(at) && text.endsWith(skillText(at, before));
}

async function callSkill(client, at) {
  const begin = performance.now();
  const params = { ...CALL.params, arguments: { name: `skill-${at}` } };
  const { result, arrived } = await client.request(CALL.method, params);
  return { ms: arrived - begin, text: result?.content?.[0]?.text ?? '' };
}
