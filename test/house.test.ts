/** The architecture, as far as it can be read off the files. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  MAX_CURSOR,
  MAX_DESCRIPTION,
  MAX_EXPRESSIONS,
  MAX_ITEM_BYTES,
  MAX_ITEMS,
  MAX_LIST_BYTES,
  MAX_MATCHED_URI,
  MAX_PAGES,
  MAX_RELIST_MS,
  MAX_TEMPLATE,
  MAX_TEMPLATES,
  MAX_TITLE,
  MAX_URI,
  MIN_RELIST_MS,
} from '../src/hub/upstream/limits.ts';
import { MAX_LINE } from '../src/protocol/index.ts';
import {
  LONGEST_ADDRESSED,
  MAX_COMPARED,
  MAX_DEPTH,
  MAX_DIRECTORIES,
  MAX_FILE_BYTES,
  MAX_HEAD,
  MAX_SKILL_BYTES,
  MAX_SKILL_DIRECTORIES,
  MAX_SKILL_FILES,
  MAX_SKILL_TOTAL,
  MAX_TEXT_HELD,
  MOST_DIGESTS,
  MOST_NAMED,
  MOST_SEGMENTS,
  SETTLE_MS,
} from '../src/skills/limits.ts';
import { MAX_BODIES, MAX_READ_BYTES } from '../src/tools/limits.ts';
import { VERSION } from '../src/version.ts';
import { allLimits, auditParts, type Module, modules, reachedFrom } from './harness/source.ts';

// Seen from .test-build/test.
const TOP = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(TOP, path), 'utf8');
const manifest = JSON.parse(read('package.json'));

/** Paths of the modules for which `holds` is true. */
const pathsWhere = (holds: (module: Module) => boolean) => modules.filter(holds).map(({ path }) => path);

/** The code of a module without what stands in quotes. */
const codeOf = ({ code }: Pick<Module, 'code'>) => code.replace(/'[^'\n]*'|"[^"\n]*"/g, "''");

// Lowest first; a module imports from its own row or from one above it in this table.
const LAYERS: readonly (readonly string[])[] = [
  ['protocol', 'model', 'log', 'text', 'clock', 'compare', 'version', 'wait', 'sized-cache', 'hops', 'shutdown'],
  ['files'],
  ['skills'],
  ['catalog', 'hub'],
  ['methods', 'tools'],
  ['config', 'server'],
  ['transports'],
  ['index', 'stdio', 'cli'],
];

const partOf = (path: string) => path.split('/')[1]?.replace(/\.ts$/, '') ?? '';
const layerOf = (path: string) => LAYERS.findIndex((parts) => parts.includes(partOf(path)));

test('every file of src/ belongs to a layer', () => {
  assert.deepEqual(
    pathsWhere(({ path }) => layerOf(path) === -1),
    [],
  );
});

test('imports point one way, from the outer layers to the inner ones', () => {
  const wrong = modules.flatMap(({ path, imports }) =>
    imports
      .filter((target) => target.startsWith('src/') && layerOf(target) > layerOf(path))
      .map((target) => `${path} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('no module imports itself in a circle', () => {
  const graph = new Map(
    modules.map(({ path, imports }) => [path, imports.filter((target) => target.startsWith('src/'))]),
  );
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) return void circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (done.has(path)) return;
    for (const target of graph.get(path) ?? []) walk(target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  assert.deepEqual(circles, []);
});

test('protocol/ imports nothing from outside itself, no built-in and no package', () => {
  const leaving = modules
    .filter(({ path }) => path.startsWith('src/protocol/'))
    .flatMap(({ imports }) => imports.filter((target) => !target.startsWith('src/protocol/')));
  assert.deepEqual(leaving, []);
});

test('transports/ know protocol/ and nothing else of ours', () => {
  const leaving = modules
    .filter(({ path }) => path.startsWith('src/transports/'))
    .flatMap(({ imports }) => imports.filter((target) => /^src\/(?!transports\/|protocol\/)/.test(target)));
  assert.deepEqual(leaving, []);
});

test('nothing that the stdio program reaches names a file of hub/ or transports/http/, not even as a type', () => {
  const reached = new Set(reachedFrom('src/stdio.ts'));
  assert.ok(reached.has('src/server.ts') && reached.has('src/skills/scan.ts'));
  assert.deepEqual(
    [...reached].filter((path) => /^src\/(?:hub|transports\/http)\//.test(path)),
    [],
  );
});

test('only the programs and cli/ touch the process; the hub as a library its environment, and connection/process.ts ends processes', () => {
  const touching = pathsWhere(
    (module) => /\bprocess\b/.test(codeOf(module)) || module.imports.includes('node:process'),
  );
  assert.deepEqual(
    touching.filter((path) => !['cli', 'stdio'].includes(partOf(path))),
    ['src/hub/connection/process.ts', 'src/hub/index.ts'],
  );
});

test('each package has one importing file; only schemas are everywhere', () => {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of modules) {
    for (const name of imports.filter((one) => !/^(?:src\/|node:)/.test(one))) {
      importers.set(name, [...(importers.get(name) ?? []), path]);
    }
  }
  assert.deepEqual([...importers.keys()].toSorted(), Object.keys(manifest.dependencies).toSorted());
  importers.delete('valibot');
  assert.deepEqual(
    [...importers].filter(([, paths]) => paths.length !== 1),
    [],
  );
});

test('only eras.ts and dialects.ts know a protocol date', () => {
  const knowing = pathsWhere(({ text }) => /\b20\d\d-\d\d-\d\d\b/.test(text));
  assert.deepEqual(
    knowing.filter((path) => path !== 'src/hub/connection/dialects.ts'),
    ['src/protocol/eras.ts'],
  );
});

test('a module says first what it owns', () => {
  assert.deepEqual(
    pathsWhere(({ text }) => !/^(?:#!.*\n)?\/\*\*/.test(text)),
    [],
  );
});

test('there is no any, no !, no default export, no suppressed check, no note to self', () => {
  const banned: ReadonlyMap<string, RegExp> = new Map([
    ['any', /(?::|<|\bas|,|\|)\s*any\b/],
    ['!', /[\w)\]]!(?:[.;,)\]]|\s*$)/m],
    ['default export', /^export default\b/m],
  ]);
  const inText = /@ts-|biome-ignore|TODO|FIXME|XXX/;
  const found = modules.flatMap(({ path, text, ...rest }) => [
    ...[...banned].filter(([, pattern]) => pattern.test(codeOf(rest))).map(([what]) => `${path}: ${what}`),
    ...(inText.test(text) ? [`${path}: ${inText.exec(text)?.[0]}`] : []),
  ]);
  assert.deepEqual(found, []);
  assert.deepEqual(
    pathsWhere(({ path }) => /util|helper|misc|common/i.test(path)),
    [],
  );
});

test('src/protocol reads in one sitting: at most 1100 lines', () => {
  const lines = modules
    .filter(({ path }) => path.startsWith('src/protocol/'))
    .reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
  assert.ok(lines <= 1100, `${lines} lines`);
});

test('every file is in one part of the audit, and what touches files, network or processes is at a trust boundary', () => {
  const paths = auditParts.flatMap((part) => part.paths);
  assert.deepEqual(
    paths.toSorted(),
    modules.map(({ path }) => path),
  );
  const outside = /^node:(?:fs|net|tls|http|https|http2|dns|dgram|child_process|worker_threads|vm)(?:\/|$)/;
  const inner = new Set(auditParts.filter(({ boundary }) => !boundary).flatMap((part) => part.paths));
  assert.deepEqual(
    pathsWhere(({ path, imports }) => inner.has(path) && imports.some((name) => outside.test(name))),
    INNER_WITH_FILES,
  );
});

// The watcher learns that something has changed, and a summary the real path of the working directory; neither reads a file.
const INNER_WITH_FILES: readonly string[] = ['src/catalog/watcher.ts', 'src/tools/summary.ts'];

test('every limit has a reason', () => {
  assert.ok(allLimits.length > 100, `${allLimits.length} limits`);
  const bare = allLimits.filter(({ reason }) => reason === '').map(({ path, name }) => `${path}: ${name}`);
  assert.deepEqual(bare, []);
});

test('the top level is what the design says, and dot-files', () => {
  const made = ['node_modules', 'dist'];
  const names = readdirSync(TOP).filter(
    (name) => !name.startsWith('.') && !made.includes(name) && !/\.tgz$/.test(name),
  );
  assert.deepEqual(
    names.toSorted(),
    ['LICENSE', 'README.md', 'package-lock.json', 'package.json', 'scripts', 'src', 'test', 'tsconfig.json'].toSorted(),
  );
});

test('the runtime packages are exactly four, and js-yaml below one of them is pinned', () => {
  assert.deepEqual(Object.keys(manifest.dependencies).toSorted(), ['front-matter', 'leven', 'picomatch', 'valibot']);
  assert.equal(manifest.optionalDependencies ?? manifest.peerDependencies ?? manifest.bundleDependencies, undefined);
  const lock = JSON.parse(read('package-lock.json'));
  assert.match(manifest.overrides['js-yaml'], /^\d+\.\d+\.\d+$/);
  assert.equal(lock.packages['node_modules/js-yaml'].version, manifest.overrides['js-yaml']);
  assert.deepEqual(lock.packages[''].dependencies, manifest.dependencies);
  assert.doesNotMatch(read('package-lock.json'), /"resolved"/);
});

test('the version is that of package.json', () => {
  assert.equal(VERSION, manifest.version);
});

test('the oldest Node is said once, to the minor, and the suite runs on it and on the newest (10.24, 10.25)', () => {
  // util.styleText came with 20.12; AbortSignal.any and String.prototype.toWellFormed are older.
  assert.equal(manifest.engines.node, '>=20.12.0');
  assert.equal(JSON.parse(read('package-lock.json')).packages[''].engines.node, manifest.engines.node);
  assert.match(read('README.md'), /You need Node 20\.12 or later/);
  const run = read('.ci/run');
  assert.match(run, /oldest=\$\(node -p 'require\("\.\/package\.json"\)\.engines\.node/);
  assert.match(run, /for version in "\$oldest" "\$newest"/);
});

test('every entry of the package ships its types', () => {
  for (const entry of Object.values<Record<string, string>>(manifest.exports)) {
    assert.equal(entry.types, entry.default?.replace(/\.js$/, '.d.ts'));
  }
});

test('every file that the README names under Architecture and Contributing exists', () => {
  const sections = /^## Architecture$[\s\S]*?(?=^## Security$)/m.exec(read('README.md'))?.[0] ?? '';
  const named = [...sections.matchAll(/`([\w./-]+\/|[\w./-]+\.ts)`/g)].map(([, path = '']) => path);
  assert.ok(named.length > 40, `${named.length} files are named`);
  const missing = named.filter((path) => !existsSync(join(TOP, 'src', path)) && !existsSync(join(TOP, path)));
  assert.deepEqual(missing, []);
});

test('the tables of the README that come from the code are up to date', () => {
  const script = join(TOP, 'scripts', 'readme.js');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

test('the test of src/a/b.ts is test/a/b.test.ts; what crosses folders is in test/program/', () => {
  const tests = readdirSync(join(TOP, 'test'), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.test.ts') && !/^(?:program\/|house\.|package\.)/.test(path));
  const lost = tests.filter((path) => !existsSync(join(TOP, 'src', path.replace(/\.test\.ts$/, '.ts'))));
  assert.deepEqual(lost, []);
});

// Words that a reader would have to learn first, or that make a sentence a riddle.
const INNER_WORDS =
  /\b(?:vigil|fleet|parcel|errand|tenant|shelf|outlet|blot|carrier|dossier|lineage|whoever|anybody|nobody)s?\b/gi;

test('the source uses the words of the field', () => {
  const found = modules.flatMap(({ path, text }) =>
    [...text.matchAll(INNER_WORDS)].map(([word]) => `${path}: ${word}`),
  );
  assert.deepEqual(found, []);
});

test('the numbers among the limits in the README are those in the code', () => {
  const limits = /## Limits\n([\s\S]*?)\n## /.exec(read('README.md'))?.[1] ?? '';
  const mib = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
  const rows: ReadonlyMap<string, string> = new Map([
    ['one line on stdin', mib(MAX_LINE)],
    ['a `SKILL.md`', mib(MAX_SKILL_BYTES)],
    ['its front matter', `${MAX_HEAD / 1024} KiB`],
    ['depth below a root', `${MAX_DEPTH} levels`],
    ['directories below a root', MAX_DIRECTORIES.toLocaleString('en')],
    ['skill texts held in memory', mib(MAX_TEXT_HELD)],
    ['files of a skill, and bytes in them, in `skills/list`', `${MAX_SKILL_FILES} files, ${mib(MAX_SKILL_TOTAL)}`],
    ['directories of a skill, in `skills/list`', MAX_SKILL_DIRECTORIES.toLocaleString('en')],
    ['one file by `resources/read`', mib(MAX_FILE_BYTES)],
    ['one file by `skills.read`', mib(MAX_READ_BYTES)],
    ["paths of skills that a plugin's manifest names", MOST_NAMED.toLocaleString('en')],
    ['segments of a `skill://` URI', `${MOST_SEGMENTS}`],
    ['a name with a `skill://` URI', `${LONGEST_ADDRESSED} characters`],
    ['a file that is compared by its content when a subscriber waits for a change', mib(MAX_COMPARED)],
    ['texts in one answer of `skills.list`', mib(MAX_BODIES)],
    [
      'resource templates of one server',
      `${MAX_TEMPLATES}, each of ${MAX_TEMPLATE.toLocaleString('en')} characters and ${MAX_EXPRESSIONS} expressions`,
    ],
    [
      'tools, resources or skills of one server',
      `${MAX_ITEMS.toLocaleString('en')} each, ${mib(MAX_LIST_BYTES)}, in ${MAX_PAGES.toLocaleString('en')} pages`,
    ],
    ['one tool, resource or skill in a list of a server', mib(MAX_ITEM_BYTES)],
    ['a cursor of a server', `${MAX_CURSOR.toLocaleString('en')} characters`],
    ['a URI of an upstream resource or skill', `${MAX_URI.toLocaleString('en')} characters`],
    ['titles and descriptions of a server', `${MAX_TITLE} and ${MAX_DESCRIPTION.toLocaleString('en')} characters`],
    [
      'looks at the lists of a server that keeps announcing changes',
      `every ${MIN_RELIST_MS / 1000} s, then less and less often, up to ${MAX_RELIST_MS / 1000} s apart`,
    ],
    ['a URI read by a template', `${MAX_MATCHED_URI.toLocaleString('en')} characters`],
    ['file digests held in memory', MOST_DIGESTS.toLocaleString('en')],
  ]);
  for (const [what, number] of rows) assert.match(limits, new RegExp(`^\\| ${what} \\| ${number}\\b`, 'm'), what);
  assert.match(limits, new RegExp(`at least ${SETTLE_MS} ms apart`));
});
