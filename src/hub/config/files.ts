/**
 * The files that configure upstream servers: the user's, the project's, those of other hosts, and those given by name.
 * Owns: which files are read, in which order, and which of them need trust. Leaves alone: what is in them (formats.ts).
 * Always true: an entry replaces an earlier entry of its name as a whole; a project file that is not trusted changes nothing.
 */
import { platform as platformOf } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { ParsedFile } from '../../files/parsed.ts';
import { isBelow, isSameDirectory, watchEntry } from '../../files/stats.ts';
import type { Problem } from '../../model.ts';
import { expandHome } from '../../skills/roots.ts';
import { configOf, type InactiveState, inactiveConfig, renamed, type UpstreamConfig } from './entries.ts';
import { SERVER_KEYS } from './formats.ts';
import { HOSTS, hostFiles, type System } from './hosts.ts';
import { createProjectReader, createReader, faultOf, type Read, type ServerFile } from './read.ts';
import { startsSkillwire } from './self.ts';
import { servedNames } from './server-names.ts';
import { type CommandLine, PROJECT_FILE, reasonNotTrusted, trustFile } from './trust.ts';

export interface FileOptions extends Omit<System, 'platform'> {
  /** This machine's unless given. */
  readonly platform?: NodeJS.Platform;
  /** From the command line. */
  readonly configFiles: readonly string[];
  /** The hosts whose own files are read too. */
  readonly importHosts?: readonly string[];
  readonly trustProject: boolean;
  readonly commandLine?: CommandLine | undefined;
}

/** Gives a function that reads the files as they are when it is called. */
export function createConfiguration(options: FileOptions) {
  const { cwd, home, env, commandLine = INSTALLED } = options;
  const variables = { env, workspaceFolder: cwd, userHome: home };
  const record = trustFile(home, env);
  const sources = sourcesOf(options);
  const files = sources.flatMap((source) => source.files.flatMap(({ paths }) => paths));
  // The directories of the record are created when the first project is trusted, so they are watched too.
  const paths = [...files, record, dirname(record), dirname(dirname(record))];

  async function entriesOf(source: ConfigSource, { path, file }: Found) {
    const { servers, digest } = file.value ?? NOTHING;
    const needsTrust = digest !== undefined && servers.size > 0;
    const reason = needsTrust ? reasonNotTrusted(record, cwd, path, await digest(), commandLine) : undefined;
    return [...servers].map(([name, entry]) => {
      // Our own files may name it: hubs may serve hubs.
      const isSelf = source.isOfHost && startsSkillwire(entry);
      const inactive = (state: InactiveState, why: string) => inactiveConfig(name, path, state, why);
      const config = () =>
        reason === undefined ? configOf(name, entry, path, variables) : inactive('untrusted', reason);
      return { name, config: isSelf ? inactive('disabled', ITSELF) : config(), isTrusted: reason === undefined };
    });
  }

  return async () => {
    const configs = new Map<string, UpstreamConfig>();
    /** Entries of the project that would replace others if the project were trusted. */
    const untrusted = new Map<string, UpstreamConfig>();
    const problems: Problem[] = [];
    for (const source of sources) {
      const found = source.files.flatMap(firstThatExists);
      problems.push(...problemsOf(source, found));
      for (const one of found)
        for (const { name, config, isTrusted } of await entriesOf(source, one)) {
          if (isTrusted) untrusted.delete(name);
          (isTrusted ? configs : untrusted).set(name, config);
        }
    }
    const names = servedNames([...configs.keys()], [...untrusted.keys()]);
    for (const group of [configs, untrusted])
      for (const [name, config] of group) group.set(name, renamed(config, name, names.get(name)));
    for (const [name, config] of untrusted) if (!configs.has(name)) configs.set(name, config);
    const reported = new Set([...configs.values(), ...untrusted.values()]);
    return {
      configs: [...configs.values()],
      problems: [...problems, ...[...reported].flatMap(problemOf)],
      watched: paths.map(watchEntry),
    };
  };
}

export const projectFile = (cwd: string) => join(cwd, PROJECT_FILE);

// --- internal ---

const INSTALLED: CommandLine = (words) => ['skillwire', ...words].join(' ');
const ITSELF = 'it starts skillwire, which is running already';
const HOST_NAMES = HOSTS.map(({ name }) => name).join(', ');
const NOTHING: ServerFile = { servers: new Map(), faults: [], digest: undefined };

/** One place to look at: the first of these files that exists counts. */
interface Candidates {
  readonly paths: readonly string[];
  readonly read: Read;
}

interface ConfigSource {
  readonly files: readonly Candidates[];
  /** By `--import` or `--config`. Every host that uses skillwire has an entry for it. */
  readonly isOfHost: boolean;
  /** Of `--import`. */
  readonly host?: string;
}

interface Found {
  readonly path: string;
  readonly file: ParsedFile<ServerFile>;
}

function sourcesOf(options: FileOptions): readonly ConfigSource[] {
  const { cwd, home, env, configFiles, importHosts = [], trustProject, platform = platformOf() } = options;
  const own = createReader(cwd);
  const project = trustProject ? own : createProjectReader(cwd);
  // In the home directory the project's files are the user's own.
  const ofProject = (paths: readonly string[]) => (isSameDirectory(cwd, home) ? [] : [{ paths, read: project }]);
  // A variable may move a user's file, but not into the project: there it needs trust.
  const isInProject = (path: string) => isBelow(path, cwd) && !isBelow(home, cwd);
  const absolute = Object.fromEntries(Object.entries(env).filter(([, path = '']) => isAbsolute(path)));
  const imported = importHosts.map((name): ConfigSource => {
    const files = hostFiles(name, { platform, home, env: absolute, cwd });
    const user = { paths: files.user, read: files.user.some(isInProject) ? project : own };
    return { files: [user, ...ofProject(files.project ?? [])], isOfHost: true, host: name };
  });
  return [
    { files: [{ paths: [join(home, PROJECT_FILE)], read: own }], isOfHost: false },
    { files: ofProject([projectFile(cwd)]), isOfHost: false },
    ...imported,
    ...configFiles.map((file) => ({ files: [{ paths: [expandHome(options, file)], read: own }], isOfHost: true })),
  ];
}

function firstThatExists({ paths, read }: Candidates): readonly Found[] {
  for (const path of paths) {
    const file = read(path);
    if (file.value || file.fault) return [{ path, file }];
  }
  return [];
}

function problemsOf({ files, host, isOfHost }: ConfigSource, found: readonly Found[]): readonly Problem[] {
  const faults = found.flatMap(({ path: where, file }) => {
    const fault = faultOf(file);
    const others = file.value?.faults ?? [];
    return (fault === undefined ? others : [fault, ...others]).map((what) => ({ where, what }));
  });
  const hasServers = found.some(({ file }) => file.value && file.value.servers.size > 0);
  if (hasServers || faults.length > 0 || !isOfHost) return faults;
  const paths = files.flatMap((one) => one.paths);
  if (found.length > 0)
    return found.map(({ path: where }) => ({ where, what: `has no servers under any of these keys: ${SERVER_KEYS}` }));
  if (host === undefined) return paths.map((where) => ({ where, what: 'does not exist; correct --config' }));
  const what = paths.length > 0 ? `no file was found; looked at ${paths.join(', ')}` : `is not one of ${HOST_NAMES}`;
  return [{ where: `--import ${host}`, what }];
}

function problemOf({ name, from, target }: UpstreamConfig): readonly Problem[] {
  if (target.kind !== 'none' || target.state === 'disabled') return [];
  return [{ where: from, what: `server "${name}": ${target.reason}` }];
}
