/**
 * What watching over the skills costs and gives: CPU of an idle server, time until a new skill is listed, and calls
 * while a rescan is under way.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../lib/processes.js';
import { checkList, floor, LIST, open, ours, sizesOf } from '../lib/servers.js';
import { makeSkills } from '../lib/skills.js';
import { initialize } from '../lib/stdio-client.js';
import { measureRescan } from './rescan.js';

const SKILLS = 1000;
// Until the directories are watched.
const WATCHED_MS = 3000;
// Once, some ten seconds after the start, V8 gives back the memory that the start needed. The minutes after that are alike.
const SETTLED_MS = 25_000;
const IDLE_MS = 60_000;
const NEW_SKILLS = 5;
const POLL_MS = 20;
const NOTIFICATION_MS = 3000;

export const refresh = {
  name: 'refresh',
  async run(bench) {
    const skills = makeSkills(bench.directory('skills'), bench.rounds(SKILLS, 100));
    await bench.attempt('idle CPU', () => measureIdle(bench, skills));
    await bench.attempt('a new skill', () => measureNew(bench, skills));
    await bench.attempt('calls during a rescan', () => measureRescan(bench));
  },
};

// --- internal ---

/**
 * The default flags, and nobody asks anything. The window is a minute, so a timer that looks less often than that may
 * fall outside of it: the note says how many refreshes were inside.
 */
async function measureIdle(bench, skills) {
  const args = ours(bench, skills, '--describe', 'full');
  const sizes = await sizesOf(bench, args);
  const read = async (command) => {
    const client = open(bench, command);
    try {
      await initialize(client);
      await client.request(LIST.method, LIST.params);
      await pause(bench.rounds(SETTLED_MS, 500));
      const logged = client.log().length;
      const before = client.cpu();
      const milliseconds = bench.rounds(IDLE_MS, 2000);
      await pause(milliseconds);
      const cpu = ((client.cpu() - before) / 1000) * (60_000 / milliseconds);
      return {
        cpu,
        refreshes:
          client
            .log()
            .slice(logged)
            .match(/refresh/g)?.length ?? 0,
      };
    } finally {
      await client.end();
    }
  };
  const [mine, bare] = await Promise.all([read(args), read(floor('floor', ...sizes))]);
  const note = `${mine.refreshes} refreshes in the window`;
  bench.say(note);
  const values = { ours: [mine.cpu], floor: [bare.cpu] };
  bench.record({ metric: 'refresh.idle', label: 'idle CPU a minute, 1,000 skills', unit: 'ms', values, note });
}

/** From the end of writing a SKILL.md to the arrival of a list that names it, and whether a notification came. */
async function measureNew(bench, skills) {
  const client = open(bench, ours(bench, skills, '--describe', 'full'));
  const seen = [];
  const notified = [];
  try {
    await initialize(client);
    checkList(await client.request(LIST.method, LIST.params), bench.rounds(SKILLS, 100), []);
    await pause(bench.rounds(WATCHED_MS, 500));
    for (let at = 0; at < bench.rounds(NEW_SKILLS, 1); at++) {
      const { ms, heard } = await writeAndWait(client, skills, `new-${at}`);
      seen.push(ms);
      notified.push(heard ? 1 : 0);
    }
  } finally {
    await client.end();
  }
  const share = notified.reduce((sum, one) => sum + one, 0) / notified.length;
  bench.record({ metric: 'refresh.seen', label: 'new skill listed, 1,000 skills', unit: 'ms', values: { ours: seen } });
  const label = 'new skill notified (share)';
  bench.record({ metric: 'refresh.notified', label, unit: '', better: 'more', values: { ours: [share] } });
}

async function writeAndWait(client, skills, name) {
  let heard = false;
  client.onNotification(({ method }) => {
    if (method === 'notifications/tools/list_changed') heard = true;
  });
  mkdirSync(join(skills, name));
  writeFileSync(join(skills, name, 'SKILL.md'), `---\nname: ${name}\ndescription: Just written\n---\nText\n`);
  const begin = performance.now();
  for (;;) {
    const { bytes, arrived } = await client.request(LIST.method, LIST.params);
    if (bytes.includes(`<name>${name}</name>`)) {
      while (!heard && performance.now() - arrived < NOTIFICATION_MS) await pause(POLL_MS);
      return { ms: arrived - begin, heard };
    }
    if (arrived - begin > 60_000) throw new Error(`${name} was not listed within a minute`);
    await pause(POLL_MS);
  }
}
