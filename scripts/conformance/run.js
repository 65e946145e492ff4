/**
 * `npm run conformance`: the official MCP conformance suite against this server and, as a client, against its hub.
 * Scenarios that need nothing particular run against the program itself; those that need certain tools and resources
 * against test/fixtures/conformance-server.ts, which is the same server embedded; those of a client drive
 * test/fixtures/conformance-client.ts. A failure or a warning in any of them fails the run, and so does a scenario that is
 * on no list here. The suite and the Node it needs are installed beside this file, the first time.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { build, install, run, say, top } from '../build.js';

const here = join(top, 'scripts', 'conformance');
const [LEGACY, MODERN] = ['2025-11-25', '2026-07-28'];

const words = (text) => text.trim().split(/\s+/);

/** They ask for what any server has. */
const ON_PROGRAM = words(`
  server-initialize server-session-lifecycle ping tools-list resources-list prompts-list server-sse-multiple-streams
  dns-rebinding-protection sep-2164-resource-not-found caching http-header-validation`);

/** They call tools and read resources by names that only a fixture has. */
const ON_FIXTURE = words(`
  server-stateless tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource
  tools-call-mixed-content tools-call-error tools-call-with-progress json-schema-2020-12 resources-read-text
  resources-read-binary resources-templates-read prompts-get-simple prompts-get-with-args prompts-get-embedded-resource
  prompts-get-with-image http-custom-header-server-validation`);

/** Extensions are in no suite and run one by one, for either revision. */
const EXTENSIONS = words('sep-2640-skills-directory sep-2640-skills-enumeration sep-2640-skills-manifest');

const PRESERVATION = 'json-schema-2020-12-preservation';
const AS_CLIENT = {
  [LEGACY]: words(`initialize tools_call sse-retry ${PRESERVATION}`),
  [MODERN]: words(`
    tools_call request-metadata http-standard-headers http-custom-headers http-invalid-tool-headers
    json-schema-ref-no-deref ${PRESERVATION}`),
};

/** What this server does not do, and so cannot be asked. */
const LEFT_OUT = [
  [/^(tools-call-(sampling|elicitation)|elicitation-|input-required-result-)/, 'it asks nothing of clients'],
  [/^server-sse-polling$/, 'streams do not resume: an answer that was cut off is asked for again'],
  [/^logging-set-level$|^tools-call-with-logging$/, 'its log goes to stderr, not to clients'],
  [/^completion-complete$/, 'its prompts and templates have nothing to complete'],
  [/^resources-(un)?subscribe$/, 'changes are told by list_changed, not for a single resource'],
];
const reasonFor = (scenario) => LEFT_OUT.find(([pattern]) => pattern.test(scenario))?.[1];

const children = [];
const temporary = mkdtempSync(join(tmpdir(), 'skillwire-conformance-'));
// Below the checkout: there its imports find the packages.
const fixtures = join(top, '.test-build', 'conformance');
try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  for (const child of children) child.kill();
  rmSync(temporary, { recursive: true, force: true });
}

async function main() {
  install();
  await build();
  await buildFixtures();
  installSuite();
  say('conformance');
  // Suites side by side must not see each other's changes, so each has servers of its own.
  const [program, oldFixture, newFixture] = await Promise.all([startProgram(), startFixture(), startFixture()]);
  const alone = (url, scenario, version) => runServer(url, version, ['--scenario', scenario, '--force']);
  const runs = await Promise.all([
    runServer(program, LEGACY, ['--suite', 'all'], ON_PROGRAM),
    runServer(program, MODERN, ['--suite', 'all'], ON_PROGRAM),
    runServer(oldFixture, LEGACY, ['--suite', 'all'], ON_FIXTURE),
    runServer(newFixture, MODERN, ['--suite', 'all'], ON_FIXTURE),
    ...EXTENSIONS.flatMap((scenario) => [alone(program, scenario, LEGACY), alone(program, scenario, MODERN)]),
  ]);
  const results = runs.flat();
  // One at a time: some of them measure how long the client waits.
  for (const [version, scenarios] of Object.entries(AS_CLIENT))
    for (const scenario of scenarios) results.push(await runClient(scenario, version));
  print(results);
  const wanted = [...ON_PROGRAM, ...ON_FIXTURE, ...EXTENSIONS, ...Object.values(AS_CLIENT).flat()];
  const missing = wanted.filter((name) => !results.some(({ scenario, passed }) => scenario === name && passed > 0));
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
      if (result.leftOut) return 'left out';
      return result.faults.length === 0 ? `${result.passed} ok` : `${result.faults.length} WRONG`;
    });
    console.log(
      `${name.padEnd(width)}${cells.map((cell) => cell.padEnd(12)).join('')}${reasonFor(name) ?? ''}`.trimEnd(),
    );
  }
  for (const { scenario, version, faults } of results)
    for (const fault of faults) console.log(`${scenario} (${version}): ${fault}`);
  const judged = results.filter(({ leftOut }) => !leftOut);
  const wrong = judged.filter(({ faults }) => faults.length > 0);
  const checks = judged.reduce((sum, { passed }) => sum + passed, 0);
  console.log(`${judged.length - wrong.length} of ${judged.length} runs passed, ${checks} checks`);
}

/** Runs scenarios against a server. Those of a suite are judged where they are `wanted`; the others are elsewhere, or left out. */
async function runServer(url, version, selection, wanted) {
  const { output } = await runSuite('server', ['--url', url, ...selection, '--spec-version', version]);
  // Folders are called `server-NAME-2026-11-16T03-46-26-604Z`.
  const nameOf = (folder) => folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
  return readdirSync(output).flatMap((folder) => {
    const scenario = nameOf(folder);
    if (!wanted || wanted.includes(scenario)) return [judge(scenario, version, join(output, folder))];
    if (reasonFor(scenario)) return [{ scenario, version, passed: 0, faults: [], leftOut: true }];
    if ([...ON_PROGRAM, ...ON_FIXTURE].includes(scenario)) return [];
    return [{ scenario, version, passed: 0, faults: ['is on no list'] }];
  });
}

async function runClient(scenario, version) {
  const command = `${process.execPath} ${join(fixtures, 'conformance-client.js')}`;
  const args = ['--command', command, '--scenario', scenario, '--spec-version', version];
  const { output, code } = await runSuite('client', args);
  const [folder = ''] = readdirSync(output);
  const result = judge(scenario, version, join(output, folder));
  // Every check may be green and the client broken all the same.
  return code === 0 || result.faults.length > 0 ? result : { ...result, faults: [`the client failed (${code})`] };
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

/** Its exit code counts scenarios that are not ours to pass; the files that it writes tell each apart. */
async function runSuite(side, args) {
  const output = mkdtempSync(join(temporary, `${side}-`));
  const modules = join(here, 'node_modules');
  const suite = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  const all = [suite, side, ...args, '-o', output, '--timeout', '30000'];
  const child = spawn(join(modules, 'node', 'bin', 'node'), all, { stdio: 'ignore' });
  children.push(child);
  const [code] = await once(child, 'close');
  return { output, code };
}

function startProgram() {
  const tree = makeTree({
    'hello/SKILL.md': '---\nname: hello\ndescription: Greets people\n---\n# Hello\n\nSee references/words.md.\n',
    'hello/references/words.md': 'Good day.\n',
    'later/SKILL.md': '---\nname: later\ndescription: Says goodbye\nlicense: MIT\n---\n# Goodbye\n',
  });
  const args = ['--transport', 'http', '--port', '0', '--no-default-dirs', '--no-plugins', '--skill-dir', tree];
  return startServer([join(top, 'dist', 'skillwire.cjs'), ...args], tree);
}

function startFixture() {
  const text = '---\nname: test_simple_prompt\ndescription: A prompt\n---\nThis is a simple prompt for testing.\n';
  const tree = makeTree({ 'test_simple_prompt/SKILL.md': text });
  return startServer([join(fixtures, 'conformance-server.js'), tree], tree);
}

function makeTree(files) {
  const tree = mkdtempSync(join(temporary, 'skills-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  return tree;
}

/** The first URL that the server names on stderr, by a name that the rebinding scenario can vary. */
async function startServer(args, home) {
  const env = { PATH: process.env.PATH, HOME: home };
  const child = spawn(process.execPath, args, { cwd: home, env, stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  for await (const line of createInterface({ input: child.stderr })) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stderr.resume();
    return url.replace('127.0.0.1', 'localhost');
  }
  throw new Error('a server ended before it listened');
}

async function buildFixtures() {
  // Loaded here: in a fresh clone it is there only after `install`.
  const esbuild = await import('esbuild');
  const entryPoints = ['server', 'client'].map((side) => join(top, 'test', 'fixtures', `conformance-${side}.ts`));
  const options = { bundle: true, platform: 'node', format: 'esm', target: 'node20', packages: 'external' };
  await esbuild.build({ ...options, entryPoints, outdir: fixtures, logLevel: 'warning' });
}

function installSuite() {
  const { dependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
  const isThere = ([name, version]) => {
    const manifest = join(here, 'node_modules', name, 'package.json');
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  };
  if (Object.entries(dependencies).every(isThere)) return;
  say('installing the conformance suite');
  run('npm', ['ci', '--prefix', here, '--no-audit', '--no-fund', '--loglevel=error', '--json=false']);
}
