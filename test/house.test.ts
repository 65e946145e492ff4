/** The architecture, as far as it can be read off the files. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../src/version.ts';
import { TOP } from './harness/program.ts';

interface Module {
  readonly text: string;
  readonly lines: number;
  /** Types and late imports included: own files by path, packages and built-ins as written. */
  readonly imports: readonly string[];
}
type Modules = ReadonlyMap<string, Module>;
interface Audit {
  readModules(): Modules;
  reach(modules: Modules, entry: string): readonly string[];
  limits(modules: Modules): readonly { readonly name: string; readonly reason: string }[];
}
// A script, so that its types are said here.
const audit: Audit = await import(new URL(`file://${join(TOP, 'scripts', 'audit.js')}`).href);

const modules = audit.readModules();
const none = (found: readonly unknown[]) => assert.deepEqual(found, []);
const read = (path: string) => readFileSync(join(TOP, path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const lock = JSON.parse(read('package-lock.json'));

/** Paths of the modules for which it is true. */
const pathsWhere = (isSo: (module: Module, path: string) => boolean) =>
  [...modules].filter(([path, module]) => isSo(module, path)).map(([path]) => path);
/** `importer → imported`, of those for which it is true. */
const importsWhere = (isSo: (from: string, to: string) => boolean) =>
  [...modules].flatMap(([from, { imports }]) => imports.filter((to) => isSo(from, to)).map((to) => `${from} → ${to}`));
const codeOf = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(?<![:'"`])\/\/.*$/gm, '');
/** The code without comments and what stands in quotes. */
const bareCodeOf = (text: string) => codeOf(text).replace(/'[^'\n]*'|"[^"\n]*"/g, "''");

// Lowest first; a module imports from its own row or from one above it in this table.
const LAYERS = [
  ['protocol', 'model', 'config', 'limits', 'log', 'text', 'version'],
  ['files'],
  ['skills'],
  ['catalog', 'hub'],
  ['methods', 'tools'],
  ['transports', 'server'],
  ['skillwire', 'index', 'stdio', 'cli'],
];
const partOf = (path: string) => path.split('/')[1]?.replace(/\.ts$/, '') ?? '';
const layerOf = (path: string) => LAYERS.findIndex((parts) => parts.includes(partOf(path)));

/** What is imported when a module is loaded: neither types nor what is loaded late. */
function valuesOf(path: string): readonly string[] {
  const { text = '', imports = [] } = modules.get(path) ?? {};
  const code = codeOf(text).replace(/^import type [^;]*;/gm, '');
  const named = [...code.matchAll(/^(?:import|export) ([^;']*?)from '([^']+)';/gm)];
  const values = named.filter(([, names = '']) => !/^\{(?:\s*type \w+( as \w+)?,?)*\s*\} $/.test(names));
  const ends = values.map(([, , name = '']) => name.replace(/^(?:\.+\/)+/, ''));
  return imports.filter((target) => ends.some((end) => target.endsWith(end)));
}
/** The modules with these imports alone. */
const needed = new Map([...modules].map(([path, module]) => [path, { ...module, imports: valuesOf(path) }]));

/** Promises about each module, and when it breaks them. */
const RULES: Readonly<Record<string, (module: Module, path: string) => boolean>> = {
  'every file of src/ belongs to a layer': (_module, path) => layerOf(path) === -1,
  'no module needs itself in a circle': (_module, path) =>
    valuesOf(path).some((to) => audit.reach(needed, to).includes(path)),
  'only the entries, cli/ and hub/process.ts touch the process': ({ text, imports }, path) =>
    (/\bprocess\b/.test(bareCodeOf(text)) || imports.includes('node:process')) &&
    !(['cli', 'stdio'].includes(partOf(path)) || path === 'src/hub/process.ts'),
  'only skillwire.ts and the commands load code late': ({ text }, path) =>
    /\bimport\(/.test(codeOf(text)) && !/^src\/(?:cli\/|skillwire\.ts$)/.test(path),
  'only eras.ts and dialects.ts know a protocol date': ({ text }, path) =>
    /\b20\d\d-\d\d-\d\d\b/.test(text) && !/^src\/(?:hub\/dialects|protocol\/eras)\.ts$/.test(path),
  'no `if (era)`, `version >=` or `transport ===`: a difference is a table': ({ text }, path) =>
    /\bera ===|\bversion [<>]=?|\btransport ===/.test(bareCodeOf(text)) && !path.startsWith('src/cli/'),
  'no file has over 250 lines, hub/client.ts 320': ({ lines }, path) =>
    lines > (path === 'src/hub/client.ts' ? 320 : 250),
  'a module says first what it owns': ({ text }) => !/^(?:#!.*\n)?\/\*\*/.test(text),
  'there is no any, no ! and no default export': ({ text }) =>
    /(?::|<|\bas|,|\|)\s*any\b|[\w)\]]!(?:[.;,)\]]|\s*$)|^export default\b/m.test(bareCodeOf(text)),
  'no check is suppressed, and there is no note to self': ({ text }) => /@ts-|biome-ignore|TODO|FIXME|XXX/.test(text),
  'there is no file for utilities': (_module, path) => /util|helper|misc|common\b/i.test(path),
};
for (const [promise, isBroken] of Object.entries(RULES)) test(promise, () => none(pathsWhere(isBroken)));

test('imports point one way, from the outer layers to the inner ones, and a room does not know every lower one', () => {
  none(importsWhere((from, to) => to.startsWith('src/') && layerOf(to) > layerOf(from)));
  const rules: Readonly<Record<string, RegExp>> = {
    'src/protocol/': /^(?!src\/protocol\/)/,
    'src/transports/': /^src\/(?!transports\/|protocol\/|limits\.ts$)/,
    'src/tools/': /^src\/methods\//,
    'src/hub/': /^src\/(?:catalog|methods|tools|transports|server)/,
    'src/server.ts': /^src\/(?:hub|transports)\//,
  };
  for (const [room, banned] of Object.entries(rules))
    none(importsWhere((from, to) => from.startsWith(room) && banned.test(to)));
});

test('nothing that the stdio program reaches is in hub/ or transports/http/, not even as a type, and its built-ins are few', () => {
  const reached = audit.reach(modules, 'src/stdio.ts');
  assert.ok(reached.includes('src/server.ts') && reached.includes('src/skills/scan.ts'));
  none(reached.filter((path) => /^src\/(?:hub|transports\/http)\//.test(path)));
  const allowed = ['fs', 'path', 'os', 'crypto', 'url', 'process', 'util'].map((name) => `node:${name}`);
  const builtIns = new Set(reached.flatMap(valuesOf).filter((name) => name.startsWith('node:')));
  none([...builtIns].filter((name) => !allowed.includes(name)));
});

test('each of the four packages has one importing file; only schemas are everywhere', () => {
  const used = importsWhere((_from, to) => !/^(?:src\/|node:)/.test(to) && to !== 'valibot');
  assert.deepEqual(used.toSorted(), [
    'src/skills/filter.ts → picomatch',
    'src/skills/front-matter.ts → front-matter',
    'src/skills/names.ts → leven',
  ]);
  assert.deepEqual(Object.keys(manifest.dependencies).toSorted(), ['front-matter', 'leven', 'picomatch', 'valibot']);
  assert.equal(manifest.optionalDependencies ?? manifest.peerDependencies ?? manifest.bundleDependencies, undefined);
  assert.deepEqual(lock.packages[''].dependencies, manifest.dependencies);
  assert.match(manifest.overrides['js-yaml'], /^\d+\.\d+\.\d+$/);
  assert.equal(lock.packages['node_modules/js-yaml'].version, manifest.overrides['js-yaml']);
});

test('every limit has a reason', () => {
  const limits = audit.limits(modules);
  assert.ok(limits.length > 50, `${limits.length} limits`);
  none(limits.filter(({ reason }) => reason === '').map(({ name }) => name));
});

test('no two exported types have one name', () => {
  const types = (text: string) => [...codeOf(text).matchAll(/^export (?:interface|type|class) (\w+)/gm)];
  const names = [...modules.values()].flatMap(({ text }) => types(text).map(([, name]) => name));
  assert.ok(names.length > 80, `${names.length} types`);
  none(names.filter((name, at) => names.indexOf(name) !== at));
});

// Without behaviour of their own, or only with what the tests in program/ show of the whole.
const UNTESTED =
  /^src\/(?:model|limits|version|index|cli|stdio|server|skillwire|tools\/index|hub\/connection|protocol\/(?:index|errors)|cli\/(?:command|commands|help|list|options|output|process|search|show))\.ts$/;

test('the test of src/a/b.ts is test/a/b.test.ts, and is there; what crosses rooms is in test/program/', () => {
  const names = readdirSync(join(TOP, 'test'), { recursive: true, encoding: 'utf8' });
  const tests = names.filter((path) => path.endsWith('.test.ts') && !/^(?:program\/|house\.)/.test(path));
  none(tests.filter((path) => !existsSync(join(TOP, 'src', path.replace('.test.ts', '.ts')))));
  const testOf = (path: string) => path.replace(/^src\//, '').replace(/\.ts$/, '.test.ts');
  none(pathsWhere((_module, path) => !UNTESTED.test(path) && !tests.includes(testOf(path))));
});

test('the top level is what the design says, and dot-files', () => {
  const made = /^(?:\..*|node_modules|dist|.*\.tgz)$/;
  const names = readdirSync(TOP).filter((name) => !made.test(name));
  const wanted = 'LICENSE README.md package-lock.json package.json scripts src test tsconfig.json';
  assert.deepEqual(names.sort().join(' '), wanted);
});

test('the version is that of package.json, the oldest Node is said once, and the suite runs on it and on the newest', () => {
  assert.equal(VERSION, manifest.version);
  assert.equal(manifest.engines.node, '>=20.12.0');
  assert.equal(lock.packages[''].engines.node, manifest.engines.node);
  const run = read('.ci/run');
  assert.match(run, /engines\.node/);
  assert.match(run, /for version in "\$oldest" /);
  for (const entry of Object.values<Record<string, string>>(manifest.exports))
    assert.equal(entry.types, entry.default?.replace(/\.js$/, '.d.ts'), 'every entry ships its types');
});
