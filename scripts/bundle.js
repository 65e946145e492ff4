/**
 * `npm run bundle`: dist/skillwire.mcpb, which Claude Desktop and other hosts install with one click: the stdio program
 * alone, without options, and a manifest that names its tools, packed and validated by the official packer.
 * `node scripts/bundle.js --check` also unpacks it, starts it as its manifest says, and loads a skill.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, install, run, top } from './build.js';

const PACKER = '@anthropic-ai/mcpb@2.1.2';
const TOOLS = ['skills.list', 'skill', 'skills.search', 'skills.read'];

install();
await build();
const place = mkdtempSync(join(tmpdir(), 'skillwire-bundle-'));
const bundle = join(top, 'dist', 'skillwire.mcpb');
const { version, description, license, engines } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'));

const contents = join(place, 'contents');
mkdirSync(join(contents, 'server'), { recursive: true });
copyFileSync(join(top, 'dist', 'skillwire-stdio.cjs'), join(contents, 'server', 'skillwire-stdio.cjs'));
copyFileSync(join(top, 'LICENSE'), join(contents, 'LICENSE'));
const manifest = {
  manifest_version: '0.3',
  name: 'skillwire',
  display_name: 'Skillwire',
  version,
  description,
  author: { name: 'skillwire' },
  license,
  server: {
    type: 'node',
    entry_point: 'server/skillwire-stdio.cjs',
    mcp_config: { command: 'node', args: ['${__dirname}/server/skillwire-stdio.cjs'], env: {} },
  },
  tools: TOOLS.map((name) => ({ name })),
  // The list of skills in a tool's description follows the files of the user.
  tools_generated: true,
  prompts_generated: true,
  compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: engines.node } },
};
writeFileSync(join(contents, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
pack('validate', join(contents, 'manifest.json'));
pack('pack', contents, bundle);
if (process.argv.includes('--check')) check();
rmSync(place, { recursive: true, force: true });

function pack(...args) {
  run('npx', ['--yes', '--loglevel=error', PACKER, ...args]);
}

function check() {
  const unpacked = join(place, 'unpacked');
  pack('unpack', bundle, unpacked);
  const { server, tools } = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'));
  const skill = join(place, 'home', '.agents', 'skills', 'hello');
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: hello\ndescription: Greets people\n---\nGood day.\n');
  const input = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: { name: 'skill', arguments: { name: 'hello' } } },
  ].map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const args = server.mcp_config.args.map((one) => one.replace('${__dirname}', unpacked));
  const { stdout, stderr, status } = spawnSync(server.mcp_config.command, args, {
    cwd: join(place, 'home'),
    env: { PATH: process.env.PATH, HOME: join(place, 'home') },
    input: input.join(''),
    encoding: 'utf8',
  });
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const result = (id) => answers.find((one) => one.id === id)?.result;
  const listed = result(2)?.tools.map(({ name }) => name);
  const isRight =
    status === 0 &&
    JSON.stringify(listed) === JSON.stringify(tools.map(({ name }) => name)) &&
    result(3)?.content[0].text.endsWith('\nGood day.\n');
  if (!isRight) throw new Error(`the unpacked bundle does not serve: exit ${status}\n${stdout}${stderr}`);
  console.error('skillwire: the unpacked bundle serves its tools and a skill');
}
