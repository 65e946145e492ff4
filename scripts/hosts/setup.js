/**
 * `node scripts/hosts/setup.js [DIR]`: lets `skillwire setup` write into the configuration of real hosts, asks each host which
 * servers it has, and takes the entry out again. On stdio, and over HTTP with a token. Codex and Copilot CLI list servers
 * without connecting to them; the others connect. DIR: where packages are kept between runs, as for `npm run hosts`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { build, install, top } from '../prepare.js';
import { AGENTS } from './agents.js';
import { installedVersion, installPackages, NODE, nodeBin } from './packages.js';
import { endAll, LOOPBACK_ONLY, runToEnd } from './processes.js';

const HOST_LIMIT = 60_000;
const PORT = 3396;
const TOKEN = 'a-token-of-this-test';
const BIN = join(top, 'dist', 'skillwire.cjs');

/** `client`: its name for setup. `list`: what it is asked. `text`: a file of its user. `good`: what it then says. */
const HOSTS = [
  {
    agent: 'claude-code',
    client: 'claude-code',
    list: ['claude', 'mcp', 'list'],
    text: '{"a": 1}\n',
    good: /Connected/,
  },
  { agent: 'codex', client: 'codex', list: ['codex', 'mcp', 'list'], text: '# mine\nmodel = "x"', good: /enabled/ },
  {
    agent: 'gemini-cli',
    client: 'gemini',
    list: ['gemini', 'mcp', 'list'],
    text: '{\n  // mine\n}',
    good: /Connected/,
  },
  {
    agent: 'opencode',
    client: 'opencode',
    list: ['opencode', 'mcp', 'list'],
    text: '{ /* mine */ }',
    good: /connected/,
  },
  {
    agent: 'copilot-cli',
    client: 'copilot',
    list: ['copilot', 'mcp', 'list'],
    text: '{}',
    good: /skillwire \((local|http)\)/,
  },
];

const cache = resolve(process.argv[2] ?? process.env.SKILLWIRE_HOSTS_DIR ?? join(tmpdir(), 'skillwire-hosts'));
install();
build();
const place = join(cache, 'setup');
rmSync(place, { recursive: true, force: true });
mkdirSync(place, { recursive: true });
await installPackages(cache, NODE);
const env = { PATH: process.env.PATH, HOME: place, SKILLWIRE_TOKEN: TOKEN };
const server = spawn(process.execPath, [BIN, '--transport', 'http', '--port', String(PORT)], { env, cwd: place });
try {
  for (const host of HOSTS) {
    for (const args of [[], ['--url', `http://127.0.0.1:${PORT}/mcp`]]) console.log(await drive(host, args));
  }
} finally {
  server.kill();
  endAll();
}

// --- internal ---

async function drive({ agent, client, list: [command, ...words], text, good }, args) {
  const row = AGENTS.find(({ name }) => name === agent);
  const folder = await installPackages(cache, { name: row.folder ?? row.name, packages: row.packages });
  const version = installedVersion(folder, row.packages[0].replace(/(.)@.*$/, '$1'));
  const home = join(place, `${agent}${args.length}`);
  mkdirSync(join(home, 'project'), { recursive: true });
  const path = [join(folder, 'node_modules', '.bin'), nodeBin(cache), process.env.PATH].join(delimiter);
  const own = { PATH: path, HOME: home, LANG: 'C.UTF-8', NO_COLOR: '1', ...LOOPBACK_ONLY, SKILLWIRE_TOKEN: TOKEN };
  const options = { cwd: join(home, 'project'), env: { ...own, ...row.env?.({ home, model: '' }) }, limit: HOST_LIMIT };
  const setup = async (...more) => {
    const { code, output } = await runToEnd(
      process.execPath,
      [BIN, 'setup', '--json', client, ...args, ...more],
      options,
    );
    if (code !== 0) throw new Error(output);
    return JSON.parse(output);
  };
  const { file } = await setup();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  await setup('--write');
  const before = readFileSync(file);
  const { output } = await runToEnd(command, words, options);
  const line = output.split('\n').find((one) => good.test(one));
  // A host may add to its file, and then more than the entry has changed.
  const isUntouched = readFileSync(file).equals(before);
  await setup('--remove');
  const isBack = readFileSync(file, 'utf8') === text;
  const back = isBack ? 'taken back to the byte' : isUntouched ? 'NOT taken back' : 'the host changed its file too';
  const said = line?.trim().slice(0, 120) ?? `FAILED: ${output.trim().slice(-500)}`;
  return `${agent} ${version}${args.length ? ', HTTP' : ''}: ${said}; ${back}`;
}
