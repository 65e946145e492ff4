/**
 * What is measured. Each phase gives rows `{ label, unit, aim, values: { ours, bare, v1, v2 } }`: samples, of which less is
 * better, and the most that ours should be in times of bare Node.
 * All servers of a phase take their turns in every round, so that a busy moment of the machine hits them alike.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { top } from '../build.js';
import { makeDirectory } from '../programs.js';
import { connect, connectHttp, end, memoryMiB, wrong } from './client.js';
import { CALLED, makeSkills, skillText } from './skills.js';

const LIST = { method: 'tools/list' };
const CALL = { method: 'tools/call', params: { name: 'skill', arguments: { name: CALLED } } };
// Short, so that what a hub adds to a call is not hidden behind the copying of its text.
const WORDS = 'Some words';
const PASSED_ON = { method: 'tools/call', params: { name: 'up:echo', arguments: { text: WORDS } } };
const SETTLE_MS = 2000;

const script =
  (name) =>
  (...args) => [fileURLToPath(new URL(name, import.meta.url)), ...args];
const [bare, sdk] = [script('bare.js'), script('sdk.js')];
const program = (...flags) => [join(top, 'dist', 'skillwire.cjs'), '--no-default-dirs', '--no-plugins', ...flags];

/** `quick`: to show that everything runs, not to measure. */
export const PHASES = {
  /** From spawning the process to the answer to `initialize`, and on to a complete list of 25 skills; memory after that. */
  async start(quick) {
    const servers = await serversFor(25, 'answer');
    const samples = await rounds(quick, 40, servers, (args) => startOnce(quick, args, 25));
    const idle = await rounds(quick, 5, servers, (args) => startOnce(quick, args, 25, SETTLE_MS));
    return [
      { label: 'start to `initialize`', unit: 'ms', aim: 1.5, values: samples('initialize') },
      { label: 'start to the list of 25 skills', unit: 'ms', aim: 1.9, values: samples('list') },
      { label: 'memory, idle', unit: 'MiB', aim: 1.25, values: idle('memory') },
    ];
  },

  /** CPU of the server for each of many requests that are piped into it. */
  async calls(quick) {
    const servers = await serversFor(25, 'answer');
    const list = await loads(quick, servers, LIST, checkList(25));
    const call = await loads(quick, servers, CALL, checkCall);
    return [
      { label: 'a list of 25 skills, CPU', unit: 'µs', aim: 1.3, values: list },
      { label: 'a `skill` call of 6 KB, CPU', unit: 'µs', aim: 1.3, values: call },
    ];
  },

  async scale(quick) {
    const [few, many] = quick ? [200, 300] : [1000, 10_000];
    const measure = async (count, times, settle) => {
      const servers = await serversFor(count, 'scan');
      return rounds(quick, times, servers, (args) => startOnce(quick, args, count, settle));
    };
    const [thousand, all] = [await measure(few, 15), await measure(many, 7, SETTLE_MS)];
    return [
      { label: 'start to the list of 1,000 skills', unit: 'ms', aim: 2, values: thousand('list') },
      { label: 'start to the list of 10,000 skills', unit: 'ms', aim: 2, values: all('list') },
      { label: 'memory, 10,000 skills', unit: 'MiB', aim: 1.4, values: all('memory') },
    ];
  },

  async http(quick) {
    const servers = await serversFor(25, 'http');
    const how = { open: connectHttp, warmUp: 2000, count: 500, width: 32 };
    const values = await loads(quick, servers, CALL, checkCall, how);
    return [{ label: 'a `skill` call over HTTP, CPU', unit: 'µs', aim: 2.5, values }];
  },

  /** A call of another server's tool: the CPU of the process in between alone. */
  async hub(quick) {
    // Ours puts the server's name before the tool's; behind the others the tool itself is called so.
    const [own, named] = [bare('upstream', 'echo'), bare('upstream', 'up:echo')];
    const mcpServers = { up: { command: process.execPath, args: own } };
    const config = join(makeDirectory({ 'mcp.json': JSON.stringify({ mcpServers }) }), 'mcp.json');
    const ours = program('--hub', '--config', config);
    const servers = {
      ours,
      bare: bare('hub', ...named),
      v1: sdk('v1', 'hub', ...named),
      v2: sdk('v2', 'hub', ...named),
    };
    const values = await loads(quick, servers, PASSED_ON, (result) => {
      if (result.content[0].text !== WORDS) throw wrong(PASSED_ON, result);
    });
    return [{ label: 'hub: a call passed on, CPU', unit: 'µs', aim: 4, values }];
  },
};

// --- internal ---

/** The command lines of all four for so many skills. The bare script, by its `duty`, answers with as many bytes as ours. */
async function serversFor(count, duty) {
  const skills = makeSkills(makeDirectory(), count);
  const ours = program('--skill-dir', skills, '--describe', 'full');
  const sizeOf = ({ result }) => Buffer.byteLength(JSON.stringify(result));
  const sizes = await withServer(ours, async (client) => [
    `initialize=${sizeOf(await client.initialize())}`,
    `tools/list=${sizeOf(await client.request(LIST))}`,
    `tools/call=${sizeOf(await client.request(CALL))}`,
  ]);
  const [flags, transport] = duty === 'http' ? [['--transport', 'http', '--port', '0'], 'http'] : [[], 'stdio'];
  return {
    ours: [...ours, ...flags],
    bare: bare(duty, skills, ...sizes),
    v1: sdk('v1', transport, skills),
    v2: sdk('v2', transport, skills),
  };
}

async function withServer(args, work) {
  const begin = performance.now();
  const client = connect(args);
  try {
    return await work(client, begin);
  } finally {
    await end(client);
  }
}

const startOnce = (quick, args, count, settle) =>
  withServer(args, async (client, begin) => {
    const hello = await client.initialize();
    const list = await client.request(LIST);
    checkList(count)(list.result);
    if (settle) await pause(quick ? 100 : settle);
    return { initialize: hello.arrived - begin, list: list.arrived - begin, memory: memoryMiB(client.child) };
  });

/** Runs `measure` with every server once per round, each round beginning with another; gives the samples of a key. */
async function rounds(quick, times, servers, measure) {
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
async function loads(quick, servers, call, check, how = {}) {
  const { open = connect, warmUp = 30_000, count = 2500, width = 64 } = how;
  const clients = {};
  try {
    for (const [name, args] of Object.entries(servers)) {
      const client = await open(args);
      clients[name] = client;
      await client.initialize?.();
      check((await client.request(call)).result);
      await client.load(call, { count: quick ? 200 : warmUp, width });
    }
    const amount = { count: quick ? 200 : count, width };
    const measure = async (client) => ({ cpu: await client.load(call, amount) });
    return (await rounds(quick, 20, clients, measure))('cpu');
  } finally {
    await Promise.all(Object.values(clients).map(end));
  }
}

/** Bare scripts fill their constants up with "x". */
const isConstant = ({ x, tools }) => typeof x === 'string' && !tools;

const checkList = (count) => (result) => {
  if (isConstant(result)) return;
  const { description } = result.tools.find(({ name }) => name === 'skill');
  if (new Set(description.match(/\bskill-\d+\b/g)).size !== count) throw wrong(LIST, description);
};

function checkCall(result) {
  if (!isConstant(result) && !result.content[0].text.endsWith(skillText(0))) throw wrong(CALL, result);
}
