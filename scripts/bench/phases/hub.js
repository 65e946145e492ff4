/**
 * Another server's tools: a call made directly, through us, through bare Node that parses each message, swaps its id and
 * writes it again (the floor), and through a proxy on each SDK. CPU is that of the process in between alone. Also the
 * time until its list holds the upstream's tools.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../lib/processes.js';
import { interleave, pick } from '../lib/samples.js';
import { floor, LIST, open, warmUp } from '../lib/servers.js';
import { initialize, load, templateOf, WARM_UP, WIDTHS, wrong } from '../lib/stdio-client.js';

// Short, so that what a hub adds to a call is not hidden behind the copying of its text.
const TEXT = 'Some words';
const LIST_PATIENCE_MS = 10_000;

export const hub = {
  name: 'hub',
  async run(bench) {
    const upstream = floor('upstream');
    const config = join(bench.directory('config'), 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { up: { command: bench.node, args: upstream } } }));
    const mine = [bench.program, '--hub', '--config', config, '--no-default-dirs', '--no-plugins'];
    const servers = [
      { name: 'ours', args: mine, tool: 'up:tool-0' },
      { name: 'floor-hub', args: floor('floor-hub', ...upstream), tool: 'tool-0' },
      { name: 'direct', args: upstream, tool: 'tool-0' },
      ...bench.peers
        .filter((peer) => peer.hub)
        .map((peer) => ({ name: peer.name, args: peer.hubArgs(upstream), tool: 'tool-0', every: 4 })),
    ];
    await bench.attempt('hub warm-up', () => warmUp(bench, mine));
    await bench.attempt('hub start', () => measureStart(bench, servers));
    await bench.attempt('hub calls', () => measureCalls(bench, servers));
  },
};

// --- internal ---

async function measureStart(bench, servers) {
  const measurements = servers
    .filter(({ name }) => name !== 'direct')
    .map(({ name, args, tool, every }) => ({ name, every, measure: () => startOnce(bench, args, tool) }));
  const samples = await interleave(bench.rounds(50, 3), measurements, bench.fail);
  const label = 'hub: start to list of upstream tools';
  bench.record({ metric: 'hub.start', label, unit: 'ms', against: 'floor-hub', values: pick(samples, 'ms') });
}

async function startOnce(bench, args, tool) {
  const begin = performance.now();
  const client = open(bench, args);
  try {
    await initialize(client);
    return { ms: (await listUntil(client, tool)) - begin };
  } finally {
    await client.end();
  }
}

/** Asks until the tool is listed: a hub may answer its first list before all servers are there. */
async function listUntil(client, tool) {
  const deadline = performance.now() + LIST_PATIENCE_MS;
  for (;;) {
    const { result, arrived } = await client.request(LIST.method, LIST.params);
    if (result?.tools?.some(({ name }) => name === tool)) return arrived;
    if (arrived > deadline) throw wrong('tools/list', result);
    await pause(1);
  }
}

async function measureCalls(bench, servers) {
  const ready = [];
  try {
    for (const { name, args, tool } of servers) {
      await bench.attempt(`hub calls, ${name}`, async () => {
        const client = open(bench, args);
        ready.push({ name, client });
        await initialize(client);
        await listUntil(client, tool);
        const call = { method: 'tools/call', params: { name: tool, arguments: { text: TEXT } } };
        const answer = await client.request(call.method, call.params);
        if (answer.result?.content?.[0]?.text !== TEXT) throw wrong(call.method, answer.result);
        const template = templateOf(answer);
        await load(client, call, template, { count: bench.rounds(WARM_UP, 200), width: 64 });
        ready.push({ ...ready.pop(), call, template });
      });
    }
    for (const width of WIDTHS) {
      await measureWidth(
        bench,
        ready.filter(({ template }) => template),
        width,
      );
    }
  } finally {
    await Promise.all(ready.map(({ client }) => client.end()));
  }
}

async function measureWidth(bench, servers, { width, label, count, rounds }) {
  const measurements = servers.map(({ name, client, call, template }) => {
    const amount = Math.ceil(bench.rounds(count, 200) / (name.startsWith('sdk') ? 4 : 1));
    return { name, measure: () => load(client, call, template, { count: amount, width }) };
  });
  const samples = await interleave(bench.rounds(rounds, 2), measurements, bench.fail);
  const common = { unit: 'µs', against: 'floor-hub' };
  bench.record({
    ...common,
    metric: `hub.${width}.cpu`,
    label: `hub call, ${label}: CPU`,
    values: pick(samples, 'cpu'),
  });
  bench.record({
    ...common,
    metric: `hub.${width}.time`,
    label: `hub call, ${label}: time`,
    values: pick(samples, 'micros'),
  });
}
