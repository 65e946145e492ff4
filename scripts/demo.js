/**
 * `npm run demo`: starts the built server on sample skills in a temporary folder and talks to it as a client does:
 * handshake, list, load, edit and notification, search, a call to another server through the hub. It ends by itself.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect } from './hosts/rpc.js';
import { build, install, top } from './prepare.js';

// Far above what anything here takes: a server that hangs must not make the demo hang.
const PATIENCE_MS = 20_000;
const ARGS = '--skill-dir skills --no-default-dirs --no-plugins --hub --config servers.json --log-level warn';

install();
build();
const folder = mkdtempSync(join(tmpdir(), 'skillwire-demo-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
writeSkill('release-notes', 'Writes release notes from a git log.', 'Group the commits by subject, newest first.');
writeSkill('pdf-forms', 'Fills PDF forms.', 'Fill every field, then flatten the form.');
const words = { command: process.execPath, args: [join(top, 'scripts', 'demo-server.js')] };
write('servers.json', JSON.stringify({ mcpServers: { words } }));

say('start', `skillwire ${ARGS}`);
const child = spawn(process.execPath, [join(top, 'dist', 'skillwire.cjs'), ...ARGS.split(' ')], {
  cwd: folder,
  env: { PATH: process.env.PATH, HOME: folder, SKILLWIRE_CACHE: 'off' },
  stdio: ['pipe', 'pipe', 'inherit'],
});
const ended = once(child, 'exit');
const timer = setTimeout(() => fail('the server did not answer in time'), PATIENCE_MS);
child.once('exit', () => process.exitCode === undefined && fail('the server ended too early'));
await converse();
process.exitCode = 0;
child.stdin.end();
await ended;
clearTimeout(timer);
say('end', 'stdin is closed, and the server and all that it started have ended');

// --- internal ---

async function converse() {
  let onChange = () => {};
  const { initialize, request } = connect(child, ({ method, params }) => {
    if (method === 'notifications/tools/list_changed') onChange(params._meta['skillwire/reason']);
  });
  const ask = (method, params) => {
    say('client', `${method} ${JSON.stringify(params)}`);
    return request(method, params, PATIENCE_MS);
  };
  const call = async (name, args) => (await ask('tools/call', { name, arguments: args })).content[0].text;

  say('client', 'initialize');
  const { serverInfo, protocolVersion } = await initialize();
  say('server', `${serverInfo.name} ${serverInfo.version}, protocol ${protocolVersion}`);

  const { tools } = await ask('tools/list', {});
  const { description } = tools.find(({ name }) => name === 'skill');
  say('server', `tools: ${tools.map(({ name }) => name).join(', ')}`);
  say('server', `skills: ${[...description.matchAll(/<name>(.*)<\/name>/g)].map(([, name]) => name).join(', ')}`);

  say('server', await call('skill', { name: 'pdf-forms' }));

  const change = new Promise((resolve) => {
    onChange = resolve;
  });
  writeSkill('pdf-forms', 'Fills and signs PDF forms.', 'Fill every field, sign, then flatten the form.');
  say('you', 'edit skills/pdf-forms/SKILL.md');
  say('server', `notifications/tools/list_changed (${await change})`);

  say('server', await call('skills.search', { query: 'sign form' }));
  say('server', await call('words:count', { text: 'One endpoint for every skill and every server' }));
}

function write(path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function writeSkill(name, description, body) {
  write(`skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n\n${body}\n`);
}

/** Who says it, and what; further lines stand below the first. */
function say(who, text) {
  console.log(`${`${who}:`.padEnd(8)}${text.trimEnd().replaceAll('\n', `\n${' '.repeat(8)}`)}`);
}

function fail(why) {
  console.error(`demo: ${why}`);
  child.kill('SIGKILL');
  process.exit(1);
}
