/**
 * Drives one host: a fresh home, skillwire in its configuration, the fake model behind it, its commands one after the
 * other, then the judgement. A host that cannot be driven has a verdict that says why.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { top } from '../build.js';
import { BODY, makeHome, SKILL, tryProgram } from '../programs.js';
import { matchTools, startModel } from './model.js';
import { endLeftBehind, environment, installPackages, RUNS, runToEnd, versionOf } from './processes.js';

const PROMPT = `Load the skill ${SKILL}, then list the skills.`;

/** `host`: a row of the table. */
export async function driveHost(host) {
  const packages = installPackages(host.packages);
  const folder = join(RUNS, host.name);
  const home = join(folder, 'home');
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const [log, output] = [join(folder, 'skillwire.log'), join(folder, 'output.txt')];
  const { server, tools } = makeServer(folder, log);
  const model = await startModel(tools, host.search);
  if (host.file) writeFile(join(home, host.file), host.config({ project, model: model.url, server }));
  const words = [server.command, ...server.args].join(' ');
  const own = { SW_PROMPT: PROMPT, SW_PACKAGES: packages, SW_MODEL: model.url, SW_SERVER: words };
  const env = { ...environment(home, host.packages[0]), ...own };
  const codes = [];
  for (const line of host.commands) codes.push(await runToEnd(`${host.env ?? ''} ${line}`, project, env, output));
  model.close();
  await endLeftBehind(folder);
  const said = { log: readFileSync(log, 'utf8'), output: readFileSync(output, 'utf8') };
  return judge(host, { tools, requests: model.requests, codes, ...said });
}

// --- internal ---

/** What starts skillwire, its stderr in a file, since hosts keep it to themselves; and the tools that it lists. */
function makeServer(folder, log) {
  const user = makeHome();
  const program = join(top, 'dist', 'skillwire.cjs');
  const args = ['serve', '--no-default-dirs', '--no-plugins', '--skill-dir', join(user, '.agents', 'skills')];
  const command = join(folder, 'skillwire');
  writeFileSync(log, '');
  writeFileSync(command, `#!/bin/sh\nexec ${process.execPath} ${program} "$@" 2>>${log}\n`, { mode: 0o755 });
  return { server: { command, args }, tools: tryProgram(process.execPath, [program, ...args], user) };
}

/** What is said of a host: who it said it was, which tools its model was shown and how whole, and a verdict. */
function judge({ name: host, packages, commands, connectsOnly }, { tools, log, requests, output, codes }) {
  const [, client, protocol] = [...log.matchAll(/client: (.*) \S+, protocol (\S+)/g)].at(-1) ?? [];
  const asked = requests.flatMap((request) => request.tools);
  const shown = matchTools(asked, tools).map(({ name, description: { length }, listed }) => {
    const whole = listed.description.length;
    return length < whole ? `${name} (${length} of ${whole})` : name;
  });
  const seen = asked.length > 0 ? requests.map(({ text }) => text).join() : output;
  const failed = codes.findIndex((code) => code !== 0);
  const why = output.trim().split('\n').at(-1).slice(0, 160);
  let verdict = 'ok';
  if (!client) verdict = `never connected: ${why}`;
  else if (connectsOnly) verdict = `connects; ${connectsOnly}`;
  else if (!seen.includes(BODY)) verdict = `the skill was not shown: ${why}`;
  else if (failed >= 0) verdict = `ended with ${codes[failed]}: ${commands[failed]}`;
  const version = versionOf(packages);
  return { host, version, client, protocol, 'tools at the model': [...new Set(shown)].join(' '), verdict };
}

function writeFile(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
}
