/** The modules of src/, read as text: their lines, what they import, and which of them an entry reaches. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { top } from '../prepare.js';

/** By path from the top of the checkout (`src/protocol/json-rpc.ts`), sorted. */
export function readModules() {
  const entries = readdirSync(join(top, 'src'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'));
  const paths = files.map(({ parentPath, path, name }) => relative(top, join(parentPath ?? path, name)));
  return new Map(paths.map((path) => moduleAt(path.replaceAll('\\', '/'))).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The modules that an entry reaches, types and later imports included, each after those that it imports. */
export function reach(modules, entry) {
  const reached = new Set();
  const open = new Set();
  const visit = (path) => {
    if (open.has(path)) return;
    open.add(path);
    for (const target of modules.get(path)?.imports ?? []) if (modules.has(target)) visit(target);
    reached.add(path);
  };
  visit(entry);
  return [...reached];
}

export const linesOf = (modules, paths) => paths.reduce((sum, path) => sum + (modules.get(path)?.lines ?? 0), 0);

// --- internal ---

const IMPORT = /\bfrom '([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gm;
const IMPORT_AT_ONCE = /^(?:import|export)\b(?! type\b)[^;'(]*'([^']+)'/gm;

function moduleAt(path) {
  const text = readFileSync(join(top, path), 'utf8');
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(?<![:'"`])\/\/.*$/gm, '');
  const resolve = (name) => (name.startsWith('.') ? posix.join(dirname(path), name) : name);
  const named = (pattern) => new Set([...code.matchAll(pattern)].map(([, a, b, c]) => resolve(a ?? b ?? c)));
  const [imports, importsAtOnce] = [[...named(IMPORT)], [...named(IMPORT_AT_ONCE)]];
  return [path, { path, text, code, lines: text.split('\n').length - 1, imports, importsAtOnce }];
}
