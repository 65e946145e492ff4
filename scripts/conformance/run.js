/**
 * `npm run conformance`: the official MCP conformance suite against this server, for both revisions it covers.
 * Scenarios that need nothing particular run against the program itself; those that need certain tools and resources
 * against test/fixtures/conformance-server.ts, which is the same server embedded. A failure or a warning in any of
 * them fails the run, and so does a scenario that nobody has put on a list. The suite and the Node it needs are
 * installed here, apart from the rest, the first time.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build, install, run, top } from '../prepare.js';

const here = join(top, 'scripts', 'conformance');
const [LEGACY, MODERN] = ['2025-11-25', '2026-07-28'];

/** They ask for what any server has. */
const ON_PROGRAM = [
  'server-initialize',
  'logging-set-level',
  'server-session-lifecycle',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'logging-set-level',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
  'sep-2164-resource-not-found',
  'caching',
  'http-header-validation',
];

/** Extensions are in no suite and run one by one, for either revision. */
const EXTENSIONS = ['sep-2640-skills-directory', 'sep-2640-skills-enumeration', 'sep-2640-skills-manifest'];

/** They call tools and read resources by names that only a fixture has. */
const ON_FIXTURE = [
  'server-stateless',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'tools-call-with-logging',
  'json-schema-2020-12',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
  'completion-complete',
  'http-custom-header-server-validation',
];

/** The other half: `skillwire/hub` as a client, driven by test/fixtures/conformance-client.ts. */
const AS_CLIENT = [
  ['initialize', LEGACY],
  ['tools_call', LEGACY],
  ['tools_call', MODERN],
  ['sse-retry', LEGACY],
  ['request-metadata', MODERN],
  ['http-standard-headers', MODERN],
  ['http-custom-headers', MODERN],
  ['http-invalid-tool-headers', MODERN],
  ['json-schema-ref-no-deref', MODERN],
  ['json-schema-2020-12-preservation', LEGACY],
  ['json-schema-2020-12-preservation', MODERN],
];

/** What this server does not do, and so cannot be asked. The README says the same. */
const LEFT_OUT = [
  [/^(tools-call-sampling|tools-call-elicitation|elicitation-)/, 'it asks nothing of clients'],
  [/^input-required-result-/, 'it asks nothing of clients'],
  [/^server-sse-polling$/, 'streams do not resume: an answer that was cut off is asked for again'],
];

const children = [];
const temporary = mkdtempSync(join(tmpdir(), 'skillwire-conformance-'));
try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  for (const child of children) child.kill();
  rmSync(temporary, { recursive: true, force: true });
}

async function main() {
  // `npm test` has done this already.
  if (!process.argv.includes('--built')) {
    install();
    build();
    run(process.execPath, [join(top, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'test/tsconfig.json']);
  }
  installSuite();
  // Suites side by side must not see each other's changes, so each has servers of its own.
  const [program, oldFixture, newFixture] = await Promise.all([startProgram(), startFixture(), startFixture()]);
  const results = (
    await Promise.all([
      runSuite(program, LEGACY, ON_PROGRAM),
      runSuite(program, MODERN, ON_PROGRAM),
      runSuite(oldFixture, LEGACY, ON_FIXTURE),
      runSuite(newFixture, MODERN, ON_FIXTURE),
      ...EXTENSIONS.flatMap((scenario) => [
        runScenario(program, LEGACY, scenario),
        runScenario(program, MODERN, scenario),
      ]),
    ])
  ).flat();
  // One at a time: what some of them measure is time.
  for (const [scenario, version] of AS_CLIENT) results.push(await runClient(scenario, version));
  print(results);
  const clients = AS_CLIENT.map(([scenario]) => scenario);
  const missing = [...ON_PROGRAM, ...ON_FIXTURE, ...EXTENSIONS, ...clients].filter(
    (name) => !results.some(({ scenario, passed }) => scenario === name && passed > 0),
  );
  for (const name of missing) console.log(`${name} was not run`);
  return missing.length === 0 && results.every(({ faults }) => faults.length === 0);
}

/** One row per scenario, one column per revision, and what is wrong below. */
function print(results) {
  const names = [...new Set(results.map(({ scenario }) => scenario))];
  const width = Math.max(...names.map((name) => name.length)) + 2;
  console.log(`${'scenario'.padEnd(width)}${LEGACY}  ${MODERN}`);
  for (const name of names) {
    const cells = [LEGACY, MODERN].map((version) => {
      const result = results.find((one) => one.scenario === name && one.version === version);
      if (!result) return '-';
      return result.faults.length === 0 ? `${result.passed} ok` : `${result.faults.length} WRONG`;
    });
    console.log(`${name.padEnd(width)}${cells.map((cell) => cell.padEnd(12)).join('')}`.trimEnd());
  }
  for (const { scenario, version, faults } of results) {
    for (const fault of faults) console.log(`${scenario} (${version}): ${fault}`);
  }
}

/** The scenarios of a revision, judged where they are on the list. */
async function runSuite(url, version, wanted) {
  const output = mkdtempSync(join(temporary, 'suite-'));
  await runCommand(['server', '--url', url, '--suite', 'all', '--spec-version', version, '-o', output]);
  const found = readdirSync(output).map((folder) => ({ folder, scenario: scenarioOf(folder) }));
  const unknown = found.filter(({ scenario }) => !isKnown(scenario));
  return [
    ...found
      .filter(({ scenario }) => wanted.includes(scenario))
      .map(({ folder, scenario }) => judge(scenario, version, join(output, folder))),
    ...unknown.map(({ scenario }) => ({ scenario, version, passed: 0, faults: ['is on no list'] })),
  ];
}

async function runScenario(url, version, scenario) {
  const output = mkdtempSync(join(temporary, 'scenario-'));
  await runCommand([
    'server',
    '--url',
    url,
    '--scenario',
    scenario,
    '--spec-version',
    version,
    '--force',
    '-o',
    output,
  ]);
  return readdirSync(output).map((folder) => judge(scenario, version, join(output, folder)));
}

async function runClient(scenario, version) {
  const output = mkdtempSync(join(temporary, 'client-'));
  const driver = join(top, '.test-build', 'test', 'fixtures', 'conformance-client.js');
  const command = `${process.execPath} ${driver}`;
  const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', version, '-o', output];
  const code = await runCommand(args);
  const [folder = ''] = readdirSync(output);
  const result = judge(scenario, version, join(output, folder));
  // Every check may be green and the client broken all the same.
  return code === 0 || result.faults.length > 0 ? result : { ...result, faults: [`the client failed (${code})`] };
}

function isKnown(scenario) {
  return [...ON_PROGRAM, ...ON_FIXTURE].includes(scenario) || LEFT_OUT.some(([pattern]) => pattern.test(scenario));
}

/** From `server-NAME-2026-11-16T03-46-26-604Z`. */
function scenarioOf(folder) {
  return folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
}

function judge(scenario, version, folder) {
  const file = join(folder, 'checks.json');
  const checks = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
  const faults = checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, status, errorMessage }) => `${status} ${id}: ${errorMessage ?? 'no reason given'}`);
  return { scenario, version, passed, faults: passed === 0 && faults.length === 0 ? ['checked nothing'] : faults };
}

/** Its exit code counts scenarios that are not ours to pass; the files it writes tell each apart. */
async function runCommand(args) {
  const modules = join(here, 'node_modules');
  const suite = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  const child = spawn(join(modules, 'node', 'bin', 'node'), [suite, ...args, '--timeout', '30000'], {
    stdio: 'ignore',
  });
  children.push(child);
  const [code] = await once(child, 'close');
  return code;
}

function startProgram() {
  const tree = mkdtempSync(join(temporary, 'program-'));
  for (const [path, text] of [
    ['hello/SKILL.md', '---\nname: hello\ndescription: Greets people\n---\n# Hello\n\nSee references/words.md.\n'],
    ['hello/references/words.md', 'Good day.\n'],
    ['later/SKILL.md', '---\nname: later\ndescription: Says goodbye\nlicense: MIT\n---\n# Goodbye\n'],
  ]) {
    mkdirSync(join(tree, 'skills', path, '..'), { recursive: true });
    writeFileSync(join(tree, 'skills', path), text);
  }
  const args = [
    join(top, 'dist', 'skillwire.cjs'),
    '--transport',
    'http',
    '--port',
    '0',
    '--root',
    'skills',
    '--no-plugins',
  ];
  const child = spawn(process.execPath, args, {
    cwd: tree,
    env: { PATH: process.env.PATH, HOME: tree },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return urlFrom(child, child.stderr);
}

function startFixture() {
  const tree = mkdtempSync(join(temporary, 'fixture-'));
  mkdirSync(join(tree, 'test_simple_prompt'));
  writeFileSync(
    join(tree, 'test_simple_prompt', 'SKILL.md'),
    '---\nname: test_simple_prompt\ndescription: A prompt\n---\nThis is a simple prompt for testing.\n',
  );
  const server = join(top, '.test-build', 'test', 'fixtures', 'conformance-server.js');
  const child = spawn(process.execPath, [server, tree], { cwd: tree, stdio: ['ignore', 'pipe', 'inherit'] });
  return urlFrom(child, child.stdout);
}

/** The first URL that the server names, by a name that the rebinding scenario can vary. */
async function urlFrom(child, stream) {
  children.push(child);
  for await (const line of createInterface({ input: stream })) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (url === undefined) continue;
    stream.resume();
    return url.replace('127.0.0.1', 'localhost');
  }
  throw new Error('a server ended before it listened');
}

function installSuite() {
  const { dependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
  const isThere = ([name, version]) => {
    const manifest = join(here, 'node_modules', name, 'package.json');
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  };
  if (Object.entries(dependencies).every(isThere)) return;
  console.error('skillwire: installing the conformance suite');
  run('npm', ['ci', '--prefix', here, '--no-audit', '--no-fund', '--loglevel=error', '--json=false']);
}
