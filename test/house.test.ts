/** The architecture, as far as it can be read off the files. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../src/version.ts';
import { allLimits, auditParts, limitsIn, type Module, modules, reachedFrom } from './harness/source.ts';

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
  ['protocol', 'model', 'log', 'text', 'compare', 'version', 'wait', 'lazy', 'sized-cache', 'hops', 'shutdown'],
  ['files'],
  ['skills'],
  ['catalog', 'hub'],
  ['methods', 'tools'],
  ['config', 'first-list', 'service', 'loading', 'server'],
  ['transports'],
  ['skillwire', 'index', 'stdio', 'cli', 'launch'],
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

test('only the programs and cli/ touch the process; the hub as a library its environment, connection/process.ts ends processes, and wait.ts reads its clock', () => {
  const touching = pathsWhere(
    (module) => /\bprocess\b/.test(codeOf(module)) || module.imports.includes('node:process'),
  );
  assert.deepEqual(
    touching.filter((path) => !['cli', 'stdio'].includes(partOf(path))),
    ['src/hub/connection/process.ts', 'src/hub/index.ts', 'src/wait.ts'],
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

test('src/protocol reads in one sitting: at most 1150 lines', () => {
  const lines = modules
    .filter(({ path }) => path.startsWith('src/protocol/'))
    .reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
  assert.ok(lines <= 1150, `${lines} lines`);
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

// The watcher learns that something has changed; it reads no file.
const INNER_WITH_FILES: readonly string[] = ['src/catalog/watcher.ts'];

test('every limit has a reason', () => {
  assert.ok(allLimits.length > 100, `${allLimits.length} limits`);
  const bare = allLimits.filter(({ reason }) => reason === '').map(({ path, name }) => `${path}: ${name}`);
  assert.deepEqual(bare, []);
});

test('a limit has no reason but its own', () => {
  const text = `/** Why A. */\nexport const MAX_A = 1;\nexport const MAX_B = 2;\nexport const MAX_C = 3; // Why C.
export const LIMITS = {\n  /** Why d. */\n  d: 4,\n  e: 5,\n  f: 6, // Why f.\n};\n`;
  assert.deepEqual(
    limitsIn('src/x/limits.ts', text).map(({ name, value, reason }) => [name, value, reason]),
    [
      ['MAX_A', 1, 'Why A.'],
      ['MAX_B', 2, ''],
      ['MAX_C', 3, 'Why C.'],
      ['LIMITS.d', 4, 'Why d.'],
      ['LIMITS.e', 5, ''],
      ['LIMITS.f', 6, 'Why f.'],
    ],
  );
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

test('every file that the README names under Architecture, Contributing and Security exists', () => {
  const sections = /^## Security$[\s\S]*?(?=^## Changes$)/m.exec(read('README.md'))?.[0] ?? '';
  const named = [...sections.matchAll(/`([\w./-]+\/|[\w./-]+\.ts)`/g)].map(([, path = '']) => path);
  assert.ok(named.length > 40, `${named.length} files are named`);
  const missing = named.filter((path) => !existsSync(join(TOP, 'src', path)) && !existsSync(join(TOP, path)));
  assert.deepEqual(missing, []);
});

test('every change that the README lists is a whole sentence', () => {
  const changes = /^## Changes$[\s\S]*?(?=^## )/m.exec(read('README.md'))?.[0] ?? '';
  const entries = changes.split(/^(?=- |#)/m).filter((part) => part.startsWith('- '));
  assert.ok(entries.length > 20, `${entries.length} changes are listed`);
  assert.deepEqual(
    entries.filter((entry) => !entry.trimEnd().endsWith('.')),
    [],
  );
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

// Words that a reader would have to learn first, or that make a sentence a riddle; last "X is no Y" for "X is not a Y".
const INNER_WORDS =
  /\b(?:vigil|fleet|foreign|parcel|errand|tenant|shelf|outlet|blot|carrier|dossier|lineage|whoever|anybody|everybody|nobody)s?\b|(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b)\w+/gi;

test('the source uses the words of the field', () => {
  const found = modules.flatMap(({ path, text }) =>
    [...text.matchAll(INNER_WORDS)].map(([word]) => `${path}: ${word}`),
  );
  assert.deepEqual(found, []);
});

test('no two exported types have one name', () => {
  const names = modules.flatMap(({ code }) =>
    [...code.matchAll(/^export (?:interface|type|class) (\w+)/gm)].map(([, name]) => name),
  );
  assert.ok(names.length > 100, `${names.length} types`);
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  );
});

/** The numbers of each row of the README's table, in the order in which they stand there; the first words of the row name it. */
const LIMIT_ROWS: readonly (readonly [what: string, ...limits: readonly string[]])[] = [
  ['one line on stdin', 'protocol/framing MAX_LINE'],
  ['values in one message', 'protocol/json-rpc MAX_VALUES', 'hub/connection/limits MAX_RESPONSE_VALUES'],
  ['nesting of a message', 'protocol/json-rpc MAX_NESTING'],
  ['an id or a progress token', 'protocol/json-rpc MAX_ID'],
  ['messages of a batch', 'protocol/json-rpc MAX_BATCH'],
  ['answers that batches hold', 'protocol/dispatch MAX_BATCH_ANSWER'],
  ['name and version of a client', 'protocol/eras MAX_CLIENT_TEXT'],
  ['names of clients without a handshake', 'methods/limits MOST_CLIENT_NAMES'],
  ['a `SKILL.md`', 'skills/limits MAX_SKILL_BYTES'],
  ['its front matter', 'skills/limits MAX_HEAD', 'skills/limits MAX_BLANK'],
  ["paths of skills that a plugin's manifest names", 'skills/limits MOST_NAMED'],
  ['depth below a root', 'skills/limits MAX_DEPTH'],
  ['directories below a root', 'skills/limits MAX_DIRECTORIES'],
  ['skill texts held in memory', 'skills/limits MAX_TEXT_HELD'],
  ['files of a skill, and bytes', 'skills/limits MAX_SKILL_FILES', 'skills/limits MAX_SKILL_TOTAL'],
  ['directories of a skill', 'skills/limits MAX_SKILL_DIRECTORIES'],
  ['one file by `resources/read`', 'skills/limits MAX_FILE_BYTES'],
  ['segments of a `skill://` URI', 'skills/limits MOST_SEGMENTS'],
  ['a file that is compared by its content', 'skills/limits MAX_COMPARED'],
  ['a name with a `skill://` URI', 'skills/limits LONGEST_ADDRESSED'],
  ['one file by `skills.read`', 'tools/read MAX_READ_BYTES'],
  ['texts in one answer of `skills.list`', 'tools/limits MAX_BODIES'],
  ['the description that lists the skills', 'methods/host-profiles GENERAL_BUDGET'],
  [
    'a search',
    'tools/limits LONGEST_QUERY',
    'tools/limits MOST_WORDS',
    'tools/limits LONGEST_WORD',
    'tools/limits MOST_RESULTS',
  ],
  ['waiting for the texts of upstream skills', 'skills/limits UPSTREAM_TEXTS_MS'],
  ["a skill's name", 'skills/limits LONGEST_NAME'],
  ['the name of a skill, tool or prompt', 'methods/limits LONGEST_NAME'],
  ['a URI that is asked for', 'methods/limits LONGEST_URI'],
  ['a cursor', 'methods/limits LONGEST_CURSOR'],
  ['a name that a pattern', 'skills/filter LONGEST_MATCHED'],
  ['a pattern with those', 'skills/filter MOST_STARS'],
  ['resources one client subscribes to', 'methods/limits MOST_SUBSCRIPTIONS'],
  ['file digests held in memory', 'skills/limits MOST_DIGESTS'],
  ['answers begun while stdout is full', 'transports/stdio LINES_PER_TURN'],
  ['servers in one configuration file', 'hub/config/limits MAX_SERVERS'],
  ["a project's `.kode.json`", 'hub/config/limits MAX_PROJECT_FILE', 'hub/config/limits MAX_FILE'],
  ['command, arguments, environment', 'hub/config/limits MAX_ENTRY'],
  ['one message of an upstream server', 'hub/connection/limits MAX_MESSAGE'],
  ['messages to a stdio server', 'hub/connection/limits MAX_UNREAD'],
  [
    'tools, resources, prompts or skills of one server',
    'hub/upstream/limits MAX_ITEMS',
    'hub/upstream/limits MAX_LIST_BYTES',
    'hub/upstream/limits MAX_PAGES',
  ],
  ['progress reports of one call', 'hub/upstream/limits MAX_PROGRESS_PER_SECOND'],
  ['one tool, resource, prompt or skill in a list', 'hub/upstream/limits MAX_ITEM_BYTES'],
  [
    'log messages of one server that clients get',
    'hub/upstream/limits MAX_MESSAGES_PER_SECOND',
    'hub/upstream/limits MAX_MESSAGE_DATA',
  ],
  ['resources of one server that are subscribed to', 'hub/upstream/limits MAX_FOLLOWED'],
  ['notifications that a resource was updated', 'methods/limits SHORTEST_GAP_MS'],
  ['waiting for a server to accept a subscription', 'hub/upstream/limits SUBSCRIBE_MS'],
  ['values in a completion', 'hub/upstream/limits MAX_VALUES'],
  ['a cursor of a server', 'hub/upstream/limits MAX_CURSOR'],
  ['a URI of an upstream resource or skill', 'hub/upstream/limits MAX_URI'],
  ['titles and descriptions of a server', 'hub/upstream/limits MAX_TITLE', 'hub/upstream/limits MAX_DESCRIPTION'],
  [
    'looks at the lists of a server that keeps',
    'hub/upstream/limits MIN_RELIST_MS',
    'hub/upstream/limits MAX_RELIST_MS',
  ],
  ['notifications of changed lists', 'methods/limits SHORTEST_GAP_MS'],
  [
    'resource templates of one server',
    'hub/upstream/limits MAX_TEMPLATES',
    'hub/upstream/limits MAX_TEMPLATE',
    'hub/upstream/limits MAX_EXPRESSIONS',
  ],
  ['a URI read by a template', 'hub/upstream/limits MAX_MATCHED_URI'],
  ['the name of an upstream tool or prompt', 'hub/upstream/limits MAX_NAME'],
  [
    "a client's file that `setup` changes",
    'hub/config/limits MAX_FILE',
    'hub/config/limits MAX_PROJECT_FILE',
    'files/scanner MAX_NESTING',
    'cli/setup/client-file MAX_BACKUPS',
  ],
  ['log lines waiting', 'cli/process MAX_UNREAD_LOG'],
  ['calls to upstream servers', 'shutdown SHUTDOWN.lastCallsMs', 'shutdown SHUTDOWN.stoppedCallsMs'],
  [
    "our replies to an upstream server's",
    'hub/connection/limits MAX_REPLIES_AT_ONCE',
    'hub/connection/limits MAX_REPLIES_WAITING',
  ],
  ['lines of an upstream server that are not JSON-RPC', 'hub/connection/limits MAX_STRANGE_LINES'],
  ['responses that are not read', 'shutdown SHUTDOWN.lastFlushMs'],
  ['answers still to give', 'shutdown SHUTDOWN.exitMs'],
];

test('the numbers among the limits in the README are those in the code', () => {
  const section = /## Limits\n([\s\S]*?)\n## /.exec(read('README.md'))?.[1] ?? '';
  const values = new Map(allLimits.map(({ path, name, value }) => [`${path.slice(4, -3)} ${name}`, value]));
  const rows = [...section.matchAll(/^\| (.*?) \| (.*?\d.*?) \|/gm)];
  // Longest first, because "a cursor" begins "a cursor of a server" too.
  const known = LIMIT_ROWS.toSorted(([a], [b]) => b.length - a.length);
  for (const [, what = '', limit = ''] of rows) {
    const [, ...names] = known.find(([start]) => what.startsWith(start)) ?? [''];
    const shown = [...limit.replace(/SIG\w+/g, '').matchAll(/\d[\d,.]*\d|\d/g)].map(([text]) =>
      Number(text.replaceAll(',', '')),
    );
    // As a plain number, or in seconds, KiB or MiB.
    const same = names.map((name, at) =>
      [1, 1000, 1024, 1024 * 1024].some((unit) => (shown[at] ?? 0) * unit === values.get(name)),
    );
    assert.ok(
      shown.length === names.length && same.every(Boolean),
      `${what}: ${limit}; in the code ${names.map((name) => `${name} ${values.get(name)}`)}`,
    );
  }
  assert.equal(rows.length, LIMIT_ROWS.length);
  assert.match(section, new RegExp(`at least ${values.get('skills/limits SETTLE_MS')} ms apart`));
});
