/**
 * `npm run bench`: every phase, or those named: `npm run bench -- start http`.
 *   --quick    few rounds and small trees: shows that everything runs, measures nothing
 *   --keep     writes results.json and results.svg beside this file, for the README (only with all phases)
 * All figures are ratios to bare Node with the same duties, measured in the same run in turns with ours: numbers of a busy
 * machine mean nothing alone. A ratio is the median of the ratios of all rounds, because what two servers took in
 * one round was taken on the same machine, while two best rounds are two lucky moments.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, install, say, top } from '../build.js';
import { PHASES } from './phases.js';
import { drawPlot } from './plot.js';

const here = join(top, 'scripts', 'bench');
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, keep: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(PHASES, name));
if (unknown.length > 0) {
  say(`no phase is called ${unknown.join(', ')}; there are ${Object.keys(PHASES).join(', ')}`);
  process.exit(2);
}
install();
await build();
const rows = [];
for (const [name, measure] of Object.entries(PHASES)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  say(name);
  rows.push(...(await measure(options.quick)).map(summarize));
}
console.log(about());
console.table(Object.fromEntries(rows.map(({ texts: { label, ...texts }, aim }) => [label, { ...texts, aim }])));
if (options.keep && positionals.length === 0 && !options.quick) keep();

// --- internal ---

/** One row with its texts as the README has them, whether it meets its aim, and its place in the picture. */
function summarize({ label, unit, aim, values }) {
  const ratio = median(values.ours.map((one, round) => one / values.bare[round]));
  const show = (key) => `${format(median(values[key]))} ${unit}`;
  const against = (key) => median(values[key]) / median(values.bare);
  const times = `${ratio.toFixed(2)}x`;
  return {
    texts: { label, ours: show('ours'), bare: show('bare'), ratio: times, v1: show('v1'), v2: show('v2') },
    aim: `≤ ${aim}x${ratio <= aim ? '' : ' MISSED'}`,
    plot: { label, costs: { ours: ratio, v1: against('v1'), v2: against('v2') } },
  };
}

function keep() {
  const results = { about: about(), rows: rows.map(({ texts }) => texts) };
  writeFileSync(join(here, 'results.json'), `${JSON.stringify(results, null, 1)}\n`);
  writeFileSync(join(here, 'results.svg'), drawPlot(rows.map(({ plot }) => plot)));
}

function about() {
  const version = (name) => JSON.parse(readFileSync(join(top, 'node_modules', name, 'package.json'), 'utf8')).version;
  const sdks = `SDKs ${version('@modelcontextprotocol/sdk')} and ${version('@modelcontextprotocol/server')}`;
  const load = loadavg()[0] > cpus().length ? `, load ${loadavg()[0].toFixed(0)}: trust the CPU rows only` : '';
  return `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${sdks}${load}`;
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function format(value) {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 20 ? 0 : 1);
}
