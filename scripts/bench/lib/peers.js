/**
 * The servers that we are compared with, each installed into a folder of its own, so that its size can be told.
 * Versions are fixed: a number in the README must say what it was measured against.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './processes.js';

const SOURCES = fileURLToPath(new URL('../peers/', import.meta.url));

const PEERS = [
  { name: 'sdk-v1', packages: { '@modelcontextprotocol/sdk': '1.32.2', zod: '4.1.13' }, hub: true, era: 'legacy' },
  {
    name: 'sdk-v2',
    packages: {
      '@modelcontextprotocol/server': '2.4.0',
      '@modelcontextprotocol/client': '2.4.0',
      '@modelcontextprotocol/node': '2.1.2',
      zod: '4.1.13',
    },
    hub: true,
    era: 'modern',
  },
  { name: 'fastmcp', packages: { fastmcp: '4.20.16', zod: '4.1.13' }, hub: false, era: 'legacy' },
];

/**
 * Installs what is not there yet under `directory` and gives the peers that can be used. One that cannot be installed
 * (no network) is reported and left out.
 */
export async function installPeers(directory, say) {
  const installed = await Promise.all(PEERS.map((peer) => installPeer(directory, peer, say)));
  return installed.filter((peer) => peer !== undefined);
}

// --- internal ---

async function installPeer(directory, peer, say) {
  const home = join(directory, peer.name);
  try {
    if (!existsSync(join(home, 'node_modules'))) {
      mkdirSync(home, { recursive: true });
      const manifest = { private: true, type: 'module', dependencies: peer.packages };
      writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
      const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error'];
      await runCommand('npm', ['install', ...flags], { cwd: home });
    }
    for (const file of readdirSync(SOURCES)) copyFileSync(join(SOURCES, file), join(home, file));
  } catch (error) {
    say(`${peer.name} could not be installed: ${error.message}`);
    return undefined;
  }
  const server = join(home, `${peer.name}.js`);
  return {
    ...peer,
    directory: home,
    stdio: (skills) => [server, 'stdio', skills],
    http: (skills, port) => [server, 'http', skills, String(port)],
    hubArgs: (upstream) => [join(home, `hub-${peer.name}.js`), ...upstream],
  };
}
