/**
 * Many skills: from spawning the process to a list that names all of them, memory after that, and whether a call is
 * any slower among 10,000 skills than among 25. The floor is floor-nested, which has the same duties at a scan.
 */
import { memoryMiB, pause } from '../lib/processes.js';
import { interleave, median, pick } from '../lib/samples.js';
import { CALL, checkCall, checkList, floor, LIST, open, ours, sizesOf, warmUp } from '../lib/servers.js';
import { makeSkills, skillText } from '../lib/skills.js';
import { initialize, load, templateOf } from '../lib/stdio-client.js';

const SIZES = [
  { key: 100, count: 100, rounds: 11 },
  { key: 1000, count: 1000, rounds: 30 },
  { key: 10000, count: 10_000, rounds: 21, memory: true },
];
const QUICK_MOST = 1500;
const SETTLE_MS = 2000;
const CALLS = 1000;

export const scale = {
  name: 'scale',
  async run(bench) {
    let largest;
    for (const size of SIZES) {
      const count = bench.quick ? Math.min(size.count, QUICK_MOST) : size.count;
      const skills = makeSkills(bench.directory('skills'), count);
      await bench.attempt(`${size.key} skills`, () => measureSize(bench, { ...size, count, skills }));
      largest = skills;
    }
    await bench.attempt('calls among many', () => measureCalls(bench, largest));
  },
};

// --- internal ---

async function measureSize(bench, { key, count, skills, rounds, memory = false }) {
  const args = ours(bench, skills, '--describe', 'full');
  const sizes = await sizesOf(bench, args);
  await warmUp(bench, args);
  const start = (command) => () => listOnce(bench, command, { count, sizes, memory });
  const measurements = [
    { name: 'ours', measure: start(args) },
    { name: 'floor-nested', measure: start(floor('floor-nested', skills, ...sizes)) },
    ...bench.peers.map((peer) => ({ name: peer.name, measure: start(peer.stdio(skills)), every: 8 })),
  ];
  const samples = await interleave(bench.rounds(rounds, 2), measurements, bench.fail);
  const common = { against: 'floor-nested' };
  const label = `${key.toLocaleString('en')} skills`;
  bench.record({
    ...common,
    metric: `scale.${key}.list`,
    label: `${label}: complete list`,
    unit: 'ms',
    values: pick(samples, 'ms'),
  });
  bench.record({
    ...common,
    metric: `scale.${key}.cpu`,
    label: `${label}: CPU until then`,
    unit: 'ms',
    values: pick(samples, 'cpu'),
  });
  if (!memory) return;
  bench.record({
    ...common,
    metric: `scale.${key}.memory`,
    label: `${label}: memory`,
    unit: 'MiB',
    values: pick(samples, 'memory'),
  });
}

async function listOnce(bench, args, { count, sizes, memory }) {
  const begin = performance.now();
  const client = open(bench, args);
  try {
    await initialize(client);
    const list = await client.request(LIST.method, LIST.params);
    checkList(list, count, sizes);
    if (memory) await pause(bench.quick ? 200 : SETTLE_MS);
    return { ms: list.arrived - begin, cpu: list.cpu / 1000, memory: memory ? memoryMiB(client.pid) : undefined };
  } finally {
    await client.end();
  }
}

/** The same skill, called one at a time, by two servers of ours in turns. */
async function measureCalls(bench, many) {
  const few = makeSkills(bench.directory('skills'), 25);
  const servers = [
    { name: 'ours', client: open(bench, ours(bench, many, '--describe', 'full')) },
    { name: 'ours-25', client: open(bench, ours(bench, few, '--describe', 'full')) },
  ];
  try {
    const measurements = [];
    for (const { name, client } of servers) {
      await initialize(client);
      await client.request(LIST.method, LIST.params);
      const answer = await client.request(CALL.method, CALL.params);
      checkCall(answer, skillText(0), []);
      const template = templateOf(answer);
      const count = bench.rounds(CALLS, 100);
      await load(client, CALL, template, { count, width: 1 });
      const measure = async () => ({ p50: median((await load(client, CALL, template, { count, width: 1 })).times) });
      measurements.push({ name, measure });
    }
    const samples = await interleave(bench.rounds(10, 2), measurements, bench.fail);
    const label = 'call p50 among 10,000 skills / 25';
    bench.record({ metric: 'scale.call', label, unit: 'µs', values: pick(samples, 'p50') });
  } finally {
    await Promise.all(servers.map(({ client }) => client.end()));
  }
}
