/**
 * Drives a program that stands between a client and a server, with the SDK's client at one end and skillwire at the other.
 * The argument is JSON: `start` are command lines to run in the background, `client` is the URL or the command line that
 * the client uses. `{a}` and `{b}` stand for free ports; with `log`, port `{b}` is an HTTP proxy in front of `{a}`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startHttpProxy } from '../http-proxy.js';

const { start, client: target, log, skill } = JSON.parse(process.argv[2]);
const ports = { a: await freePort(), b: await freePort() };
const fill = (text) => text.replace(/\{([ab])\}/g, (_, name) => ports[name]);
const children = start.map(([command, ...args]) => spawn(command, args.map(fill), { stdio: ['ignore', 2, 2] }));
const client = new Client({ name: 'bridge-check', version: '1.0.0' });
try {
  await waitForPort(ports.a);
  if (log) await startHttpProxy(ports.b, ports.a, log);
  await client.connect(transport());
  const { tools } = await client.listTools();
  console.log(tools.map(({ name }) => name).join(' '));
  const { content } = await client.callTool({ name: 'skill', arguments: { name: skill } });
  console.log(content[0].text);
} finally {
  await client.close();
  for (const child of children) child.kill();
}
process.exit(0);

function transport() {
  if (typeof target === 'string') return new StreamableHTTPClientTransport(new URL(fill(target)));
  const [command, ...args] = target;
  return new StdioClientTransport({ command, args: args.map(fill), env: process.env });
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

async function waitForPort(port) {
  for (let tries = 0; tries < 100; tries++) {
    const socket = connect(port, '127.0.0.1');
    const open = await new Promise((resolve) =>
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false)),
    );
    socket.destroy();
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('nothing listens after 10 s');
}
