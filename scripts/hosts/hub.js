/**
 * Published servers behind the hub, all at once, in one fresh home: who gets ready and with how many tools, one harmless
 * call each, how long the end takes after SIGTERM, and what processes are left then.
 */
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { top } from '../build.js';
import { endLeftBehind, environment, installPackages, RUNS, versionOf } from './processes.js';

const folder = join(RUNS, 'hub');
const home = join(folder, 'home');
const log = join(folder, 'hub.log');
// On two processors 27 servers that start at once need about half of it; a server that answers later is not ready.
const READY_MS = 60_000;
const CALL_MS = 15_000;
const END_MS = 12_000;

/** `servers`: rows of the table. Gives a row for each, a sentence about the whole, and what was left behind. */
export async function driveHub(servers) {
  mkdirSync(home, { recursive: true });
  const rows = servers.map(({ name, packages }) => ({ server: name, version: versionOf(packages), tools: 0 }));
  const { client, transport } = await startHub(servers);
  const readySeconds = await waitUntilReady(rows, client);
  for (const [at, server] of servers.entries())
    if (rows[at].tools > 0 && server.call) rows[at].call = await callOne(server, client);
  const began = Date.now();
  const gone = new Promise((done) => {
    client.onclose = done;
  });
  process.kill(transport.pid, 'SIGTERM');
  await Promise.race([gone, pause(END_MS)]);
  const endSeconds = ((Date.now() - began) / 1000).toFixed(1);
  const left = await endLeftBehind(folder);
  const ready = rows.filter(({ tools }) => tools > 0);
  const count = ready.reduce((sum, { tools }) => sum + tools, 0);
  const summary = `${ready.length} of ${rows.length} ready after ${readySeconds} s, ${count} tools. Ended ${endSeconds} s after SIGTERM. Left behind: ${left.join(', ') || 'nothing'}.`;
  return { rows, summary, left };
}

// --- internal ---

async function startHub(servers) {
  const entryOf = ({ name, packages, bin, args = [], env }) => {
    const command = join(installPackages(packages), 'node_modules', '.bin', bin);
    return [name, { command, args, env: { ...environment(home, packages[0]), ...env } }];
  };
  const mcpServers = Object.fromEntries(servers.map(entryOf));
  const config = join(folder, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers }, null, 2));
  const program = join(top, 'dist', 'skillwire.cjs');
  const args = [program, '--hub', '--config', config, '--no-default-dirs', '--no-plugins'];
  const options = { cwd: home, env: environment(home), stderr: openSync(log, 'w') };
  const transport = new StdioClientTransport({ command: process.execPath, args, ...options });
  const client = new Client({ name: 'hosts-check', version: '1.0.0' });
  await client.connect(transport);
  return { client, transport };
}

/** Asks for the tools every second until every server has some or has failed, or the time is over; gives the seconds. */
async function waitUntilReady(rows, client) {
  const began = Date.now();
  for (;;) {
    const { tools } = await client.listTools();
    const said = readFileSync(log, 'utf8');
    for (const row of rows) {
      row.tools = tools.filter(({ name }) => name.startsWith(`${row.server}:`)).length;
      const [, why] = new RegExp(`server ${row.server}: failed: (.{1,200})`).exec(said) ?? [];
      row.remark = row.tools > 0 ? '' : why;
    }
    const took = Date.now() - began;
    if (rows.every((row) => row.tools > 0 || row.remark) || took > READY_MS) return Math.round(took / 1000);
    await pause(1000);
  }
}

async function callOne({ name, call: [tool, args] }, client) {
  try {
    const params = { name: `${name}:${tool}`, arguments: args };
    const { isError, content } = await client.callTool(params, undefined, { timeout: CALL_MS });
    return `${tool}: ${isError ? 'error' : 'ok'}, ${content?.[0]?.text?.trim().slice(0, 40)}`;
  } catch (error) {
    return `${tool}: ${error.message.slice(0, 60)}`;
  }
}
