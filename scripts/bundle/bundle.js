/**
 * The files that are shipped, each of which can be read: dist/skillwire.cjs with the files that it loads,
 * dist/skillwire-stdio.cjs, which is a program of its own, and dist/SHA256SUMS beside them.
 * Always true:
 * - the code is what esbuild makes of src/ without minifying, with the comments that stand before statements;
 * - equal sources give equal bytes, whatever directory they are in and whatever Node builds them;
 * - the licence of every package that has code in a file is in the header of that file.
 * `node scripts/bundle/bundle.js [DIR]` writes into DIR instead of dist.
 */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build, transformSync } from 'esbuild';
import { top } from '../prepare.js';
import { markComments, unmarkComments } from './comments.js';
import { tameYaml } from './js-yaml.js';
import { assignModules, PARTS } from './parts.js';

const { fileOf, isAtOnce, exported } = assignModules();
const namesOf = await readExports([...exported.values()].flatMap((paths) => [...paths]));

/** Around a file that another one loads: see loadFile in src/cli/compile-cache.ts. */
const FUNCTION_START = '(function (exports, require, module, __filename, __dirname) {\n';
const FUNCTION_END = '})\n';

async function bundle({ file, title, main, alone = false, isProgram = false }) {
  const others = alone ? [] : [fromOtherFiles(file)];
  const bare = await esbuild(file, main, 'none', others);
  const commented = await esbuild(file, main, 'inline', [...others, markComments]);
  const code = inAscii(unmarkComments(commented.code));
  // Comments are carried through by rewriting their first characters. This proves that nothing but comments changed.
  if (withoutComments(code) !== withoutComments(bare.code)) throw new Error(`${file}: the comments changed the code`);
  const start = header(file, title, packagesIn(commented.inputs));
  return isProgram ? `#!/usr/bin/env node\n${start}${code}` : `${start}${FUNCTION_START}${code}${FUNCTION_END}`;
}

async function esbuild(file, main, legalComments, plugins) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: top,
    stdin: { contents: entryOf(file, main), resolveDir: top, sourcefile: file },
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
    // All modules of a file are in it. What is imported later is only run later.
    // Patterns with \p{…} stay literals. esbuild would make calls of them, which it cannot leave out where nothing uses
    // them; one of valibot's takes 0.2 ms.
    supported: { 'dynamic-import': false, 'regexp-unicode-property-escapes': true },
    define: { 'import.meta.dirname': '__dirname' },
    legalComments,
    plugins: [tameYaml, ...plugins],
  });
  return { code: outputFiles[0].text, inputs: Object.keys(metafile.inputs) };
}

/** By path or name: what each module or package exports, except types. */
async function readExports(paths) {
  const { metafile } = await build({
    absWorkingDir: top,
    entryPoints: paths.filter((path) => path.startsWith('src/')),
    write: false,
    metafile: true,
    format: 'esm',
    outdir: 'dist',
  });
  const names = new Map(Object.values(metafile.outputs).map((output) => [output.entryPoint, output.exports]));
  // A package is CommonJS: all of it is its default export.
  return (path) => names.get(path) ?? ['default'];
}

/** Runs the main module, if the file has one, and gives others what they import, by the path or name of its module. */
function entryOf(file, main) {
  // The stdio server can also be imported; it only serves when it is the program.
  if (main === 'src/stdio.ts') return `import { main } from './${main}';\nif (require.main === module) void main();`;
  const others = [...exported.get(file)].sort().map((path, at) => {
    const local = (name) => `${name}_${at}`;
    const from = path.startsWith('src/') ? `./${path}` : path;
    // A getter: few of them are needed at a start, and none before all modules have run.
    const getter = (value) => `get '${path}'() { return ${value}; },`;
    if (!isAtOnce(path)) return { imports: '', member: getter(`require('${from}')`) };
    return {
      imports: `import { ${namesOf(path).map((name) => `${name} as ${local(name)}`)} } from '${from}';`,
      member: getter(`{ ${namesOf(path).map((name) => `${name}: ${local(name)}`)} }`),
    };
  });
  return [
    ...(main === undefined ? [] : [`import './${main}';`]),
    ...others.map(({ imports }) => imports),
    ...(others.length === 0 ? [] : ['export const modules = {', ...others.map(({ member }) => member), '};']),
  ].join('\n');
}

/** A plugin of esbuild: what belongs to another file is taken from the exports of that file. */
const fromOtherFiles = (file) => ({
  name: 'from-other-files',
  setup(builder) {
    const fromOther = (name) =>
      [undefined, file].includes(fileOf(name)) ? undefined : { path: name, namespace: 'other-file' };
    builder.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, resolveDir }) =>
      fromOther(relative(top, resolve(resolveDir, path)).replaceAll('\\', '/')),
    );
    builder.onResolve({ filter: /^[a-z]/ }, ({ path }) => fromOther(path));
    builder.onResolve({ filter: /^\.\/skillwire[\w-]*\.cjs$/ }, ({ path }) => ({ path, external: true }));
    builder.onLoad({ filter: /.*/, namespace: 'other-file' }, ({ path }) => ({
      contents: [
        `const other = require('./${fileOf(path)}').modules['${path}'];`,
        ...namesOf(path).map((name) =>
          name === 'default' ? 'export default other.default;' : `export const ${name} = other.${name};`,
        ),
      ].join('\n'),
      resolveDir: top,
    }));
  },
});

function withoutComments(code) {
  return transformSync(code, { legalComments: 'none', minifyWhitespace: true }).code;
}

/** esbuild escapes other characters in texts. In comments they would make the whole file take twice the memory. */
function inAscii(code) {
  const text = code.replaceAll('\u2026', '...').replaceAll('\u00b5', 'u');
  const other = /[^\x00-\x7f]/.exec(text);
  if (other) throw new Error(`a comment has the character ${other[0]}, which is not ASCII`);
  return text;
}

/** Names of the packages that have a module in the bundle. */
function packagesIn(inputs) {
  const names = inputs.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

function header(file, title, packages) {
  const { version } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'));
  const lines = [
    `skillwire ${version}, ${file}: ${title}`,
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
for (const part of PARTS) {
  const text = await bundle(part);
  writeFileSync(join(out, part.file), text);
  if (part.isProgram) chmodSync(join(out, part.file), 0o755);
  sums.push(`${createHash('sha256').update(text).digest('hex')}  ${part.file}\n`);
}
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
