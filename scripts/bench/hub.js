/**
 * What the hub costs: one call through it beside the same call made directly, and a long list of tools from many
 * servers beside a bare program that writes the same list. All sides take turns in this same run, and their medians are
 * compared. A process that only copies bytes shows what being in between costs at the least.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const HERE = dirname(fileURLToPath(import.meta.url));
const PROGRAM = join(dirname(dirname(HERE)), 'dist', 'bin', 'skillwire.cjs');
const SERVERS = 20;
const TOOLS_EACH = 50;
const ROUNDS = 40;
const CALLS = 100;
const LISTS = 10;

/** Lines for people, one per measurement. */
export async function benchHub(say) {
  const home = mkdtempSync(join(tmpdir(), 'skillwire-bench-'));
  const clients = [];
  const open = async (connect, args) => {
    const client = await connect(home, args);
    clients.push(client);
    return client;
  };
  try {
    for (const pair of PAIRS) await benchCalls(say, home, open, pair);

    const names = Array.from({ length: SERVERS }, (_, at) => [`server-${String(at).padStart(2, '0')}`, TOOLS_EACH]);
    writeConfig(
      home,
      names.map(([name, tools]) => [name, ['-e', SERVER, String(tools)]]),
    );
    const hub = await open(connectBare, HUB);
    await until(hub, `server-${SERVERS - 1}:tool-0`);
    const { tools } = await hub.ask('tools/list', {});
    writeFileSync(join(home, 'list.json'), JSON.stringify(tools));
    const bare = await open(connectBare, ['-e', BARE, join(home, 'list.json')]);
    const [plain, listed] = await takeTurns(
      () => time(LISTS, () => bare.ask('tools/list', {})),
      () => time(LISTS, () => hub.ask('tools/list', {})),
    );
    const size = Math.round(JSON.stringify(tools).length / 1024);
    say(
      `tools/list of ${tools.length} tools from ${SERVERS} servers, ${size} KiB: ${ms(plain)} bare, ${ms(listed)} by the hub = ${ratio(listed, plain)} (wanted: at most 1.5x)`,
    );
  } finally {
    for (const { close } of clients) close();
    rmSync(home, { recursive: true, force: true });
  }
}

// --- internal ---

/** A server that does as little as a server can. Its argument: how many tools. */
const SERVER = `
const text = 'Works on things. Use when the task speaks of them. '.repeat(4);
const tools = Array.from({ length: Number(process.argv[1]) }, (_, at) => ({ name: 'tool-' + at, description: text,
  inputSchema: { type: 'object', properties: { text: { type: 'string', description: text } }, required: ['text'] } }));
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text }] }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  process.stdout.write(JSON.stringify(answer ? { jsonrpc: '2.0', id, result: answer(params) } : { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
});`;

/** What any process in between costs: bytes in, bytes out, nothing looked at. */
const RELAY = `
const args = process.argv.slice(1).map((arg) => JSON.parse(arg));
const child = require('node:child_process').spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
process.stdin.on('data', (chunk) => child.stdin.write(chunk)).on('end', () => child.stdin.end());
child.stdout.on('data', (chunk) => process.stdout.write(chunk));`;

/** A program that serialises the same list for each question, and nothing else. */
const BARE = `
const tools = JSON.parse(require('node:fs').readFileSync(process.argv[1], 'utf8'));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { tools } }) + '\\n');
});`;

const HUB = [PROGRAM, '--hub', '--no-default-dirs', '--no-plugins'];
const SDK_SERVER = [join(HERE, 'servers', 'sdk-v1-stdio.js')];

const PAIRS = [
  { kind: 'client and server made with the official SDK', connect: connectSdk, server: SDK_SERVER },
  { kind: 'bare client, server made with the official SDK', connect: connectBare, server: SDK_SERVER },
  { kind: 'bare client, server that does nothing else', connect: connectBare, server: ['-e', SERVER, '1'] },
];

async function benchCalls(say, home, open, { kind, connect, server }) {
  writeConfig(home, [['up', server]]);
  const direct = await open(connect, server);
  const relay = await open(connect, ['-e', RELAY, ...server.map((arg) => JSON.stringify(arg))]);
  const hub = await open(connect, HUB);
  await until(hub, 'up:tool-0');
  const call = (client, name) => () => time(CALLS, () => client.ask('tools/call', { name, arguments: { text: 'x' } }));
  const [alone, relayed, passed] = await takeTurns(
    call(direct, 'tool-0'),
    call(relay, 'tool-0'),
    call(hub, 'up:tool-0'),
  );
  say(
    `one call on stdio, ${kind}: ${ms(alone)} directly, ${ms(passed)} through the hub = ${ratio(passed, alone)} (wanted: at most 2x); through a process that only copies bytes: ${ratio(relayed, alone)}`,
  );
}

function writeConfig(home, servers) {
  const entries = servers.map(([name, args]) => [name, { command: process.execPath, args }]);
  writeFileSync(join(home, '.kode.json'), JSON.stringify({ mcpServers: Object.fromEntries(entries) }));
}

const CLIENT = { name: 'bench', version: '1' };
const environment = (home) => ({ PATH: process.env.PATH, HOME: home });

/** A client that does as little as a client can. */
async function connectBare(home, args) {
  const child = spawn(process.execPath, args, { cwd: home, env: environment(home), stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map();
  let next = 1;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line);
    waiting.get(id)?.(error ? Promise.reject(new Error(error.message)) : result);
    waiting.delete(id);
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method, params) =>
    new Promise((resolve) => {
      const id = next++;
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT });
  send({ method: 'notifications/initialized' });
  return { ask, close: () => child.kill() };
}

/** The client that most programs use. */
async function connectSdk(home, args) {
  const client = new Client(CLIENT);
  const env = environment(home);
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: home, env, stderr: 'ignore' }));
  const ask = (method, params) => (method === 'tools/list' ? client.listTools() : client.callTool(params));
  return { ask, close: () => void client.close() };
}

/** Waits until a tool is listed. */
async function until({ ask }, name) {
  for (;;) {
    const { tools } = await ask('tools/list', {});
    if (tools.some((tool) => tool.name === name)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** The median of each, measured in turn. */
async function takeTurns(...measures) {
  const times = measures.map(() => []);
  for (const measure of measures) await measure();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, measure] of measures.entries()) times[at].push(await measure());
  }
  return times.map((all) => all.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]);
}

/** Milliseconds for one, on average. */
async function time(count, act) {
  const start = performance.now();
  for (let at = 0; at < count; at++) await act();
  return (performance.now() - start) / count;
}

const ms = (value) => `${value.toFixed(3)} ms`;
const ratio = (value, base) => `${(value / base).toFixed(2)}x`;
