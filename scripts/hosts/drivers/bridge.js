/**
 * Drives a program that stands between a client and a server, with the SDK's client at one end and skillwire at the other.
 * Arguments: the skill to load, what reaches the bridge (a URL, or a command line), `--`, and the command line that runs in
 * the background. `{port}` stands for a free port in all of them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const free = createServer().listen(0, '127.0.0.1');
await once(free, 'listening');
const { port } = free.address();
free.close();
const [skill, ...words] = process.argv.slice(2).map((word) => word.replace('{port}', port));
const at = words.indexOf('--');
const [[command, ...rest], [background, ...args]] = [words.slice(0, at), words.slice(at + 1)];
const child = spawn(background, args, { stdio: ['ignore', 2, 2] });
const client = new Client({ name: 'bridge-check', version: '1.0.0' });
try {
  // Any answer will do. Whoever started this ends it when nothing ever listens.
  while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))) await pause(100);
  const isUrl = command.startsWith('http:');
  const pipe = () => new StdioClientTransport({ command, args: rest, env: process.env });
  await client.connect(isUrl ? new StreamableHTTPClientTransport(new URL(command)) : pipe());
  console.log((await client.listTools()).tools.map(({ name }) => name).join(' '));
  console.log((await client.callTool({ name: 'skill', arguments: { name: skill } })).content[0].text);
} finally {
  await client.close();
  child.kill();
}
process.exit(0);
