/**
 * `npm run build`: dist/ from src/. The library is what the compiler makes of each module; beside it are two programs, each
 * one file that can be read: dist/skillwire.cjs (everything) and dist/skillwire-stdio.cjs (stdin and stdout alone).
 * Always true: nothing is minified and comments stay in; equal sources give equal bytes, whatever directory they are in and
 * whatever Node builds them; the licence of every package that has code in a file is in its header.
 * start.js and test.js use `install` and `build`. Everything said here goes to stderr: `npm start` serves on stdout.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const top = dirname(dirname(fileURLToPath(import.meta.url)));
const PROGRAMS = [
  { file: 'skillwire-stdio.cjs', main: 'src/stdio.ts', title: 'stdin and stdout alone: no network, no processes' },
  { file: 'skillwire.cjs', main: 'src/cli.ts', title: 'every agent skill on a machine behind one MCP server' },
];

/** Options of npm: it says nothing unless something is wrong, and that in words (.npmrc asks for JSON). */
export const QUIET = ['--no-audit', '--no-fund', '--loglevel=error', '--json=false'];

export const say = (text) => console.error(`skillwire: ${text}`);

/** Runs a command in the checkout, its output on stderr; ends this program when it fails. */
export function run(command, args) {
  const shell = process.platform === 'win32';
  const { status, error } = spawnSync(command, args, { cwd: top, stdio: ['ignore', 2, 2], shell });
  if (error) say(`${command} could not be run: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

/** Installs the packages that a folder's lock file names, unless that was done since it changed. */
export function install(folder = '.') {
  if (isNewer(`${folder}/node_modules/.package-lock.json`, [`${folder}/package-lock.json`])) return;
  say('installing packages');
  run('npm', ['ci', '--prefix', folder, ...QUIET]);
}

/** Builds, unless that was done since something that it is made from changed. */
export async function build() {
  if (isNewer('dist/.built', ['src', 'scripts/build.js', 'tsconfig.json', 'package.json', 'package-lock.json'])) return;
  say('building');
  rmSync(join(top, 'dist'), { recursive: true, force: true });
  run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']);
  const sums = [];
  for (const program of PROGRAMS) {
    const text = await bundle(program);
    writeFileSync(join(top, 'dist', program.file), text);
    chmodSync(join(top, 'dist', program.file), 0o755);
    sums.push(`${createHash('sha256').update(text).digest('hex')}  ${program.file}\n`);
  }
  writeFileSync(join(top, 'dist', 'SHA256SUMS'), sums.join(''));
  writeFileSync(join(top, 'dist', '.built'), '');
}

async function bundle({ file, main, title }) {
  // Loaded here: in a fresh clone it is there only after `install`.
  const esbuild = await import('esbuild');
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: top,
    entryPoints: [main],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // Modules that are imported late are in the same file; they only run late.
    supported: { 'dynamic-import': false },
    legalComments: 'inline',
    // The path of a module is a comment in the output: it must not depend on where node_modules really is.
    preserveSymlinks: true,
    logLevel: 'warning',
    plugins: [{ name: 'sources', setup: changeSources }],
  });
  const packages = Object.keys(metafile.inputs).flatMap((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
  const code = outputFiles[0].text
    .replace(/^([ \t]*)\/\*!\*/gm, '$1/**')
    .replace(/^([ \t]*)\/\/!~/gm, '$1//')
    // esbuild escapes other characters in texts. In a comment they would make Node take two bytes for each character.
    .replaceAll('…', '...')
    .replaceAll('→', '->')
    .replace(/[^\0-\x7f]/g, '?');
  return `#!/usr/bin/env node\n${header(file, title, [...new Set(packages)].sort())}${code}`;
}

function changeSources(builder) {
  builder.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
    contents: markComments(readFileSync(path, 'utf8')),
    loader: 'ts',
  }));
  // js-yaml looks for esprima wherever Node finds it, for a tag that makes functions of text, and for Buffer in the same
  // hidden way. A program in one file must not run code from another, so the tag is refused, and Buffer is Node's own.
  builder.onLoad({ filter: /js-yaml[\\/]type[\\/]js[\\/]function\.js$/ }, () => ({
    contents: `var Type = require('../../type');
module.exports = new Type('tag:yaml.org,2002:js/function', { kind: 'scalar', resolve: () => false });`,
  }));
  builder.onLoad({ filter: /js-yaml[\\/]type[\\/]binary\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replace(/^try \{[\s\S]*?^\} catch \(__\) \{\}$/m, 'NodeBuffer = Buffer;'),
  }));
}

/**
 * esbuild keeps comments that begin with `!` and stand where a statement could, so those that begin a line get that mark, and
 * lose it afterwards. It moves functions away from the comment above them: that comment becomes the function's first lines.
 */
function markComments(text) {
  return text
    .replace(ABOVE_TYPE, '')
    .replace(ABOVE_FUNCTION, (_all, comment, start) => start + comment.replace(/^(?=.)/gm, '  '))
    .replace(/^([ \t]*)\/\*\*(?!\/)/gm, '$1/*!*')
    .replace(/^([ \t]*)\/\/(?!!)/gm, '$1//!~');
}

const COMMENT = '(\\/\\*\\*(?:(?!\\*\\/)[\\s\\S])*\\*\\/\\n|(?:\\/\\/.*\\n)+)';
const ABOVE_TYPE = new RegExp(`^${COMMENT}(?=(?:export )?(?:type|interface) )`, 'gm');
// As the formatter leaves them: the body opens at the end of the first line, or of the next line at the left edge.
const SIGNATURE = '((?:export )?(?:async )?function\\b(?:.*\\{\\n|.*\\n(?:\\s.*\\n)*?\\S.*\\{\\n))';
const ABOVE_FUNCTION = new RegExp(`^${COMMENT}${SIGNATURE}`, 'gm');

/** `packages`: the folders of those that have code in the file. */
function header(file, title, packages) {
  const lines = [
    `skillwire ${manifestIn('.').version}, ${file}: ${title}.`,
    'Made from src/ by scripts/build.js; a comment names the file that each part comes from.',
    'The licence of skillwire, then those of the packages that have code in this file.',
    ...['.', ...packages].flatMap(licenceIn),
  ];
  return `/*\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

function licenceIn(folder) {
  const { name, version } = manifestIn(folder);
  const file = readdirSync(join(top, folder)).find((one) => /^licen[cs]e/i.test(one));
  const text = readFileSync(join(top, folder, file), 'utf8')
    .replaceAll('\r\n', '\n')
    .replaceAll('*/', '* /');
  return ['', `---- ${name} ${version} ----`, '', ...text.trim().split('\n')];
}

const manifestIn = (folder) => JSON.parse(readFileSync(join(top, folder, 'package.json'), 'utf8'));

function isNewer(made, sources) {
  const { mtimeMs } = statSync(join(top, made), { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return sources.every((path) => newestIn(join(top, path)) <= mtimeMs);
}

function newestIn(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  install();
  await build();
}
