/**
 * Drives one host: a fresh home, the proxy in front of skillwire, the fake model behind the host, its commands one after
 * the other, then the judgement. Never rejects: a host that cannot be driven has a verdict that says why.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findComplaints } from './complaints.js';
import { makeHome, makeSkills } from './home.js';
import { judge } from './judge.js';
import { readLog, summarize, toolsListed } from './log.js';
import { playScript } from './model/script.js';
import { startModel } from './model/server.js';
import { installedVersion, installPackages } from './packages.js';
import { endLeftBehind, LOOPBACK_ONLY, runToEnd, staysBehind } from './processes.js';

// The slowest needs a third of it on two busy processors.
const HOST_LIMIT = 60_000;
const here = dirname(fileURLToPath(import.meta.url));

/**
 * @param host a row of agents.js or clients.js
 * @param run `{cache, folder, bin, nodeBin, wide}`: where packages lie, where this run writes, what is tested
 */
export async function driveHost(host, run) {
  const began = Date.now();
  try {
    return { ...(await drive(host, run)), seconds: (Date.now() - began) / 1000 };
  } catch (error) {
    return { host: host.name, verdict: `failed: ${error.message}`, seconds: (Date.now() - began) / 1000 };
  } finally {
    endLeftBehind(host.name);
  }
}

// --- internal ---

async function drive(host, run) {
  const packages = await installPackages(run.cache, { name: host.folder ?? host.name, packages: host.packages });
  const folder = join(run.folder, host.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const log = join(folder, 'mcp.log');
  const skills = join(folder, 'skills');
  makeSkills(skills, run.wide ? 300 : 3);
  const model = await startModel(playScript(() => toolsListed(readLog(log)), host.search));
  try {
    const context = makeContext(host, run, { folder, packages, log, skills, model });
    const { files = {}, commands } = host.setup(context);
    const { own } = makeHome(folder, files);
    if (host.driver) copyFileSync(join(here, 'drivers', host.driver), join(packages, 'driver.mjs'));
    const outputs = await runCommands(host, context, commands);
    writeFileSync(join(folder, 'output.txt'), outputs.map(({ output }) => output).join('\n'));
    writeFileSync(join(folder, 'model.json'), JSON.stringify(model.requests, null, 1));
    const left = await staysBehind(host.name);
    const version = installedVersion(packages, host.packages[0].replace(/(.)@.*$/, '$1'));
    const entries = readLog(log);
    const facts = { host, entries, ...summarize(entries), requests: model.requests, outputs, own, left };
    return { host: host.name, version, ...judge(facts), complaints: findComplaints(folder, run.cache) };
  } finally {
    model.close();
  }
}

function writeOddServer(folder) {
  const file = join(folder, 'odd.json');
  const odd = { command: process.execPath, args: [join(here, 'drivers', 'odd-server.js')] };
  writeFileSync(file, JSON.stringify({ mcpServers: { odd } }));
  return file;
}

/** What a row of the table may use to write its configuration and its command lines. */
function makeContext(host, run, { folder, packages, log, skills, model }) {
  const home = join(folder, 'home');
  const program = [
    run.bin,
    'serve',
    '--no-default-dirs',
    '--no-plugins',
    '--skill-dir',
    skills,
    '--log-level',
    'debug',
  ];
  if (run.wide) program.push('--describe', 'full', '--names', 'plain', '--hub', '--config', writeOddServer(folder));
  const bins = [join(packages, 'node_modules', '.bin'), run.nodeBin];
  return {
    folder,
    home,
    project: join(home, 'project'),
    packages,
    log,
    model: model.url,
    // What a user writes into a host's configuration: a command and its arguments.
    server: { command: process.execPath, args: [join(here, 'proxy.js'), log, process.execPath, ...program] },
    program: { command: process.execPath, args: program },
    env: {
      PATH: [...bins, process.env.PATH].join(delimiter),
      HOME: home,
      TMPDIR: folder,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      CI: '1',
      NO_COLOR: '1',
      ...LOOPBACK_ONLY,
      ...host.env?.({ home, model: model.url }),
    },
  };
}

async function runCommands(host, context, commands) {
  const outputs = [];
  const until = Date.now() + (host.limit ?? HOST_LIMIT);
  for (const [command, ...args] of commands) {
    const limit = Math.max(until - Date.now(), 1000);
    const options = { cwd: context.project, env: context.env, limit, mark: host.name };
    outputs.push({ command: [command, ...args].join(' '), ...(await runToEnd(command, args, options)) });
  }
  return outputs;
}
