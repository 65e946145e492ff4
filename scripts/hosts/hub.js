/**
 * Published servers behind the hub, all at once, in one fresh home: who gets ready and with how many tools, one harmless
 * call each, how long the end takes after SIGTERM, and what processes are left then.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { makeSkills } from './home.js';
import { installedVersion, installPackages } from './packages.js';
import { endLeftBehind, LOOPBACK_ONLY, marked, start, staysBehind } from './processes.js';
import { connect } from './rpc.js';

const MARK = 'hub';
// On two processors 28 servers that start at once need about half of it; a server that answers later is not ready.
const READY_LIMIT = 60_000;
const CALL_LIMIT = 15_000;
const CALL_WIDTH = 60;
const END_LIMIT = 10_000;

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
    const described = rows.map((row) => describe(row, ending, run.cache));
    return { servers: described, ending: { ...ending, readySeconds } };
  } finally {
    endLeftBehind(MARK);
  }
}

// --- internal ---

/** Two at a time: most of it is waiting for the registry, and the machine may have others to serve. */
async function installAll(servers, run) {
  const rows = servers.map((server) => ({
    server,
    folder: undefined,
    version: undefined,
    tools: 0,
    state: 'not installed',
  }));
  const queue = [...rows];
  const work = async () => {
    for (let row = queue.shift(); row; row = queue.shift()) await installOne(row, run);
  };
  await Promise.all([work(), work()]);
  return rows;
}

async function installOne(row, run) {
  const { name, packages } = row.server;
  try {
    row.folder = await installPackages(run.cache, { name: `server-${name}`, packages });
    row.version = installedVersion(row.folder, packages[0].replace(/(.)@.*$/, '$1'));
    row.state = 'connecting';
  } catch (error) {
    row.failure = error.message;
  }
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
    ...LOOPBACK_ONLY,
  };
  const entries = rows
    .filter((row) => row.folder)
    .map(({ server, folder: packages }) => [
      server.name,
      {
        command: join(packages, 'node_modules', '.bin', server.bin),
        args: server.args?.({ folder, project }) ?? [],
        env: { ...marked(env, MARK), ...server.env?.({ folder, project }) },
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
    return `${tool}: ${result.isError ? 'error' : 'ok'}, ${result.content?.[0]?.text?.trim() ?? 'no text'}`;
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
  const left = (await staysBehind(MARK)).map(({ command }) => ({
    command,
    server: rows.find(({ folder }) => folder && command.includes(folder))?.server.name,
  }));
  return { code, seconds, left };
}

/** Paths are told from the cache directory on: a table is to be the same on every machine. */
function describe({ server, version, state, tools, call, failure }, { left }, cache) {
  const remains = left.filter((one) => one.server === server.name).map(({ command }) => `left behind: ${command}`);
  const said = state === 'ready' ? [] : [failure ?? 'no answer in time'];
  return {
    server: server.name,
    version,
    state: state === 'connecting' ? 'failed' : state,
    tools,
    call: call?.replaceAll(cache, 'DIR').slice(0, CALL_WIDTH),
    remark: [...said, ...remains].join('; ').replaceAll(cache, 'DIR').slice(0, 200),
  };
}
