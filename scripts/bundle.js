/**
 * `npm run bundle`: dist/skillwire.mcpb, which Claude Desktop and other hosts install with one click: the stdio program
 * alone, without options, and a manifest that names its tools, packed and validated by the official packer. Then it is
 * unpacked, started as its manifest says, and asked for a skill.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, run, say, top } from './build.js';
import { makeDirectory, makeHome, tryProgram } from './programs.js';

const PACKER = '@anthropic-ai/mcpb@2.1.2';

install();
await build();
const home = makeHome();
const bundle = join(top, 'dist', 'skillwire.mcpb');
const program = join(top, 'dist', 'skillwire-stdio.cjs');
const { version, description, license, engines } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'));
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
  tools: tryProgram(process.execPath, [program], home).map(({ name }) => ({ name })),
  // The list of skills in a tool's description follows the files of the user.
  tools_generated: true,
  prompts_generated: true,
  compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: engines.node } },
};
const contents = makeDirectory({
  'server/skillwire-stdio.cjs': readFileSync(program),
  LICENSE: readFileSync(join(top, 'LICENSE')),
  'manifest.json': `${JSON.stringify(manifest, undefined, 2)}\n`,
});
pack('validate', join(contents, 'manifest.json'));
pack('pack', contents, bundle);

const unpacked = makeDirectory();
pack('unpack', bundle, unpacked);
const { server } = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'));
const { command, args } = server.mcp_config;
const words = args.map((word) => word.replace('${__dirname}', unpacked));
tryProgram(command, words, home);
say('the unpacked bundle serves its tools and a skill');

function pack(...args) {
  run('npx', ['--yes', '--loglevel=error', PACKER, ...args]);
}
