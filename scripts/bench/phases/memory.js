/** Memory of an idle server with 25 skills, two seconds after its list was asked for: resident set, in MiB. */
import { memoryMiB, pause } from '../lib/processes.js';
import { checkList, floor, LIST, open, ours, sizesOf, warmUp } from '../lib/servers.js';
import { makeSkills } from '../lib/skills.js';
import { initialize } from '../lib/stdio-client.js';

const SKILLS = 25;
const IDLE_MS = 2000;

export const memory = {
  name: 'memory',
  async run(bench) {
    const skills = makeSkills(bench.directory('skills'), SKILLS);
    const sizes = await sizesOf(bench, ours(bench, skills));
    await warmUp(bench, ours(bench, skills));
    const servers = [
      ['ours', ours(bench, skills)],
      ['floor', floor('floor', ...sizes)],
      ...bench.peers.map((peer) => [peer.name, peer.stdio(skills)]),
    ];
    const values = Object.fromEntries(servers.map(([name]) => [name, []]));
    for (let round = 0; round < bench.rounds(5, 1); round++) {
      // All at once: they only wait, and waiting one after the other would take minutes.
      const readings = servers.map(([name, args]) =>
        bench.attempt(name, async () => values[name].push(await idleMemory(bench, args, sizes))),
      );
      await Promise.all(readings);
    }
    bench.record({ metric: 'memory.idle', label: 'idle memory, 25 skills', unit: 'MiB', values });
  },
};

// --- internal ---

async function idleMemory(bench, args, sizes) {
  const client = open(bench, args);
  try {
    await initialize(client);
    checkList(await client.request(LIST.method, LIST.params), SKILLS, sizes);
    await pause(bench.quick ? 500 : IDLE_MS);
    return memoryMiB(client.pid);
  } finally {
    await client.end();
  }
}
