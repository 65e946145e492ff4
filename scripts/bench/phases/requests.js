/**
 * Requests on stdio: `tools/list` of 25 skills and a `skill` call of 6 KB, one at a time and 64 in flight.
 * First of all the server's CPU time per request; wall time also holds this client and the pipe.
 */
import { interleave, pick } from '../lib/samples.js';
import { CALL, checkCall, checkList, floor, LIST, open, ours, sizesOf } from '../lib/servers.js';
import { makeSkills, skillText } from '../lib/skills.js';
import { initialize, load, templateOf, WARM_UP, WIDTHS } from '../lib/stdio-client.js';

const SKILLS = 25;
const REQUESTS = [
  { key: 'list', label: 'tools/list, 25 skills', call: LIST },
  { key: 'call', label: 'skill call, 6 KB', call: CALL },
];

export const requests = {
  name: 'requests',
  async run(bench) {
    const skills = makeSkills(bench.directory('skills'), SKILLS);
    const sizes = await sizesOf(bench, ours(bench, skills));
    const commands = [
      ['ours', ours(bench, skills)],
      ['floor', floor('floor', ...sizes)],
      ...bench.peers.map((peer) => [peer.name, peer.stdio(skills)]),
    ];
    const servers = [];
    try {
      for (const [name, args] of commands) await bench.attempt(name, () => servers.push(openServer(bench, name, args)));
      for (const server of [...servers]) await bench.attempt(server.name, () => initialize(server.client));
      for (const request of REQUESTS) await measureRequest(bench, servers, sizes, request);
    } finally {
      await Promise.all(servers.map(({ client }) => client.end()));
    }
  },
};

// --- internal ---

const openServer = (bench, name, args) => ({ name, client: open(bench, args) });

async function measureRequest(bench, servers, sizes, { key, label, call }) {
  const ready = [];
  for (const { name, client } of servers) {
    await bench.attempt(`${name}, ${label}`, async () => {
      const answer = await client.request(call.method, call.params);
      if (key === 'list') checkList(answer, SKILLS, sizes);
      else checkCall(answer, skillText(0), sizes);
      const template = templateOf(answer);
      await load(client, call, template, { count: bench.rounds(WARM_UP, 200), width: 64 });
      ready.push({ name, client, template });
    });
  }
  for (const { width, label: flight, count, rounds } of WIDTHS) {
    const measurements = ready.map(({ name, client, template }) => {
      // Peers are many times slower; a quarter of the requests is enough to see that.
      const amount = Math.ceil(bench.rounds(count, 200) / (name === 'ours' || name === 'floor' ? 1 : 4));
      return { name, measure: () => load(client, call, template, { count: amount, width }) };
    });
    const samples = await interleave(bench.rounds(rounds, 2), measurements, bench.fail);
    const metric = `requests.${key}.${width}`;
    bench.record({
      metric: `${metric}.cpu`,
      label: `${label}, ${flight}: CPU`,
      unit: 'µs',
      values: pick(samples, 'cpu'),
    });
    bench.record({
      metric: `${metric}.time`,
      label: `${label}, ${flight}: time`,
      unit: 'µs',
      values: pick(samples, 'micros'),
    });
  }
}
