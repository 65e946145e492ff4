/**
 * `skill` calls of 6 KB over HTTP with keep-alive, on 1 and on 32 connections, in both eras.
 * The floor is bare node:http that parses the request and answers as many bytes.
 */
import { createServer } from 'node:net';
import { eras, loadHttp, probe, startHttpServer } from '../lib/http-client.js';
import { cpuMicros } from '../lib/processes.js';
import { interleave, pick } from '../lib/samples.js';
import { CALL, checkCall, floor, ours } from '../lib/servers.js';
import { makeSkills, skillText } from '../lib/skills.js';

const WIDTHS = [1, 32];
const ROUND_MS = 700;
const WARM_MS = 1500;

export const http = {
  name: 'http',
  async run(bench) {
    const skills = makeSkills(bench.directory('skills'), 25);
    const running = [];
    const start = async (args) => {
      const server = await startHttpServer({ node: bench.node, args, home: bench.home });
      running.push(server);
      return server;
    };
    try {
      const program = await start(ours(bench, skills, '--transport', 'http', '--port', '0'));
      const peers = [];
      for (const peer of bench.peers) {
        const server = await bench.attempt(peer.name, async () => start(peer.http(skills, await freePort())));
        if (server) peers.push({ ...peer, server });
      }
      for (const era of Object.keys(eras)) {
        await bench.attempt(`${era} era`, () => measureEra(bench, era, { program, peers, start }));
      }
    } finally {
      await Promise.all(running.map(({ end }) => end()));
    }
  },
};

// --- internal ---

async function measureEra(bench, era, { program, peers, start }) {
  const targets = [];
  const add = async (name, server, size) => {
    const request = await eras[era](server.url, CALL);
    const { message, bytes, template } = await probe(request);
    if (size === undefined) checkCall(message, skillText(0), []);
    else if (bytes.length !== size) throw new Error(`${bytes.length} bytes instead of ${size}`);
    await loadHttp(request, template, { connections: 32, milliseconds: bench.rounds(WARM_MS, 100) });
    targets.push({ name, pid: server.pid, request, template });
    return { message, bytes };
  };
  const mine = await add('ours', program);
  const result = Buffer.byteLength(JSON.stringify(mine.message.result));
  const bare = await start(floor('floor-http', String(result)));
  // The bare server has no sessions: it answers every request, of whatever era, so the modern form serves for both.
  const request = await eras.modern(bare.url, CALL);
  const { bytes, template } = await probe(request);
  if (bytes.length !== mine.bytes.length)
    throw new Error(`floor: ${bytes.length} bytes instead of ${mine.bytes.length}`);
  await loadHttp(request, template, { connections: 32, milliseconds: bench.rounds(WARM_MS, 100) });
  targets.push({ name: 'floor-http', pid: bare.pid, request, template });
  for (const peer of peers.filter((candidate) => candidate.era === era)) {
    await bench.attempt(`${peer.name}, ${era}`, () => add(peer.name, peer.server));
  }
  for (const width of WIDTHS) await measureWidth(bench, era, width, targets);
  await bare.end();
}

async function measureWidth(bench, era, connections, targets) {
  const milliseconds = bench.rounds(ROUND_MS, 100);
  const measurements = targets.map(({ name, pid, request, template }) => ({
    name,
    every: name === 'ours' || name === 'floor-http' ? 1 : 3,
    measure: async () => {
      const before = cpuMicros(pid);
      const { answered, rate } = await loadHttp(request, template, { connections, milliseconds });
      return { rate, cpu: (cpuMicros(pid) - before) / answered };
    },
  }));
  const samples = await interleave(bench.rounds(9, 2), measurements, bench.fail);
  const metric = `http.${era}.${connections}`;
  const label = `HTTP ${era}, ${connections} connection${connections === 1 ? '' : 's'}`;
  const against = 'floor-http';
  bench.record({
    metric: `${metric}.rate`,
    label: `${label}: calls`,
    unit: '/s',
    better: 'more',
    against,
    values: pick(samples, 'rate'),
  });
  bench.record({ metric: `${metric}.cpu`, label: `${label}: CPU`, unit: 'µs', against, values: pick(samples, 'cpu') });
}

/** For servers that cannot be told to take any free port and say which. */
async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}
