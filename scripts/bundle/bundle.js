/**
 * The two programs that are shipped, each in one file that can be read: dist/skillwire.cjs, and dist/skillwire-stdio.cjs
 * for stdio alone; dist/SHA256SUMS beside them.
 * Always true:
 * - the code is what esbuild makes of src/ without minifying, with the comments that stand before statements;
 * - equal sources give equal bytes, whatever directory they are in and whatever Node builds them;
 * - the licence of every package that has code in a file is in the header of that file.
 * `node scripts/bundle/bundle.js [DIR]` writes into DIR instead of dist.
 */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, transformSync } from 'esbuild';
import { top } from '../prepare.js';
import { markComments, unmarkComments } from './comments.js';
import { tameYaml } from './js-yaml.js';

const PROGRAMS = [
  { entry: 'src/cli.ts', file: 'skillwire.cjs', title: 'every agent skill on a machine behind one MCP server.' },
  {
    entry: 'src/stdio.ts',
    file: 'skillwire-stdio.cjs',
    title: 'the same on stdin and stdout alone: no network, no processes.',
  },
];

async function bundle(entry, title) {
  const bare = await esbuild(entry, 'none', []);
  const commented = await esbuild(entry, 'inline', [markComments]);
  const code = unmarkComments(commented.code);
  // Comments are carried through by rewriting their first characters. This proves that nothing but comments changed.
  if (withoutComments(code) !== withoutComments(bare.code)) throw new Error(`${entry}: the comments changed the code`);
  const [, body = code] = /^(?:#!.*\n)?([\s\S]*)$/.exec(code) ?? [];
  return `#!/usr/bin/env node\n${header(title, packagesIn(commented.inputs))}${body}`;
}

async function esbuild(entry, legalComments, plugins) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: top,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    tsconfig: join(top, 'tsconfig.json'),
    logLevel: 'warning',
    // The path of a module is a comment in the output: it must not depend on where node_modules really is.
    preserveSymlinks: true,
    // All modules are in the one file. What is imported later is only run later.
    supported: { 'dynamic-import': false },
    legalComments,
    plugins: [tameYaml, ...plugins],
  });
  return { code: outputFiles[0].text, inputs: Object.keys(metafile.inputs) };
}

function withoutComments(code) {
  return transformSync(code, { legalComments: 'none', minifyWhitespace: true }).code;
}

/** Names of the packages that have a module in the bundle. */
function packagesIn(inputs) {
  const names = inputs.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

function header(title, packages) {
  const { version } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'));
  const lines = [
    `skillwire ${version}: ${title}`,
    '',
    'Made from src/ by scripts/bundle/bundle.js; a comment names the file that each part comes from.',
    'The licence of skillwire, then those of the packages that have code in this file.',
    ...licence('skillwire', version, top),
    ...packages.flatMap((name) => {
      const folder = join(top, 'node_modules', name);
      return licence(name, JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version, folder);
    }),
  ];
  return `/*\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

function licence(name, version, folder) {
  const file = readdirSync(folder)
    .sort()
    .find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  const text = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').replaceAll('*/', '* /').trim();
  return ['', `---- ${name} ${version} ----`, '', ...text.split('\n')];
}

const out = resolve(process.argv[2] ?? join(top, 'dist'));
mkdirSync(out, { recursive: true });
const sums = [];
for (const { entry, file, title } of PROGRAMS) {
  const text = await bundle(entry, title);
  writeFileSync(join(out, file), text);
  chmodSync(join(out, file), 0o755);
  sums.push(`${createHash('sha256').update(text).digest('hex')}  ${file}\n`);
}
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
