/**
 * `npm run hosts`: the built program in real hosts, and real servers behind its hub.
 *
 *   npm run hosts                          all of them
 *   npm run hosts -- claude-code codex     some of them, by name
 *   npm run hosts -- hosts                 the hosts only; `servers`: the servers only
 *
 * Installing needs the npm registry; everything else stays on loopback. Packages are kept in SKILLWIRE_HOSTS_DIR, or below
 * the temporary directory; `run` in it has the logs of the last run.
 */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, install, say, top } from '../build.js';
import { driveHost } from './drive.js';
import { HOSTS } from './hosts.js';
import { driveHub } from './hub.js';
import { endAll } from './processes.js';
import { SERVERS } from './servers.js';

const words = process.argv.slice(2);
const all = [...HOSTS, ...SERVERS].map(({ name }) => name);
const unknown = words.filter((word) => ![...all, 'hosts', 'servers'].includes(word));
if (unknown.length > 0) {
  say(`no host or server is called ${unknown.join(', ')}. There are: ${all.join(', ')}`);
  process.exit(2);
}
const chosen = (rows, kind) =>
  rows.filter(({ name }) => words.length === 0 || words.includes(kind) || words.includes(name));

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
process.on('exit', endAll);
install();
await build();
const cache = process.env.SKILLWIRE_HOSTS_DIR ?? join(tmpdir(), 'skillwire-hosts');
const run = { cache, folder: join(cache, 'run'), bin: join(top, 'dist', 'skillwire.cjs') };
mkdirSync(run.folder, { recursive: true });

const results = [];
for (const host of chosen(HOSTS, 'hosts')) {
  say(host.name);
  results.push(await driveHost(host, run));
}
print(results);
// A server may need what is not here, and says so; a host that could be driven before and cannot now is a fault.
let isOk = results.every(({ verdict }) => /^(ok|connects)/.test(verdict));
const servers = chosen(SERVERS, 'servers');
if (servers.length > 0) {
  say(`${servers.length} servers behind the hub`);
  const { table, summary, isOk: isHubOk } = await driveHub(servers, run);
  print(table);
  console.log(summary);
  isOk &&= isHubOk;
}
process.exit(isOk ? 0 : 1);

/** As Markdown that can also be read on a terminal. */
function print(rows) {
  if (rows.length === 0) return;
  const head = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) =>
    head.map((key) =>
      String(row[key] ?? '-')
        .replace(/\s+/g, ' ')
        .replaceAll('|', '\\|'),
    ),
  );
  for (const line of [head, head.map(() => '---'), ...cells]) console.log(`| ${line.join(' | ')} |`);
}
