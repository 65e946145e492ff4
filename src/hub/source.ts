/**
 * The upstream servers as a source of the catalogue, and when their changes cause a refresh.
 * Always true: loading never waits for a server; changes within a short time cause one refresh.
 */
import { sameItems } from '../compare.ts';
import { sameWatched } from '../files/stats.ts';
import type { Contribution, Source, Watched } from '../model.ts';
import { hasPatterns, type Patterns } from '../skills/patterns.ts';
import { shorten } from '../text.ts';
import { monotonicMs } from '../wait.ts';
import { createConfiguration, type FileOptions } from './config/files.ts';
import type { HubContext } from './connection/connection.ts';
import { createUpstreams } from './upstreams.ts';

export type HubSourceOptions = FileOptions & Patterns & Pick<HubContext, 'healthInterval' | 'log' | 'hops'>;

export type HubSource = Source &
  Required<Pick<Source, 'onChange' | 'followLog' | 'status' | 'close'>> & {
    /** Starts the servers. `load` does so too, and gives what they list. */
    start(): Promise<void>;
  };

export function createHubSource(options: HubSourceOptions): HubSource {
  let changed: (reason: string) => void = () => {};
  const changes = createChangeCollector((reason) => changed(reason));
  const upstreams = createUpstreams({ ...options, changed: changes.add });
  const readConfiguration = createConfiguration(options);
  let last: Contribution | undefined;
  /** What `last` was made of. */
  let lastParts: readonly unknown[] = [];
  let watched: readonly Watched[] = [];

  /** What `start` has read, until the first load takes it. */
  let started: ReturnType<typeof apply> | undefined;

  /** Reads the configuration and runs the servers in it. */
  async function apply() {
    const read = await readConfiguration();
    const isFiltered = [options, ...read.configs.map(({ filter }) => filter)].some(hasPatterns);
    const createFilter = isFiltered ? (await import('../skills/filter.ts')).createFilter : undefined;
    upstreams.apply(read.configs, createFilter);
    return read;
  }

  return {
    name: 'hub',
    async start() {
      started = apply();
      await started;
    },
    async load() {
      const applied = started ?? apply();
      started = undefined;
      const { configs, problems, watched: files } = await applied;
      const all = upstreams.all();
      const listings = all.map((one) => one.listing());
      if (!sameItems(watched, files, sameWatched)) watched = files;
      const parts = [JSON.stringify([configs.map(({ key }) => key), problems]), ...listings];
      if (last && sameItems(lastParts, parts)) return last;
      // Loaded here: the servers have been started by now, which takes them longer.
      const { contributionOf } = await import('./contribution.ts');
      lastParts = parts;
      last = {
        ...contributionOf(all),
        servers: configs.filter(({ target }) => target.kind !== 'none').map(({ name }) => name),
        problems: [...problems, ...listings.flatMap((listing) => listing.problems)],
      };
      return last;
    },
    watched: () => watched,
    onChange(listener) {
      changed = listener;
    },
    arrived: upstreams.settled,
    explain: upstreams.explain,
    followLog: upstreams.followLog,
    status: () => upstreams.all().map((upstream) => upstream.status()),
    close() {
      changes.close();
      return upstreams.close();
    },
  };
}

// --- internal ---

/** Milliseconds without a change after which a refresh begins: several servers, or one in quick succession, cause one. */
const QUIET_MS = 500;
/** The same at most: servers that change all the time must not delay the changes of others. */
const MAX_QUIET_WAIT_MS = 2500;
/** Characters of the names of servers in one line of the log. */
const MAX_REASON = 200;

/** Calls `changed` with the names of the servers that have changed, once there was no change for a while. */
function createChangeCollector(changed: (reason: string) => void) {
  const names = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let deadline = 0;
  const end = () => {
    // Not as the cause: such a refresh may be the first to find an edited skill.
    changed(shorten(`after server ${[...names].join(' and ')}`, MAX_REASON));
    names.clear();
  };
  return {
    add(name: string) {
      const now = monotonicMs();
      if (names.size === 0) deadline = now + MAX_QUIET_WAIT_MS;
      names.add(name);
      clearTimeout(timer);
      timer = setTimeout(end, Math.max(0, Math.min(QUIET_MS, deadline - now))).unref();
    },
    close: () => clearTimeout(timer),
  };
}
