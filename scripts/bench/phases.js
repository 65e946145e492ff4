/**
 * What is measured. Each phase gives rows `{ label, unit, aim, better?, values: { ours, bare, v1, v2 } }`; the values are
 * samples. All servers of a phase take their turns in every round, so that a busy moment of the machine hits them alike.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { top } from '../build.js';
import { connect, connectHttp, cpuMicros, end, memoryMiB, wrong } from './client.js';
import { CALLED, makeSkills, skillText } from './skills.js';

const LIST = { method: 'tools/list' };
const CALL = { method: 'tools/call', params: { name: 'skill', arguments: { name: CALLED } } };
const SETTLE_MS = 2000;

const script =
  (name) =>
  (...args) => [fileURLToPath(new URL(name, import.meta.url)), ...args];
const [bare, sdk] = [script('bare.js'), script('sdk.js')];
const program = (...flags) => [join(top, 'dist', 'skillwire.cjs'), '--no-default-dirs', '--no-plugins', ...flags];
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** `bench`: `{ home, quick, directory() }`; `directory` makes a new one. */
export const PHASES = {
  /** From spawning the process to the answer to `initialize`, and on to a complete list of 25 skills; memory after that. */
  async start(bench) {
    const servers = await serversFor(bench, 25, 'answer');
    const samples = await rounds(bench, 40, servers, (args) => startOnce(bench, args, 25));
    const idle = await rounds(bench, 5, servers, (args) => startOnce(bench, args, 25, SETTLE_MS));
    return [
      { label: 'start to `initialize`', unit: 'ms', aim: 1.5, values: samples('initialize') },
      { label: 'start to the list of 25 skills', unit: 'ms', aim: 1.9, values: samples('list') },
      { label: 'memory, idle', unit: 'MiB', aim: 1.25, values: idle('memory') },
    ];
  },

  /** CPU of the server for each of many requests that are piped into it. */
  async calls(bench) {
    const servers = await serversFor(bench, 25, 'answer');
    const list = await loads(
      bench,
      servers,
      () => LIST,
      (result) => checkList(result, 25),
    );
    const call = await loads(bench, servers, () => CALL, checkCall);
    return [
      { label: 'a list of 25 skills, CPU', unit: 'µs', aim: 1.3, values: list },
      { label: 'a `skill` call of 6 KB, CPU', unit: 'µs', aim: 1.3, values: call },
    ];
  },

  async scale(bench) {
    const [few, many] = bench.quick ? [200, 300] : [1000, 10_000];
    const measure = async (count, times, settle) => {
      const servers = await serversFor(bench, count, 'scan');
      return rounds(bench, times, servers, (args) => startOnce(bench, args, count, settle));
    };
    const [thousand, all] = [await measure(few, 15), await measure(many, 7, SETTLE_MS)];
    return [
      { label: 'start to the list of 1,000 skills', unit: 'ms', aim: 2, values: thousand('list') },
      { label: 'start to the list of 10,000 skills', unit: 'ms', aim: 2, values: all('list') },
      { label: 'memory, 10,000 skills', unit: 'MiB', aim: 1.4, values: all('memory') },
    ];
  },

  /** CPU of a rescan by the timer that finds all skills as they were. It has no counterpart, so its aim is in ms. */
  async rescan(bench) {
    const skills = makeSkills(bench.directory(), 1000);
    const flags = ['--skill-dir', skills, '--no-watch', '--refresh-interval', '500'];
    const values = await withServer(bench, program(...flags), async (client) => {
      const cpuAfter = async (count) => {
        while ((client.log.match(/refresh/g)?.length ?? 0) < count) await pause(5);
        return cpuMicros(client.child) / 1000;
      };
      await client.initialize();
      // The first ones are slower: their code is not compiled yet.
      const first = bench.quick ? 2 : 20;
      const times = [await cpuAfter(first)];
      for (let round = 1; round <= first; round++) times.push(await cpuAfter(first + round));
      return times.slice(1).map((time, at) => time - times[at]);
    });
    return [{ label: 'a rescan of 1,000 unchanged skills, CPU', unit: 'ms', aim: 25, values: { ours: values } }];
  },

  /** How many calls a second a server can take: as many as fit into a second of its CPU. */
  async http(bench) {
    const skills = makeSkills(bench.directory(), 25);
    const ours = program('--skill-dir', skills, '--transport', 'http', '--port', '0');
    const first = await connectHttp(ours, bench.home);
    const { result } = await first.request(CALL);
    await end(first);
    const rest = { v1: sdk('v1', 'http', skills), v2: sdk('v2', 'http', skills) };
    const servers = { ours, bare: bare('http', String(sizeOf(result))), ...rest };
    const open = (args) => connectHttp(args, bench.home, args === servers.v1);
    const cpu = await loads(bench, servers, () => CALL, checkCall, { open, warmUp: 2000, count: 500, width: 32 });
    const perSecond = Object.entries(cpu).map(([name, all]) => [name, all.map((micros) => 1e6 / micros)]);
    const values = Object.fromEntries(perSecond);
    return [{ label: 'HTTP calls a second of CPU', unit: '/s', aim: 0.4, better: 'more', values }];
  },

  /** Another server's tools: the CPU of the process in between alone, and the time until its list holds them. */
  async hub(bench) {
    const upstream = bare('upstream');
    const config = join(bench.directory(), 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { up: { command: process.execPath, args: upstream } } }));
    const rest = { v1: sdk('v1', 'hub', ...upstream), v2: sdk('v2', 'hub', ...upstream) };
    const servers = { ours: program('--hub', '--config', config), bare: bare('hub', ...upstream), ...rest };
    const nameOf = (args) => (args === servers.ours ? 'up:tool-0' : 'tool-0');
    const listOnce = (args) =>
      withServer(bench, args, async (client, begin) => {
        await client.initialize();
        const { result, arrived } = await client.request(LIST);
        if (!result.tools.some(({ name }) => name === nameOf(args))) throw wrong(LIST, result);
        return { ms: arrived - begin };
      });
    const samples = await rounds(bench, 20, servers, listOnce);
    // Short, so that what a hub adds to a call is not hidden behind the copying of its text.
    const callFor = (args) => ({ ...CALL, params: { name: nameOf(args), arguments: { text: 'Some words' } } });
    const cpu = await loads(bench, servers, callFor, (result) => {
      if (result.content[0].text !== 'Some words') throw wrong(CALL, result);
    });
    return [
      { label: 'hub: a call passed on, CPU', unit: 'µs', aim: 4, values: cpu },
      { label: 'hub: start to the list', unit: 'ms', aim: 1.5, values: samples('ms') },
    ];
  },
};

// --- internal ---

/** The command lines of all four for so many skills. The bare script answers with as many bytes as ours. */
async function serversFor(bench, count, duty) {
  const skills = makeSkills(bench.directory(), count);
  const ours = program('--skill-dir', skills, '--describe', 'full');
  const sizes = await withServer(bench, ours, async (client) => [
    `initialize=${sizeOf((await client.initialize()).result)}`,
    `tools/list=${sizeOf((await client.request(LIST)).result)}`,
    `tools/call=${sizeOf((await client.request(CALL)).result)}`,
  ]);
  const floor = duty === 'scan' ? bare('scan', skills, ...sizes) : bare('answer', ...sizes);
  return { ours, bare: floor, v1: sdk('v1', 'stdio', skills), v2: sdk('v2', 'stdio', skills) };
}

const sizeOf = (result) => Buffer.byteLength(JSON.stringify(result));

async function withServer({ home }, args, work) {
  const begin = performance.now();
  const client = connect(args, home);
  try {
    return await work(client, begin);
  } finally {
    await end(client);
  }
}

const startOnce = (bench, args, count, settle) =>
  withServer(bench, args, async (client, begin) => {
    const hello = await client.initialize();
    const list = await client.request(LIST);
    checkList(list.result, count);
    if (settle) await pause(bench.quick ? 100 : settle);
    return { initialize: hello.arrived - begin, list: list.arrived - begin, memory: memoryMiB(client.child) };
  });

/** Runs `measure` with every server once per round, each round beginning with another; gives the samples of a key. */
async function rounds({ quick }, times, servers, measure) {
  const names = Object.keys(servers);
  const samples = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < (quick ? 2 : times); round++) {
    for (let at = 0; at < names.length; at++) {
      const name = names[(at + round) % names.length];
      samples.get(name).push(await measure(servers[name]));
    }
  }
  return (key) => Object.fromEntries([...samples].map(([name, all]) => [name, all.map((one) => one[key])]));
}

/**
 * The CPU of one call, with many in flight, of servers that run side by side. `warmUp`: V8 optimizes a server's code
 * while it runs, up to so many calls; what is measured is the state after that.
 */
async function loads(bench, servers, callFor, check, { open, warmUp = 30_000, count = 2500, width = 64 } = {}) {
  const running = {};
  try {
    for (const [name, args] of Object.entries(servers)) {
      const client = open ? await open(args) : connect(args, bench.home);
      const one = { client, call: callFor(args) };
      running[name] = one;
      await client.initialize?.();
      check((await client.request(one.call)).result);
      await client.load(one.call, { count: bench.quick ? 200 : warmUp, width });
    }
    const amount = { count: bench.quick ? 200 : count, width };
    const measure = async ({ client, call }) => ({ cpu: await client.load(call, amount) });
    return (await rounds(bench, 20, running, measure))('cpu');
  } finally {
    await Promise.all(Object.values(running).map(({ client }) => end(client)));
  }
}

/** Bare scripts fill their constants up with "x". */
const isConstant = ({ x, tools }) => typeof x === 'string' && !tools;

function checkList(result, count) {
  if (isConstant(result)) return;
  const { description } = result.tools.find(({ name }) => name === 'skill');
  if (new Set(description.match(/\bskill-\d+\b/g)).size !== count) throw wrong(LIST, description);
}

function checkCall(result) {
  if (!isConstant(result) && !result.content[0].text.endsWith(skillText(0))) throw wrong(CALL, result);
}
