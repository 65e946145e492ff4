/**
 * `npm run hosts`: the built program in real hosts, and real servers behind its hub.
 *
 *   npm run hosts                          all of them
 *   npm run hosts -- claude-code codex     some of them, by name
 *   npm run hosts -- --hosts               the hosts only; --servers: the servers only
 *   --dir DIR      where packages are kept between runs (SKILLWIRE_HOSTS_DIR; else below the temporary directory)
 *   --json FILE    everything that was found out, for programs
 *   --wide         300 skills, odd tool names, nothing adapted to the host: shows what hosts cut, rewrite and refuse
 *
 * Installing needs the npm registry; everything else stays on loopback. Logs of the last run are in DIR/run.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build, install, top } from '../prepare.js';
import { AGENTS } from './agents.js';
import { CLIENTS } from './clients.js';
import { driveHost } from './drive.js';
import { driveHub } from './hub.js';
import { installPackages, NODE, nodeBin } from './packages.js';
import { endAll } from './processes.js';
import { complaintList, habitTable, hostTable, serverTable } from './report.js';
import { SERVERS } from './servers.js';

// Without the installing, which is done once, a whole run takes about three minutes.
const TOTAL_LIMIT = 10 * 60_000;

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    hosts: { type: 'boolean', default: false },
    servers: { type: 'boolean', default: false },
    wide: { type: 'boolean', default: false },
    dir: { type: 'string', default: process.env.SKILLWIRE_HOSTS_DIR ?? join(tmpdir(), 'skillwire-hosts') },
    json: { type: 'string' },
  },
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    endAll();
    process.exit(1);
  });
}
try {
  await main();
} finally {
  endAll();
}

async function main() {
  install();
  build();
  const run = await prepare();
  const { hosts, servers } = select();
  const deadline = Date.now() + TOTAL_LIMIT;
  const report = { hosts: [], servers: [], ending: undefined };
  for (const host of hosts) {
    console.error(`hosts: ${host.name}`);
    const late = { host: host.name, verdict: 'not run: the time for the whole run was over' };
    report.hosts.push(Date.now() > deadline ? late : await driveHost(host, run));
  }
  if (report.hosts.length > 0) {
    const parts = [hostTable(report.hosts), habitTable(report.hosts), complaintList(report.hosts)];
    console.log(`${parts.filter(Boolean).join('\n\n')}\n`);
  }
  if (servers.length > 0) {
    console.error(`hosts: ${servers.length} servers behind the hub`);
    Object.assign(report, await driveHub(servers, run));
    console.log(`${serverTable(report)}\n`);
  }
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  // A server may need what is not here, and says so; a host that could be driven before and cannot now is a fault.
  process.exitCode = report.hosts.every(({ verdict }) => /^(ok|connects)/.test(verdict)) ? 0 : 1;
}

async function prepare() {
  const cache = resolve(options.dir);
  const folder = join(cache, 'run');
  mkdirSync(folder, { recursive: true });
  claim(cache);
  await installPackages(cache, NODE);
  return {
    cache,
    folder,
    bin: join(top, JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')).bin.skillwire),
    nodeBin: nodeBin(cache),
    wide: options.wide,
  };
}

/** Two runs in one directory would install and log over each other. */
function claim(cache) {
  const file = join(cache, 'lock');
  const holder = existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  if (holder && isRunning(holder)) {
    console.error(`hosts: process ${holder} is using ${cache}; wait for it, or give another directory with --dir`);
    process.exit(2);
  }
  writeFileSync(file, String(process.pid));
  process.on('exit', () => rmSync(file, { force: true }));
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process, or one of somebody else's
  }
}

/** Names select hosts and servers alike; without names the two flags do. */
function select() {
  const all = [...AGENTS, ...CLIENTS, ...SERVERS].map(({ name }) => name);
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    console.error(`hosts: no host or server is called ${unknown.join(', ')}. There are: ${all.join(', ')}`);
    process.exit(2);
  }
  const both = options.hosts === options.servers;
  const chosen = (rows, flag) => rows.filter(({ name }) => (names.length > 0 ? names.includes(name) : both || flag));
  return { hosts: chosen([...AGENTS, ...CLIENTS], options.hosts), servers: chosen(SERVERS, options.servers) };
}
