/**
 * Programs that other scripts try out: in directories that are removed afterwards, and with next to nothing of this
 * machine's environment.
 * Always true: when this process exits, however it does, no child that was started here is alive.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

// No script needs a program so long; one that hangs is killed, which ends whoever waits for it.
const LONGEST_MS = 600_000;
const CONVERSATION_MS = 30_000;
/** The skill that programs are asked for, and a sentence that is only in its body: who shows it has loaded the skill. */
export const SKILL = 'hello';
export const BODY = 'Good day.';

const place = realpathSync(mkdtempSync(join(tmpdir(), 'skillwire-')));
const alive = new Set();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
  // A child that is being killed may still write.
  rmSync(place, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** A new directory with these files in it: `{ path: text }`. */
export function makeDirectory(files = {}) {
  const directory = mkdtempSync(join(place, 'part-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

/** `home` is the working directory of the program and, unless `more` has another `env`, its user's home. */
export function start(command, args, home, stdio = ['ignore', 'ignore', 'pipe'], more = {}) {
  const limit = { timeout: LONGEST_MS, killSignal: 'SIGKILL' };
  const child = spawn(command, args, { cwd: home, env: environment(home), stdio, ...limit, ...more });
  alive.add(child);
  child.once('exit', () => alive.delete(child));
  return child;
}

/** The first URL that a server names on stderr. */
export async function urlFrom(child) {
  for await (const line of createInterface({ input: child.stderr })) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stderr.resume();
    return url;
  }
  throw new Error('a server ended before it listened');
}

/**
 * Starts a program on stdin and stdout in a home with one skill (`makeHome`), and gives the tools that it lists. Throws
 * unless it loads the skill, warns of nothing, has nothing but answers on stdout, and ends when its input does.
 */
export function tryProgram(command, args, home) {
  const messages = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: { name: 'skill', arguments: { name: SKILL } } },
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  const options = { cwd: home, env: environment(home), input, encoding: 'utf8', timeout: CONVERSATION_MS };
  const { stdout, stderr, status, error } = spawnSync(command, args, options);
  if (error) throw error;
  const lines = stdout.trim().split('\n');
  const answerTo = (id) => lines.find((line) => line.includes(`"id":${id},`)) ?? '';
  const isRight = lines.length === 3 && answerTo(3).includes(BODY) && !/skillwire: (?:warn|error)/.test(stderr);
  if (status !== 0 || !isRight) throw new Error(`exit ${status}\n${stdout}${stderr}`);
  return JSON.parse(answerTo(2)).result.tools;
}

/** A home that has a skill where every program of ours finds it. */
export function makeHome() {
  const text = `---\nname: ${SKILL}\ndescription: Greets people\n---\n${BODY}\n`;
  return makeDirectory({ [`.agents/skills/${SKILL}/SKILL.md`]: text });
}

// --- internal ---

/**
 * Some variables of a developer's shell change what a program does or how fast it starts: NODE_EXTRA_CA_CERTS alone doubles
 * the start of Node 20, for every server alike, and so hides their difference.
 */
const environment = (home) => ({ PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' });
