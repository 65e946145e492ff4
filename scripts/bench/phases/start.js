/**
 * Cold start: from spawning the process to the answer to `initialize`, and on to a complete `tools/list` of 25 skills.
 * The first start ever is one with an empty home, where nothing can have been kept from an earlier one.
 */
import { interleave, pick } from '../lib/samples.js';
import { checkList, floor, LIST, open, ours, sizesOf, warmUp } from '../lib/servers.js';
import { makeSkills } from '../lib/skills.js';
import { initialize } from '../lib/stdio-client.js';

const SKILLS = 25;

export const start = {
  name: 'start',
  async run(bench) {
    const skills = makeSkills(bench.directory('skills'), SKILLS);
    const sizes = await sizesOf(bench, ours(bench, skills));
    const measure = (args, home) => () => startOnce(bench, args, home?.() ?? bench.directory('home'), sizes);

    const servers = [
      { name: 'ours', args: ours(bench, skills) },
      { name: 'floor', args: floor('floor', ...sizes) },
    ];
    const peers = bench.peers.map((peer) => ({ name: peer.name, args: peer.stdio(skills), every: 20 }));
    const warm = [];
    for (const { args, ...server } of [...servers, ...peers]) {
      const home = bench.directory('home');
      await bench.attempt(`warm up ${server.name}`, async () => {
        await warmUp(bench, args, home);
        warm.push({ ...server, measure: measure(args, () => home) });
      });
    }
    record(bench, 'start', 'cold', await interleave(bench.rounds(100, 5), warm, bench.fail));

    const first = servers.map(({ name, args }) => ({ name, measure: measure(args) }));
    record(bench, 'first', 'first start ever', await interleave(bench.rounds(50, 3), first, bench.fail));
  },
};

// --- internal ---

async function startOnce(bench, args, home, sizes) {
  const begin = performance.now();
  const client = open(bench, args, home);
  try {
    const hello = await initialize(client);
    const list = await client.request(LIST.method, LIST.params);
    checkList(list, SKILLS, sizes);
    return { initialize: hello.arrived - begin, list: list.arrived - begin, cpu: list.cpu / 1000 };
  } finally {
    await client.end();
  }
}

function record(bench, key, label, samples) {
  bench.record({
    metric: `${key}.initialize`,
    label: `${label} initialize`,
    unit: 'ms',
    values: pick(samples, 'initialize'),
  });
  bench.record({
    metric: `${key}.list`,
    label: `${label} tools/list, 25 skills`,
    unit: 'ms',
    values: pick(samples, 'list'),
  });
  bench.record({
    metric: `${key}.list.cpu`,
    label: `${label} tools/list, CPU`,
    unit: 'ms',
    values: pick(samples, 'cpu'),
  });
}
