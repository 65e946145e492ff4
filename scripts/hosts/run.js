/**
 * `npm run hosts`: the built program in real hosts, and real servers behind its hub.
 *
 *   npm run hosts                              all of them
 *   npm run hosts -- claude-code filesystem    some of them, by name
 *
 * Installing needs the npm registry; everything else stays on loopback. Packages are kept in SKILLWIRE_HOSTS_DIR, or below
 * the temporary directory; `run` in it has the logs of the last run. Two runs at once need two such directories.
 */
import { rmSync } from 'node:fs';
import { build, install, say } from '../build.js';
import { driveHost } from './host.js';
import { RUNS } from './processes.js';
import { HOSTS, SERVERS } from './table.js';

const words = process.argv.slice(2);
const all = [...HOSTS, ...SERVERS].map(({ name }) => name);
const unknown = words.filter((word) => !all.includes(word));
if (unknown.length > 0) {
  say(`no host or server is called ${unknown.join(', ')}. There are: ${all.join(', ')}`);
  process.exit(2);
}
const chosen = (rows) => rows.filter(({ name }) => words.length === 0 || words.includes(name));

install();
await build();
rmSync(RUNS, { recursive: true, force: true });
const results = [];
for (const host of chosen(HOSTS)) {
  say(host.name);
  results.push(await driveHost(host));
}
if (results.length > 0) console.table(results);
// A server may need what is not here, and says so; a host that could be driven before and cannot now is a fault.
let isOk = results.every(({ verdict }) => /^(ok|connects)/.test(verdict));
const servers = chosen(SERVERS);
if (servers.length > 0) {
  say(`${servers.length} servers behind the hub`);
  // Loaded here: in a fresh clone its packages are there only after `install`.
  const { driveHub } = await import('./hub.js');
  const { rows, summary, left } = await driveHub(servers);
  console.table(rows);
  console.log(summary);
  isOk &&= left.length === 0;
}
process.exit(isOk ? 0 : 1);
