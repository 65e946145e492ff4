/**
 * `npm run bench`: every phase, or those named: `npm run bench -- start http`.
 * All figures are ratios to something bare that was measured in the same run, in turns with ours: the numbers of a busy
 * machine mean nothing alone.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, install } from '../prepare.js';
import { installPeers } from './lib/peers.js';
import { programFile } from './lib/servers.js';
import { exit } from './phases/exit.js';
import { http } from './phases/http.js';
import { hub } from './phases/hub.js';
import { memory } from './phases/memory.js';
import { refresh } from './phases/refresh.js';
import { requests } from './phases/requests.js';
import { scale } from './phases/scale.js';
import { size } from './phases/size.js';
import { start } from './phases/start.js';
import { drawPlot } from './plot.js';
import { formatTable, makeRow, missingTargets } from './report.js';

const here = dirname(fileURLToPath(import.meta.url));

const PHASES = [start, memory, requests, scale, refresh, http, hub, exit, size];

// Three installed peers and the skills come to 300 MB.
const ROOM_BYTES = 1e9;

const USAGE = `npm run bench -- [PHASE...] [options]
phases: ${PHASES.map(({ name }) => name).join(' ')} (all when none is named)
--check      exit 1 when a target is missed
--quick      few rounds and small trees: shows that everything runs, measures little
--no-peers   leave out the servers made with other libraries
--peers DIR  install those here and use them again next time
--node FILE  run every server with this Node
--json FILE  write all numbers
--svg FILE   write the plot
--keep       write both beside this script, for the README`;

const options = readOptions();
if (options !== undefined) process.exitCode = await main(options);

async function main({ values, phases, node }) {
  install();
  build();
  const temporary = mkdtempSync(join(temporaryPlace(), 'skillwire-bench-'));
  const remove = () => rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  process.on('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
  const bench = createBench(values, temporary);
  warnOfLoad();
  console.log(`Node ${node}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`);
  if (values.quick) console.log('quick run: few rounds, at most 1,500 skills; no number here says much');
  if (!values['no-peers']) {
    bench.peers = await installPeers(values.peers ?? join(temporary, 'peers'), (line) => bench.say(line));
  }
  for (const phase of phases) {
    const begin = performance.now();
    await bench.attempt(phase.name, () => phase.run(bench));
    bench.say(`${phase.name}: ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  }
  warnOfLoad();
  return report(bench, node, phases, values);
}

/** CPU time can be trusted on a busy machine; how long something took cannot, not even the best of many rounds. */
function warnOfLoad() {
  const [load] = loadavg();
  if (load > cpus().length)
    console.log(`load ${load.toFixed(1)} on ${cpus().length} processors: trust the CPU rows only`);
}

/**
 * In memory where there is room for the trees of skills: writing them to a disk takes minutes when the disk is busy,
 * and what is measured reads them from the page cache in any case. TMPDIR overrides it.
 */
function temporaryPlace() {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (process.env.TMPDIR === undefined && bavail * bsize > ROOM_BYTES) return '/dev/shm';
  } catch {
    // Not Linux: there is no such place.
  }
  return tmpdir();
}

/** What every phase is given: where things are, how much to do, and where results go. */
function createBench(values, temporary) {
  let places = 0;
  const bench = {
    node: values.node ?? process.execPath,
    program: programFile(),
    quick: values.quick,
    peers: [],
    rows: [],
    failures: [],
    rounds: (full, quick) => (values.quick ? quick : full),
    say: (line) => console.error(`  ${line}`),
    /** Where servers are at home unless a phase says otherwise; what they keep there serves their next start. */
    home: undefined,
    /** A new directory, removed at the end. */
    directory(name) {
      const path = join(temporary, `${name}-${++places}`);
      mkdirSync(path);
      return path;
    },
    record: (measurement) => bench.rows.push(makeRow(measurement)),
    fail(step, error) {
      bench.failures.push({ step, message: error.message });
      bench.say(`FAILED ${step}: ${error.message}`);
    },
    /** A step that fails says so, and the rest goes on. */
    async attempt(step, work) {
      try {
        return await work();
      } catch (error) {
        bench.fail(step, error);
        return undefined;
      }
    },
  };
  bench.home = bench.directory('home');
  return bench;
}

function report({ rows, failures, peers }, node, phases, values) {
  console.log(
    formatTable(
      rows,
      peers.map(({ name }) => name),
    ),
  );
  const missing = missingTargets(
    rows,
    phases.map(({ name }) => name),
  );
  for (const { metric } of missing) console.log(`${metric}: not measured`);
  for (const { step, message } of failures) console.log(`failed: ${step}: ${message}`);
  const missed = rows.filter(({ ok }) => ok === false);
  console.log(`${missed.length + missing.length} of the targets missed, ${failures.length} steps failed`);
  const versions = Object.assign({}, ...peers.map(({ packages }) => packages));
  const result = {
    date: new Date().toISOString(),
    node,
    processor: cpus()[0]?.model,
    quick: values.quick,
    versions,
    rows,
    failures,
  };
  if (values.json) writeFileSync(values.json, `${JSON.stringify(result, null, 1)}\n`);
  if (values.svg) writeFileSync(values.svg, drawPlot(result));
  if (values.keep) {
    const withoutSamples = (name, value) => (name === 'samples' ? undefined : value);
    writeFileSync(join(here, 'results.json'), `${JSON.stringify(result, withoutSamples, 1)}\n`);
    writeFileSync(join(here, 'results.svg'), drawPlot(result));
  }
  return values.check && missed.length + missing.length > 0 ? 1 : 0;
}

function versionOf(node) {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  if (!/^v\d+\./.test(stdout)) throw new Error(`${node} is no Node`);
  return stdout.trim();
}

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        check: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        'no-peers': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        peers: { type: 'string' },
        node: { type: 'string' },
        json: { type: 'string' },
        svg: { type: 'string' },
        keep: { type: 'boolean', default: false },
      },
    });
    const unknown = positionals.filter((name) => !PHASES.some((phase) => phase.name === name));
    if (unknown.length > 0) throw new Error(`no phase is called ${unknown.join(', ')}`);
    const phases = PHASES.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
    if (!values.help) return { values, phases, node: versionOf(values.node ?? process.execPath) };
    console.log(USAGE);
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    process.exitCode = 2;
  }
  return undefined;
}
