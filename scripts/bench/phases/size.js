/**
 * What an installation takes on the disk: the package itself as `npm pack` makes it, and all of node_modules with what
 * it depends on; for the peers, node_modules of a minimal server made with them.
 */
import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { top } from '../../prepare.js';
import { runCommand } from '../lib/processes.js';

const KIB = 1024;

export const size = {
  name: 'size',
  async run(bench) {
    const place = bench.directory('package');
    // Built by this run already; building again would disturb those who run the program meanwhile.
    await runCommand('npm', ['pack', '--ignore-scripts', '--pack-destination', place], { cwd: top });
    const [archive] = readdirSync(place).filter((name) => name.endsWith('.tgz'));
    writeFileSync(join(place, 'package.json'), '{"private":true}');
    const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error'];
    await runCommand('npm', ['install', ...flags, `./${archive}`], { cwd: place });
    const modules = join(place, 'node_modules');
    const packed = { ours: [lstatSync(join(place, archive)).size / KIB] };
    const unpacked = { ours: [bytesIn(join(modules, 'skillwire')) / KIB] };
    const everything = Object.fromEntries(bench.peers.map((peer) => [peer.name, [modulesOf(peer)]]));
    bench.record({ metric: 'size.packed', label: 'package, packed', unit: 'KiB', values: packed });
    bench.record({ metric: 'size.unpacked', label: 'package, unpacked', unit: 'KiB', values: unpacked });
    const values = { ours: [bytesIn(modules) / KIB], ...everything };
    bench.record({ metric: 'size.installed', label: 'node_modules, installed', unit: 'KiB', values });
  },
};

// --- internal ---

const modulesOf = ({ directory }) => bytesIn(join(directory, 'node_modules')) / KIB;

/** Sum of file sizes; what a file system rounds them up to differs from one to the next. */
function bytesIn(path) {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}
