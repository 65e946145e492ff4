/**
 * Published servers behind the hub, all at once, in one fresh home: who gets ready and with how many tools, one harmless
 * call each, how long the end takes after SIGTERM, and what processes are left then.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { makeSkills } from './home.js';
import { installedVersion, installPackages } from './packages.js';
import { endLeftBehind, leftBehind, start } from './processes.js';
import { connect } from './rpc.js';

const MARK = 'hub';
// On two processors 28 servers that start at once need about half of it; a server that answers later is not ready.
const READY_LIMIT = 60_000;
const CALL_LIMIT = 15_000;
const END_LIMIT = 10_000;
// What a well-behaved child may still need after its parent has gone.
const GRACE = 1_000;

export async function driveHub(servers, run) {
  const folder = join(run.folder, 'hub');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'project'), { recursive: true });
  const rows = await installAll(servers, run);
  try {
    const { child, client, log } = startHub(rows, run, folder);
    const readySeconds = await waitUntilReady(rows, client, log);
    for (const row of rows.filter(({ tools, server: { call } }) => tools && call))
      row.call = await callOne(row, client);
    const ending = await end(child, rows);
    writeFileSync(join(folder, 'hub.log'), log.join('\n'));
    return { servers: rows.map((row) => describe(row, ending)), ending: { ...ending, readySeconds } };
  } finally {
    endLeftBehind(MARK);
  }
}

// --- internal ---

async function installAll(servers, run) {
  const rows = [];
  for (const server of servers) {
    const row = { server, folder: undefined, version: undefined, failure: undefined, tools: 0, state: 'not installed' };
    rows.push(row);
    try {
      row.folder = await installPackages(run.cache, { name: `server-${server.name}`, packages: server.packages });
      row.version = installedVersion(row.folder, server.packages[0].replace(/(.)@.*$/, '$1'));
      row.state = 'connecting';
    } catch (error) {
      row.failure = error.message;
    }
  }
  return rows;
}

function startHub(rows, run, folder) {
  const project = join(folder, 'project');
  const config = join(folder, 'mcp.json');
  const env = {
    PATH: [run.nodeBin, process.env.PATH].join(delimiter),
    HOME: folder,
    TMPDIR: folder,
    LANG: 'C.UTF-8',
    CI: '1',
  };
  const entries = rows
    .filter((row) => row.folder)
    .map(({ server, folder: packages }) => [
      server.name,
      {
        command: join(packages, 'node_modules', '.bin', server.bin),
        args: server.args?.({ folder, project }) ?? [],
        env: { ...env, SKILLWIRE_HOSTS_RUN: MARK, ...server.env?.({ folder, project }) },
      },
    ]);
  writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(entries) }, null, 2));
  makeSkills(join(folder, 'skills'), 3);
  const args = ['serve', '--hub', '--config', config, '--no-default-dirs', '--skill-dir', join(folder, 'skills')];
  const options = { cwd: project, env, mark: MARK, stdio: ['pipe', 'pipe', 'pipe'] };
  const child = start(process.execPath, [run.bin, ...args, '--log-level', 'debug'], options);
  const log = [];
  child.stderr.on('data', (chunk) => log.push(...String(chunk).split('\n')));
  return { child, client: connect(child), log };
}

/** Asks for the tools every second until every server has some, or has been tried and the time is over. */
async function waitUntilReady(rows, client, log) {
  const began = Date.now();
  let seconds = 0;
  await client.initialize();
  while (Date.now() - began < READY_LIMIT) {
    const { tools } = await client.request('tools/list', {}, CALL_LIMIT);
    for (const row of rows) {
      const count = tools.filter(({ name }) => name.startsWith(`${row.server.name}:`)).length;
      if (count > 0 && row.tools === 0) seconds = Math.round((Date.now() - began) / 1000);
      row.tools = count;
      row.state = count > 0 ? 'ready' : row.state;
      row.failure = lastWord(row, log) ?? row.failure;
    }
    if (rows.every(({ state, failure }) => state !== 'connecting' || failure)) break;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  return seconds;
}

/** The newest reason that the hub's log gives for a server that is not ready. */
function lastWord({ server, state }, log) {
  if (state === 'ready') return undefined;
  const line = log.findLast((text) => text.includes(`server ${server.name}: failed`));
  return line?.replace(/^.*?: failed:? ?/, '').replace(/; next attempt.*$/, '');
}

async function callOne({ server }, client) {
  const [tool, args] = server.call;
  try {
    const result = await client.request('tools/call', { name: `${server.name}:${tool}`, arguments: args }, CALL_LIMIT);
    return `${tool}: ${result.isError ? 'error' : 'ok'} (${result.content?.[0]?.text?.trim().slice(0, 40) ?? 'no text'})`;
  } catch (error) {
    return `${tool}: ${error.message}`;
  }
}

async function end(child, rows) {
  const began = Date.now();
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
  const limit = new Promise((resolve) => setTimeout(resolve, END_LIMIT, 'none: still running'));
  child.kill('SIGTERM');
  const code = await Promise.race([ended, limit]);
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  await new Promise((resolve) => setTimeout(resolve, GRACE));
  const left = leftBehind(MARK).map(({ command }) => ({
    command,
    server: rows.find(({ folder }) => folder && command.includes(folder))?.server.name,
  }));
  return { code, seconds, left };
}

function describe({ server, version, state, tools, call, failure }, { left }) {
  const remains = left.filter((one) => one.server === server.name).map(({ command }) => `left behind: ${command}`);
  const said = state === 'ready' ? [] : [failure ?? 'no answer in time'];
  return {
    server: server.name,
    version,
    state: state === 'connecting' ? 'failed' : state,
    tools,
    call,
    remark: [...said, ...remains].join('; ').slice(0, 200),
  };
}
