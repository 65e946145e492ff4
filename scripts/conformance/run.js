/**
 * `npm run conformance`: the official MCP conformance suite against this server and, as a client, against its hub.
 * Scenarios that need nothing particular run against the program itself; the others, which need certain tools and
 * resources, against test/fixtures/conformance-server.ts, which is the same server embedded; those of a client drive
 * test/fixtures/conformance-client.ts. Every scenario runs unless there is a reason below why it cannot, and a failure or a
 * warning in any of them fails the run. The suite and the Node it needs are installed beside this file, the first time.
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

/** What the server and the hub do not do, and so cannot be asked. */
const LEFT_OUT = [
  [/^(tools-call-(sampling|elicitation)|elicitation-|input-required-result-)/, 'it asks nothing of clients'],
  [/^server-sse-polling$/, 'streams do not resume: an answer that was cut off is asked for again'],
  [/^logging-set-level$|^tools-call-with-logging$/, 'its log goes to stderr, not to clients'],
  [/^completion-complete$/, 'its prompts and templates have nothing to complete'],
  [/^resources-(un)?subscribe$/, 'changes are told by list_changed, not for a single resource'],
  [/^tasks-/, 'it has no tasks'],
  [/^auth\//, 'the hub does not log in: a token is a header in its configuration'],
  [/^sep-2322-client-request-state$/, 'the hub answers no questions of a server'],
  [/^sep-2640-client-/, 'the hub that is embedded in the client gives tools, not skills'],
];

const SKILLS = {
  'hello/SKILL.md': '---\nname: hello\ndescription: Greets people\n---\n# Hello\n\nSee references/words.md.\n',
  'hello/references/words.md': 'Good day.\n',
  'later/SKILL.md': '---\nname: later\ndescription: Says goodbye\nlicense: MIT\n---\n# Goodbye\n',
  // The suite asks for a prompt of this name, and every skill is one.
  'test_simple_prompt/SKILL.md':
    '---\nname: test_simple_prompt\ndescription: A prompt\n---\nThis is a simple prompt for testing.\n',
};

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
// One at a time: some of them measure how long the client waits.
const client = ['--command', `${process.execPath} ${join(FIXTURES, 'conformance-client.js')}`];
for (const version of VERSIONS) results.push(...(await runAll('client', version, () => client)));
print(results);
process.exit(results.every(({ faults }) => faults.length === 0) ? 0 : 1);

// --- internal ---

/** Revisions run side by side and must not see each other's changes, so each has servers of its own. */
async function runServers(version) {
  const flags = ['--no-default-dirs', '--no-plugins', '--transport', 'http', '--port', '0', '--skill-dir'];
  const program = await startServer(join(top, 'dist', 'skillwire.cjs'), ...flags);
  const fixture = await startServer(join(FIXTURES, 'conformance-server.js'));
  const urlFor = (scenario) => (ON_PROGRAM.includes(scenario) ? program : fixture);
  return runAll('server', version, (scenario) => ['--url', urlFor(scenario), '--force']);
}

/** `argsFor(scenario)`: what the suite must know of the one who is tested. */
async function runAll(side, version, argsFor) {
  const results = [];
  for (const scenario of listed(side, version))
    results.push(await runScenario(side, scenario, version, argsFor(scenario)));
  return results;
}

/** The scenarios of a revision that are not left out. Extensions are for either revision. */
function listed(side, version) {
  const text = execFileSync(NODE, [SUITE, 'list', `--${side}`], { encoding: 'utf8' });
  const rows = [...text.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)];
  if (rows.length === 0) throw new Error(`the suite lists no scenario: ${text}`);
  const ofVersion = rows.filter(([, , tags]) => tags === 'extension' || tags.includes(version));
  return ofVersion.map(([, name]) => name).filter((name) => !LEFT_OUT.some(([pattern]) => pattern.test(name)));
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

/** One row per scenario, one column per revision, what is wrong below, and what was left out. */
function print(results) {
  const table = {};
  for (const { scenario, version, passed, faults } of results) {
    table[scenario] ??= {};
    table[scenario][version] = faults.length > 0 ? `${faults.length} WRONG` : `${passed} ok`;
  }
  console.table(table);
  for (const { scenario, version, faults } of results)
    for (const fault of faults) console.log(`${scenario} (${version}): ${fault}`);
  for (const [pattern, reason] of LEFT_OUT) console.log(`left out: ${pattern.source}: ${reason}`);
  const good = results.filter(({ faults }) => faults.length === 0);
  const checks = results.reduce((sum, { passed }) => sum + passed, 0);
  console.log(`${good.length} of ${results.length} runs passed, ${checks} checks`);
}

/** Serves the skills in the directory that it adds to the arguments; gives a URL whose host the rebinding scenario can vary. */
async function startServer(...args) {
  const home = makeDirectory(SKILLS);
  const url = await urlFrom(start(process.execPath, [...args, home], home));
  return url.replace('127.0.0.1', 'localhost');
}
