/**
 * The files that configure upstream servers: the user's `.kode.json`, the project's, and those given with `--config`.
 * Owns: which files are read, in which order, and which entry of a name counts. Leaves alone: what an entry means
 * (entries.ts), which project is trusted (trust.ts).
 * Always true: an entry replaces an earlier entry of its name as a whole; a project's file that is not trusted changes
 * nothing; files that have not changed are not read again.
 */
import type { Settings } from '../config.ts';
import { createJsonReader } from '../files/json.ts';
import { realPathOrSame } from '../files/stat.ts';
import { MAX_HOPS } from '../limits.ts';
import { messageOf } from '../log.ts';
import type { Problem } from '../model.ts';
import { isObject } from '../protocol/index.ts';
import { expandHome } from '../skills/roots.ts';
import { echo } from '../text.ts';
import { configOf, inactive, isSelf, servedName, type UpstreamConfig } from './entries.ts';
import { createTrust, JsonObject, projectFile } from './trust.ts';

/** An entry as its file has it. */
interface WrittenEntry {
  readonly written: string;
  readonly entry: unknown;
  /** The file. */
  readonly from: string;
  /** `given`: by `--config`; files of other hosts may name this program. `untrusted`: the project's, not trusted. */
  readonly origin: 'user' | 'project' | 'untrusted' | 'given';
}

/** Gives a function that reads the files as they are when it is called. */
export function createConfiguration(settings: Settings) {
  const { cwd, home, configFiles, trustProject } = settings;
  const readJson = createJsonReader(JsonObject);
  const isTrusted = createTrust(settings);

  function read(from: string, origin: WrittenEntry['origin'], problems: Problem[]): readonly WrittenEntry[] {
    const fault = (what: string) => problems.push({ where: from, what });
    const { value, fault: isBad } = readJson(from, problems);
    if (!value && !isBad && origin === 'given') fault('does not exist');
    if (!value) return [];
    const servers = value.mcpServers ?? (origin === 'given' ? value.servers : {});
    if (!isObject(servers)) fault(servers === undefined ? 'has no mcpServers' : 'its mcpServers must be an object');
    const entries = Object.entries(isObject(servers) ? servers : {});
    const isBarred = origin === 'project' && !trustProject && entries.length > 0 && !isTrusted(value, problems);
    if (isBarred) problems.push({ where: from, what: `its servers are ${UNTRUSTED}`, hint: HOW_TO_TRUST });
    const state = { from, origin: isBarred ? 'untrusted' : origin } as const;
    return entries.map(([written, entry]) => ({ written, entry, ...state }));
  }

  return () => {
    const problems: Problem[] = [];
    const entries = [
      ...read(projectFile(home), 'user', problems),
      // In the home directory the project's file is the user's own.
      ...(realPathOrSame(cwd) === realPathOrSame(home) ? [] : read(projectFile(cwd), 'project', problems)),
      ...configFiles.flatMap((file) => read(expandHome(settings, file), 'given', problems)),
    ];
    return { configs: chooseEntries(entries, settings, problems), problems };
  };
}

/** Of entries with one name the last counts; of names that become equal the first does, and the others are faults. */
export function chooseEntries(
  entries: readonly WrittenEntry[],
  settings: Settings,
  problems: Problem[],
): readonly UpstreamConfig[] {
  const { env, cwd, home, address } = settings;
  const variables = { env, workspaceFolder: cwd, userHome: home };
  if (hopsIn(env) > MAX_HOPS) {
    problems.push({ where: 'SKILLWIRE_HOPS', what: TOO_DEEP, hint: 'Look for a hub that starts itself.' });
    return [];
  }
  const isUntrusted = ({ origin }: WrittenEntry) => origin === 'untrusted';
  const trusted = entries.filter((one) => !isUntrusted(one));
  const last = new Map(trusted.map((one) => [one.written, one]));
  // What is not trusted takes no name from another.
  for (const one of entries.filter(isUntrusted)) if (!last.has(one.written)) last.set(one.written, one);
  const configs = new Map<string, UpstreamConfig>();

  function add({ written, entry, from, origin }: WrittenEntry): void {
    const name = servedName(written);
    if (configs.has(name)) throw new Error(`another server is called ${name} already`);
    const isTrusted = origin !== 'untrusted';
    const config = isTrusted ? configOf(name, entry, from, variables) : inactive(name, from, origin, WHY_UNTRUSTED);
    // Files of other hosts start this program. Our own address may stand in any file, and a hub must not connect to itself.
    if ((origin === 'given' || config.target.kind !== 'stdio') && isSelf(config.target, address)) return;
    configs.set(name, config);
    if (config.target.kind === 'none' && config.target.state === 'failed') throw new Error(config.target.reason);
  }
  for (const one of last.values()) {
    try {
      add(one);
    } catch (error) {
      problems.push({ where: one.from, what: `server "${echo(one.written)}": ${messageOf(error)}` });
    }
  }
  return [...configs.values()];
}

/** How many hubs this one runs inside of. */
export function hopsIn({ SKILLWIRE_HOPS: hops = '' }: Settings['env']): number {
  return /^\d+$/.test(hops) ? Number(hops) : 0;
}

// --- internal ---

const UNTRUSTED = 'not started, because this project is not trusted';
const HOW_TO_TRUST = 'Look at the file, then run: skillwire trust';
const WHY_UNTRUSTED = `${UNTRUSTED}. ${HOW_TO_TRUST}`;
const TOO_DEEP = `no server is started, because over ${MAX_HOPS} hubs run inside each other`;
