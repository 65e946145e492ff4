/**
 * `npm run conformance`: the official MCP conformance suite against this server and, as a client, against its hub.
 * Scenarios that need nothing particular run against the program itself; those that need certain tools and resources
 * against test/fixtures/conformance-server.ts, which is the same server embedded; those of a client drive
 * test/fixtures/conformance-client.ts. A failure or a warning in any of them fails the run, and so does a scenario for
 * servers that is on no list here. The suite and the Node it needs are installed beside this file, the first time.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, run, say, top } from '../build.js';
import { makeDirectory, start, urlFrom } from '../programs.js';

const VERSIONS = ['2025-11-25', '2026-07-28'];
const words = (text) => text.trim().split(/\s+/);

/** They ask for what any server has. */
const ON_PROGRAM = words(`
  server-initialize server-session-lifecycle ping tools-list resources-list prompts-list server-sse-multiple-streams
  dns-rebinding-protection sep-2164-resource-not-found caching http-header-validation
  sep-2640-skills-directory sep-2640-skills-enumeration sep-2640-skills-manifest`);

/** They call tools and read resources by names that only a fixture has. */
const ON_FIXTURE = words(`
  server-stateless tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource
  tools-call-mixed-content tools-call-error tools-call-with-progress json-schema-2020-12 resources-read-text
  resources-read-binary resources-templates-read prompts-get-simple prompts-get-with-args prompts-get-embedded-resource
  prompts-get-with-image http-custom-header-server-validation`);

const AS_CLIENT = words(`
  initialize tools_call sse-retry request-metadata http-standard-headers http-custom-headers http-invalid-tool-headers
  json-schema-ref-no-deref json-schema-2020-12-preservation`);

/** What this server does not do, and so cannot be asked. */
const LEFT_OUT = [
  [/^(tools-call-(sampling|elicitation)|elicitation-|input-required-result-)/, 'it asks nothing of clients'],
  [/^server-sse-polling$/, 'streams do not resume: an answer that was cut off is asked for again'],
  [/^logging-set-level$|^tools-call-with-logging$/, 'its log goes to stderr, not to clients'],
  [/^completion-complete$/, 'its prompts and templates have nothing to complete'],
  [/^resources-(un)?subscribe$/, 'changes are told by list_changed, not for a single resource'],
  [/^tasks-/, 'it has no tasks'],
];
const reasonFor = (scenario) => LEFT_OUT.find(([pattern]) => pattern.test(scenario))?.[1];

/** A row without checks; without a fault it is one that was left out. */
const notRun = (scenario, version, ...faults) => ({ scenario, version, passed: 0, faults });

const SKILLS = {
  'hello/SKILL.md': '---\nname: hello\ndescription: Greets people\n---\n# Hello\n\nSee references/words.md.\n',
  'hello/references/words.md': 'Good day.\n',
  'later/SKILL.md': '---\nname: later\ndescription: Says goodbye\nlicense: MIT\n---\n# Goodbye\n',
  // The suite asks for a prompt of this name, and every skill is one.
  'test_simple_prompt/SKILL.md':
    '---\nname: test_simple_prompt\ndescription: A prompt\n---\nThis is a simple prompt.\n',
};

const PROGRAM = [
  join(top, 'dist', 'skillwire.cjs'),
  '--no-default-dirs',
  '--no-plugins',
  '--transport',
  'http',
  '--port',
  '0',
  '--skill-dir',
];
const modules = join(top, 'scripts', 'conformance', 'node_modules');
const NODE = join(modules, 'node', 'bin', 'node');
const SUITE = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
const FIXTURES = join(top, '.test-build', 'test', 'fixtures');

install();
await build();
install('scripts/conformance');
say('type-check');
run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'test/tsconfig.json']);
say('conformance');
const results = (await Promise.all(VERSIONS.map(runServers))).flat();
for (const version of VERSIONS) results.push(...(await runClients(version)));
for (const scenario of [...ON_PROGRAM, ...ON_FIXTURE, ...AS_CLIENT])
  if (!results.some((one) => one.scenario === scenario)) results.push(notRun(scenario, '-', 'is not in the suite'));
print(results);
process.exit(results.every(({ faults }) => faults.length === 0) ? 0 : 1);

// --- internal ---

/** All of a revision. Revisions run side by side and must not see each other's changes, so each has servers of its own. */
async function runServers(version) {
  const program = await startServer(...PROGRAM);
  const fixture = await startServer(join(FIXTURES, 'conformance-server.js'));
  const results = [];
  for (const scenario of listed('server', version)) {
    const url = (ON_PROGRAM.includes(scenario) && program) || (ON_FIXTURE.includes(scenario) && fixture);
    if (url) results.push(await runScenario('server', scenario, version, ['--url', url, '--force']));
    else results.push(reasonFor(scenario) ? notRun(scenario, version) : notRun(scenario, version, 'is on no list'));
  }
  return results;
}

/** One at a time: some of them measure how long the client waits. */
async function runClients(version) {
  const command = `${process.execPath} ${join(FIXTURES, 'conformance-client.js')}`;
  const results = [];
  for (const scenario of listed('client', version).filter((name) => AS_CLIENT.includes(name)))
    results.push(await runScenario('client', scenario, version, ['--command', command]));
  return results;
}

/** The scenarios that the suite has for a revision. Extensions are for either. */
function listed(side, version) {
  const text = execFileSync(NODE, [SUITE, 'list', `--${side}`], { encoding: 'utf8' });
  const rows = [...text.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)];
  return rows.filter(([, , tags]) => tags === 'extension' || tags.includes(version)).map(([, name]) => name);
}

async function runScenario(side, scenario, version, args) {
  const output = makeDirectory();
  const own = ['--scenario', scenario, '--spec-version', version, '-o', output, '--timeout', '30000'];
  const child = start(NODE, [SUITE, side, ...args, ...own], output, 'ignore');
  const [code] = await once(child, 'close');
  const [folder = ''] = readdirSync(output);
  const file = join(output, folder, 'checks.json');
  const checks = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
  const faults = checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, status, errorMessage }) => `${status} ${id}: ${errorMessage ?? 'no reason given'}`);
  if (passed === 0) faults.push('checked nothing');
  // Every check may be green and the client broken all the same.
  if (code !== 0) faults.push(`the suite ended with ${code}`);
  return { scenario, version, passed, faults };
}

/** One row per scenario, one column per revision, and what is wrong below. */
function print(results) {
  const table = {};
  for (const { scenario, version, passed, faults } of results) {
    table[scenario] ??= { [VERSIONS[0]]: '', [VERSIONS[1]]: '', remark: reasonFor(scenario) ?? '' };
    const wrong = faults.length > 0 && `${faults.length} WRONG`;
    table[scenario][version] = wrong || (passed > 0 ? `${passed} ok` : 'left out');
  }
  console.table(table);
  for (const { scenario, version, faults } of results)
    for (const fault of faults) console.log(`${scenario} (${version}): ${fault}`);
  const run = results.filter(({ passed, faults }) => passed > 0 || faults.length > 0);
  const good = run.filter(({ faults }) => faults.length === 0);
  const checks = run.reduce((sum, { passed }) => sum + passed, 0);
  console.log(`${good.length} of ${run.length} runs passed, ${checks} checks`);
}

/** Serves the skills in the directory that it adds to the arguments; gives a URL whose host the rebinding scenario can vary. */
async function startServer(...args) {
  const home = makeDirectory(SKILLS);
  const url = await urlFrom(start(process.execPath, [...args, home], home));
  return url.replace('127.0.0.1', 'localhost');
}
