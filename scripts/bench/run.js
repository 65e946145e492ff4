/**
 * `npm run bench`: every measurement, or those named: `npm run bench -- start`.
 * Each one compares with something bare in the same run, because the numbers of a busy machine mean nothing alone.
 */
import { cpus } from 'node:os';
import { build, install } from '../prepare.js';

const BENCHES = new Map([
  ['start', async () => (await import('./start.js')).benchStart],
  ['scan', async () => (await import('./scan.js')).benchScan],
  ['search', async () => (await import('./search.js')).benchSearch],
  ['http', async () => (await import('./http.js')).benchHttp],
  ['hub', async () => (await import('./hub.js')).benchHub],
]);

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !BENCHES.has(name));
if (unknown.length > 0) {
  console.error(
    `skillwire: no measurement is called ${unknown.join(', ')}; there are ${[...BENCHES.keys()].join(', ')}`,
  );
  process.exit(2);
}
install();
build();
console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`);
for (const name of wanted.length > 0 ? wanted : BENCHES.keys()) {
  console.log(`\n${name}`);
  const bench = await BENCHES.get(name)();
  await bench((line) => console.log(`  ${line}`));
}
