/** How long a server lives after its stdin has ended. */
import { once } from 'node:events';
import { interleave, pick } from '../lib/samples.js';
import { checkList, floor, LIST, open, ours, sizesOf, warmUp } from '../lib/servers.js';
import { makeSkills } from '../lib/skills.js';
import { initialize } from '../lib/stdio-client.js';

const SKILLS = 25;

export const exit = {
  name: 'exit',
  async run(bench) {
    const skills = makeSkills(bench.directory('skills'), SKILLS);
    const sizes = await sizesOf(bench, ours(bench, skills));
    await warmUp(bench, ours(bench, skills));
    const measure = (args) => () => exitTime(bench, args, sizes);
    const measurements = [
      { name: 'ours', measure: measure(ours(bench, skills)) },
      { name: 'floor', measure: measure(floor('floor', ...sizes)) },
      ...bench.peers.map((peer) => ({ name: peer.name, measure: measure(peer.stdio(skills)), every: 5 })),
    ];
    const samples = await interleave(bench.rounds(15, 3), measurements, bench.fail);
    bench.record({ metric: 'exit.eof', label: 'exit after stdin EOF', unit: 'ms', values: pick(samples, 'ms') });
  },
};

// --- internal ---

async function exitTime(bench, args, sizes) {
  const client = open(bench, args);
  try {
    await initialize(client);
    checkList(await client.request(LIST.method, LIST.params), SKILLS, sizes);
    const gone = once(client.child, 'exit');
    const begin = performance.now();
    client.end();
    const [code, signal] = await gone;
    const ms = performance.now() - begin;
    if (code !== 0) throw new Error(`ended with ${code ?? signal} instead of 0`);
    return { ms };
  } finally {
    await client.end();
  }
}
