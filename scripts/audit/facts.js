/** What the program relies on and what bounds it: built-ins, packages with versions, limits with their reasons. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { top } from '../prepare.js';

/** Each built-in of Node with the modules that import it. */
export function builtIns(modules) {
  const users = new Map();
  for (const [path, { imports }] of modules) {
    for (const name of imports.filter((one) => one.startsWith('node:'))) {
      users.set(name, [...(users.get(name) ?? []), path]);
    }
  }
  return [...users].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The packages that are installed with the library, by the lock file; `direct` are those that we import. */
export function runtimePackages() {
  const { packages } = JSON.parse(readFileSync(join(top, 'package-lock.json'), 'utf8'));
  const found = new Map();
  const visit = (name, direct) => {
    if (found.has(name)) return;
    const { version, dependencies = {} } = packages[`node_modules/${name}`];
    found.set(name, { name, version, direct });
    for (const one of Object.keys(dependencies)) visit(one, false);
  };
  for (const name of Object.keys(packages[''].dependencies)) visit(name, true);
  return [...found.values()];
}

/** Every named number that bounds something: `{ path, name, value, reason }`. */
export function limits(modules) {
  const found = [...modules].flatMap(([path, { text }]) => [...constantsIn(path, text), ...membersIn(path, text)]);
  // Files name these two for themselves.
  const values = new Map([
    ['KIB', 1024],
    ['MIB', 1024 * 1024],
  ]);
  const read = ({ name, expression }) => {
    const known = expression.replace(/\b[A-Z][A-Z0-9_]+\b/g, (other) => values.get(other) ?? other);
    // Digits and arithmetic alone: nothing of the source is run.
    if (/^[\d_\s*+/().-]+$/.test(known)) values.set(name, Number(Function(`return (${known})`)()));
    return values.get(name);
  };
  // Twice, because a constant may be made from one of a later file.
  for (const one of found) read(one);
  return found.map((one) => ({ ...one, value: read(one) })).filter(({ value }) => value !== undefined && value > 0);
}

// --- internal ---

const LIMIT = /^(?:MAX|MOST|LONGEST|SHORTEST|FEWEST|LEAST)_|_(?:MS|BYTES|CHARACTERS|LIMIT|BUDGET|PER_TURN)$/;

function constantsIn(path, text) {
  const all = text.matchAll(/^(export )?const ([A-Z][A-Z0-9_]*)(?:: number)? = ([^;\n]+);(?: \/\/ (.*))?$/gm);
  return [...all]
    .filter(([, exported, name]) => LIMIT.test(name) || (exported && path.endsWith('/limits.ts')))
    .map(({ 2: name, 3: expression, 4: beside, index }) => ({
      path,
      name,
      expression,
      reason: beside ?? commentAbove(text.slice(0, index)),
    }));
}

/** Members of tables of limits: `export const LIMITS = { headersMs: 10_000, … }`. */
function membersIn(path, text) {
  const tables = text.matchAll(
    /^export const ([A-Z][A-Z0-9_]*(?:LIMITS|MS|TIMES|TIMEOUTS)|LIMITS|SHUTDOWN)\b[^=\n]*= \{\n([\s\S]*?)^\}/gm,
  );
  return [...tables].flatMap(([, table, body]) =>
    [...body.matchAll(/^ {2}(\w+): ([^,\n]+),(?: \/\/ (.*))?$/gm)].map(
      ({ 1: member, 2: expression, 3: beside, index }) => ({
        path,
        name: `${table}.${member}`,
        expression,
        reason: beside ?? commentAbove(body.slice(0, index)),
      }),
    ),
  );
}

function commentAbove(before) {
  const lines =
    /(?:^|\n)((?:[ \t]*\/\/.*\n)+)$/.exec(before)?.[1] ?? /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n$/.exec(before)?.[1];
  if (lines === undefined) return '';
  const text = lines.replace(/^[ \t]*(?:\/\/|\/\*\*|\*\/|\*)[ \t]?/gm, '').replace(/\*\/\s*$/, '');
  return text
    .replace(/--- internal ---/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
