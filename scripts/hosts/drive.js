/**
 * Drives one host: a fresh home, the proxy in front of skillwire, the fake model behind the host, its commands one after
 * the other, then the judgement. Never rejects: a host that cannot be driven has a verdict that says why.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { matchTools, SKILL, startModel } from './model.js';
import { endLeftBehind, environment, installPackages, runToEnd } from './processes.js';

// The slowest needs a third of it on two busy processors.
const HOST_MS = 60_000;
const PROMPT = 'Load the greeting skill, then list the skills.';
/** A sentence that is only in the body of the skill: who shows it has loaded the skill. */
const BODY = 'Say good morning in seven languages.';
const PROXY = fileURLToPath(new URL('proxy.js', import.meta.url));

/** `host`: a row of hosts.js. `run`: `{ cache, folder, bin }`: where packages are, where this run writes, what is tested. */
export async function driveHost(host, run) {
  try {
    return { host: host.name, ...(await drive(host, run)) };
  } catch (error) {
    return { host: host.name, verdict: `failed: ${error.message}` };
  }
}

/** The skills that skillwire serves: one that is loaded, and another. */
export function makeSkills(folder) {
  const text = (name, about, body) => `---\nname: ${name}\ndescription: ${about}\n---\n${body}\n`;
  writeFile(join(folder, SKILL, 'SKILL.md'), text(SKILL, 'Greets people. Use when somebody says hello.', BODY));
  writeFile(join(folder, 'other', 'SKILL.md'), text('other', 'Does nothing at all.', 'Do it.'));
  return folder;
}

// --- internal ---

async function drive(host, { cache, folder: runs, bin }) {
  const { folder: packages, version } = await installPackages(cache, host.folder ?? host.name, host.packages);
  const folder = join(runs, host.name);
  rmSync(folder, { recursive: true, force: true });
  const home = join(folder, 'home');
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const log = join(folder, 'mcp.log');
  const skills = makeSkills(join(folder, 'skills'));
  const program = [process.execPath, bin, 'serve', '--no-default-dirs', '--no-plugins', '--skill-dir', skills];
  const server = [process.execPath, PROXY, log, ...program];
  const model = await startModel(() => toolsIn(messagesIn(log)), host.search);
  try {
    const context = { project, model: model.url, server: { command: server[0], args: server.slice(1) } };
    if (host.file) writeFile(join(home, host.file), host.config(context));
    if (host.driver) copyFileSync(host.driver, join(packages, 'driver.mjs'));
    const one = { prompt: [PROMPT], packages: [packages], model: [model.url], quoted: [server.join(' ')] };
    const words = { ...one, server, program };
    const own = fill(host.env ?? '', words).map((pair) => pair.split('='));
    const env = { ...environment(cache, packages, home, host.name), ...Object.fromEntries(own) };
    const until = Date.now() + (host.limit ?? HOST_MS);
    const output = join(folder, 'output.txt');
    const codes = [];
    for (const line of host.commands) {
      const options = { cwd: project, env, limit: Math.max(until - Date.now(), 1000), log: output };
      codes.push(await runToEnd(fill(line, words), options));
    }
    return { version, ...judge(host, messagesIn(log), model.requests, readFileSync(output, 'utf8'), codes) };
  } finally {
    model.close();
    await endLeftBehind(host.name);
  }
}

/** A word that is all placeholder may become several; one inside a longer word becomes one. */
function fill(line, words) {
  return line
    .split(' ')
    .filter(Boolean)
    .flatMap((word) => {
      const whole = /^\{(\w+)\}$/.exec(word)?.[1];
      return words[whole] ?? [word.replace(/\{(\w+)\}/g, (all, name) => words[name]?.[0] ?? all)];
    });
}

/** What the table says of a host: who it said it was, which tools its model was shown and how whole, and a verdict. */
function judge({ commands, connectsOnly }, messages, requests, output, codes) {
  const { client, protocol } = helloIn(messages, output);
  const asked = requests.flatMap(({ tools }) => tools);
  const shown = matchTools(asked, toolsIn(messages)).map(({ name, description: { length }, listed }) => {
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
  return { client, protocol, 'tools at the model': [...new Set(shown)].join(' '), verdict };
}

/** By the handshake, by a modern request, or by our own line on stderr where no proxy is in between. */
function helloIn(messages, output) {
  const prefix = 'io.modelcontextprotocol/';
  const hello = messages.findLast(({ method }) => method === 'initialize')?.params;
  const meta = messages.find(({ params }) => params?._meta?.[`${prefix}protocolVersion`])?.params._meta;
  if (hello) return { client: hello.clientInfo.name, protocol: hello.protocolVersion };
  if (meta) return { client: meta[`${prefix}clientInfo`]?.name, protocol: meta[`${prefix}protocolVersion`] };
  const [, client, protocol] = /skillwire: client: (\S+) .*, protocol ([\d-]+)/.exec(output) ?? [];
  return { client, protocol };
}

/** All that passed the proxy so far. The last line may be half written. */
function messagesIn(log) {
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
  return lines.map((line) => JSON.parse(line).message);
}

/** The tools of every list so far, as this client was told them. */
function toolsIn(messages) {
  const tools = messages.flatMap(({ result }) => result?.tools ?? []);
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()];
}

function writeFile(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
}
