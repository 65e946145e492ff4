/**
 * `npm run audit`: what someone who checks the program wants to know, read off the code: the files in reading order with
 * their lines, which of them stand at a trust boundary, the sizes of the rooms beside their bounds, the built-ins of Node
 * that each imports, packages with versions, and every limit with its reason.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const top = dirname(dirname(fileURLToPath(import.meta.url)));

/** The most lines that each room should have, in reading order. A reason in a comment is never dropped for them. */
const ROOMS = [
  ['protocol', 760],
  ['transports/stdio', 115],
  ['transports/http', 640],
  ['files', 240],
  ['skills', 1420],
  ['catalog', 365],
  ['tools', 520],
  ['methods', 780],
  ['root files', 800],
  ['hub', 2850],
  ['cli', 1500],
];
const ALL = 10_000;
const STDIO = 5100;
const BOUNDARY = 2100;
const CONSTANT = /^(export )?const ([A-Z][A-Z0-9_]*) = ([^;]+);(?: \/\/ (.*))?$/gm;

/** By path from the top (`src/protocol/json-rpc.ts`): text, lines, and what it imports, types included. */
export function readModules() {
  const names = readdirSync(join(top, 'src'), { recursive: true }).filter((name) => name.endsWith('.ts'));
  const paths = names.map((name) => `src/${name.replaceAll('\\', '/')}`).sort();
  return new Map(paths.map((path) => [path, moduleAt(path)]));
}

/** What an entry reaches, types and late imports included, each after those that it imports. */
export function reach(modules, entry) {
  const open = new Set();
  const reached = [];
  const visit = (path) => {
    if (open.has(path) || !modules.has(path)) return;
    open.add(path);
    for (const target of modules.get(path).imports) visit(target);
    reached.push(path);
  };
  visit(entry);
  return reached;
}

function roomOf(path) {
  const [, folder, inner] = path.split('/');
  if (folder === 'transports') return inner === 'http' ? 'transports/http' : 'transports/stdio';
  return folder.endsWith('.ts') ? 'root files' : folder;
}

/** Touches text or files from outside: what it lets through, the rest relies on. */
function isBoundary(path, { imports }) {
  if (/^src\/(?:protocol|transports|files)\/|^src\/(?:text|log)\.ts$|^src\/skills\/front-matter\.ts$/.test(path))
    return true;
  return (
    path.startsWith('src/skills/') && imports.some((one) => one === 'node:fs' || /^src\/files\/(?!pace)/.test(one))
  );
}

/** Lines by room, of all, of the stdio program and of its trust boundary, each with its bound. */
export function sizes(modules) {
  const linesOf = (paths) => paths.reduce((sum, path) => sum + modules.get(path).lines, 0);
  const paths = [...modules.keys()];
  const stdio = reach(modules, 'src/stdio.ts');
  return [
    ...ROOMS.map(([room, most]) => [room, linesOf(paths.filter((path) => roomOf(path) === room)), most]),
    ['all of src', linesOf(paths), ALL],
    ['stdio program', linesOf(stdio), STDIO],
    ['its trust boundary', linesOf(stdio.filter((path) => isBoundary(path, modules.get(path)))), BOUNDARY],
  ];
}

/** Every limit: `{ path, name, value, reason }`, from limits.ts and the few of protocol/. */
export function limits(modules) {
  const values = new Map();
  const rows = [];
  for (const [path, { text }] of modules) {
    if (path !== 'src/limits.ts' && !path.startsWith('src/protocol/')) continue;
    // A comment above several constants is the reason of each.
    for (const [, above, constants] of text.matchAll(/((?:^ ?\/?[/*].*\n)*)((?:^(?:export )?const [A-Z].*;.*\n)+)/gm)) {
      const reason = above
        .replace(/^ ?\/?[/*]+ ?| ?\*\/$/gm, '')
        .replaceAll('\n', ' ')
        .trim();
      for (const [, exported, name, expression, beside] of constants.matchAll(CONSTANT)) {
        const known = expression.replace(/\b[A-Z][A-Z0-9_]+\b/g, (other) => values.get(other) ?? other);
        // Digits and arithmetic alone: nothing of the source is run.
        if (!/^[\d_\s*+/().-]+$/.test(known)) continue;
        values.set(name, Number(Function(`return (${known})`)()));
        if (exported) rows.push({ path, name, value: values.get(name), reason: beside ?? reason });
      }
    }
  }
  return rows;
}

function moduleAt(path) {
  const text = readFileSync(join(top, path), 'utf8');
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(?<![:'"`])\/\/.*$/gm, '');
  const named = [...code.matchAll(/\bfrom '([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gm)];
  const imports = named.map(([, a, b, c]) => a ?? b ?? c);
  const resolved = imports.map((name) => (name.startsWith('.') ? posix.join(posix.dirname(path), name) : name));
  return { text, lines: text.split('\n').length - 1, imports: [...new Set(resolved)] };
}

/** The packages that are installed with the library, by the lock file: what npm marks there is for developers only. */
function runtimePackages() {
  const { packages } = JSON.parse(readFileSync(join(top, 'package-lock.json'), 'utf8'));
  const { '': own, ...others } = packages;
  const shipped = Object.entries(others).filter(
    ([, { dev, devOptional, optional }]) => !dev && !devOptional && !optional,
  );
  return shipped.map(([path, { version }]) => {
    const name = path.replace('node_modules/', '');
    return `${name} ${version}${own.dependencies[name] ? '' : ' (through another package)'}`;
  });
}

function print() {
  const modules = readModules();
  const out = [];
  const stdio = reach(modules, 'src/stdio.ts');
  const rest = [...modules.keys()].filter((path) => !stdio.includes(path));
  for (const [title, paths] of [
    ['The stdio program, each file after those that it imports', stdio],
    ['What HTTP, the hub and the commands add', rest],
  ]) {
    out.push('', `${title} (* at a trust boundary)`);
    for (const path of paths) {
      const { lines, imports } = modules.get(path);
      const builtIns = imports.filter((name) => name.startsWith('node:')).join(' ');
      out.push(
        `  ${String(lines).padStart(5)} ${isBoundary(path, modules.get(path)) ? '*' : ' '} ${path}  ${builtIns}`.trimEnd(),
      );
    }
  }
  out.push('', 'Lines by room, and the most that it should have');
  for (const [room, lines, most] of sizes(modules))
    out.push(`  ${room.padEnd(20)}${String(lines).padStart(7)}${String(most).padStart(8)}`);
  out.push('', 'Packages at run time', ...runtimePackages().map((one) => `  ${one}`), '', 'Limits');
  for (const { path, name, value, reason } of limits(modules))
    out.push(`  ${name} = ${value.toLocaleString('en')}  (${path})`, `    ${reason}`);
  process.stdout.write(`${out.join('\n').trim()}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) print();
