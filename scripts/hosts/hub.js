/**
 * Published servers behind the hub, all at once, in one fresh home: who gets ready and with how many tools, one harmless
 * call each, how long the end takes after SIGTERM, and what processes are left then.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { makeSkills } from './drive.js';
import { endLeftBehind, environment, installPackages } from './processes.js';

const MARK = 'hub';
// On two processors 27 servers that start at once need about half of it; a server that answers later is not ready.
const READY_MS = 60_000;
const CALL_MS = 15_000;
const END_MS = 12_000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Gives a row per server, a sentence about the whole, and whether everything ended. */
export async function driveHub(servers, { cache, folder: runs, bin }) {
  const folder = join(runs, 'hub');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const rows = [];
  for (const server of servers) rows.push(await installServer(server, cache));
  const hub = await startHub(rows, { cache, folder, bin });
  try {
    const readySeconds = await waitUntilReady(rows, hub);
    for (const row of rows.filter(({ tools, server }) => tools > 0 && server.call)) row.call = await callOne(row, hub);
    const { isGone, seconds } = await end(hub);
    const left = await endLeftBehind(MARK);
    const ready = rows.filter(({ tools }) => tools > 0);
    const count = ready.reduce((sum, { tools }) => sum + tools, 0);
    const summary = `${ready.length} of ${rows.length} ready after ${readySeconds} s, ${count} tools. ${isGone ? 'Gone' : 'NOT gone'} ${seconds} s after SIGTERM. Left behind: ${left.join(', ') || 'nothing'}.`;
    const table = rows.map(({ server, version, tools, call, failure }) => {
      return { server: server.name, version, tools, call, remark: tools > 0 ? '' : failure };
    });
    return { table, summary, isOk: isGone && left.length === 0 };
  } finally {
    writeFileSync(join(folder, 'hub.log'), hub.log);
    await endLeftBehind(MARK);
  }
}

// --- internal ---

async function installServer(server, cache) {
  try {
    return { server, tools: 0, ...(await installPackages(cache, `server-${server.name}`, server.packages)) };
  } catch (error) {
    return { server, tools: 0, failure: error.message };
  }
}

async function startHub(rows, { cache, folder, bin }) {
  const put = (text) => text.replace('{folder}', folder);
  const entryOf = ({ server: { bin: command, args, env }, folder: packages }) => {
    const own = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, put(value)]));
    const whole = { ...environment(cache, packages, folder, MARK), ...own };
    return { command: join(packages, 'node_modules', '.bin', command), args: args.map(put), env: whole };
  };
  const installed = rows.filter((row) => row.folder);
  const mcpServers = Object.fromEntries(installed.map((row) => [row.server.name, entryOf(row)]));
  const config = join(folder, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers }, null, 2));
  const skills = makeSkills(join(folder, 'skills'));
  const args = [bin, 'serve', '--hub', '--config', config, '--no-default-dirs', '--no-plugins', '--skill-dir', skills];
  const env = environment(cache, folder, folder, MARK);
  const transport = new StdioClientTransport({ command: process.execPath, args, cwd: folder, env, stderr: 'pipe' });
  const hub = { client: new Client({ name: 'hosts-check', version: '1.0.0' }), transport, log: '' };
  transport.stderr.on('data', (chunk) => {
    hub.log += chunk;
  });
  await hub.client.connect(transport);
  return hub;
}

/** Asks for the tools every second until every server has some or has failed, or the time is over; gives the seconds. */
async function waitUntilReady(rows, hub) {
  const began = Date.now();
  for (;;) {
    const { tools } = await hub.client.listTools();
    for (const row of rows) {
      row.tools = tools.filter(({ name }) => name.startsWith(`${row.server.name}:`)).length;
      row.failure ??= new RegExp(`server ${row.server.name}: failed: (.{1,200})`).exec(hub.log)?.[1];
    }
    const took = Date.now() - began;
    if (rows.every((row) => row.tools > 0 || row.failure) || took > READY_MS) return Math.round(took / 1000);
    await pause(1000);
  }
}

async function callOne({ server: { name, call } }, { client }) {
  const [tool, args] = call;
  try {
    const params = { name: `${name}:${tool}`, arguments: args };
    const { isError, content } = await client.callTool(params, undefined, { timeout: CALL_MS });
    return `${tool}: ${isError ? 'error' : 'ok'}, ${content?.[0]?.text?.trim().slice(0, 40)}`;
  } catch (error) {
    return `${tool}: ${error.message.slice(0, 60)}`;
  }
}

async function end({ client, transport }) {
  const began = Date.now();
  const gone = new Promise((resolve) => {
    client.onclose = () => resolve(true);
  });
  process.kill(transport.pid, 'SIGTERM');
  const isGone = await Promise.race([gone, pause(END_MS)]);
  return { isGone, seconds: ((Date.now() - began) / 1000).toFixed(1) };
}
