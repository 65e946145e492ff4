/**
 * The upstream servers as a source of the catalogue.
 * Owns: when their changes cause a refresh. Leaves alone: the servers (upstreams.ts), their tools and resources (upstream/).
 * Always true: loading never waits for a server; changes within a short time cause one refresh.
 */
import { sameItems } from '../compare.ts';
import type { Hops } from '../hops.ts';
import type { Log } from '../log.ts';
import type { Contribution, Source, UpstreamStatus, Watched } from '../model.ts';
import { createFilter } from '../skills/filter.ts';
import type { Patterns } from '../skills/patterns.ts';
import { VERSION } from '../version.ts';
import { type ConfigCache, type FileOptions, readConfiguration } from './config/files.ts';
import type { Listing } from './upstream/listing.ts';
import { resourcesOf, skillsOf, templatesOf } from './upstream/resources.ts';
import { toolsOf } from './upstream/tools.ts';
import { createUpstreams } from './upstreams.ts';

export interface HubSourceOptions extends FileOptions, Patterns {
  readonly healthInterval: number;
  readonly log: Log;
  readonly hops: Hops;
}

export interface HubSource extends Source {
  status(): readonly UpstreamStatus[];
  /** Ends every server; settles when nothing of them is left. */
  close(): Promise<void>;
}

/** `changed`: `load` would give something else than last time. */
export function createHubSource(options: HubSourceOptions, changed: (reason: string) => void): HubSource {
  const { env, log, hops, healthInterval } = options;
  const client = { name: 'skillwire', version: VERSION };
  const changes = createChangeCollector((names) => changed(reasonOf(names)));
  const upstreams = createUpstreams({ env, log, hops, healthInterval, client, changed: changes.add });
  const filter = createFilter(options);
  const cache: ConfigCache = new Map();
  let last: Contribution | undefined;
  let lastListings: readonly Listing[] = [];
  let lastFiles = '';
  let watched: readonly Watched[] = [];

  return {
    name: 'hub',
    async load() {
      const { configs, problems, watched: files } = readConfiguration(options, cache);
      upstreams.apply(configs);
      const all = upstreams.all();
      const listings = all.map((one) => one.listing());
      const described = JSON.stringify([configs.map(({ key }) => key), problems, files]);
      if (described !== lastFiles) watched = files;
      else if (last && sameItems(lastListings, listings)) return last;
      lastListings = listings;
      lastFiles = described;
      last = {
        skills: skillsOf(all),
        tools: toolsOf(all),
        resources: resourcesOf(all),
        templates: templatesOf(all),
        servers: configs.filter(({ target }) => target.kind !== 'none').map(({ name }) => name),
        problems: [...problems, ...listings.flatMap((listing) => listing.problems)],
      };
      return last;
    },
    watched: () => watched,
    arrived: upstreams.settled,
    explain(name) {
      const owner = upstreams.explain(name);
      return owner && filter([owner], (one) => one, []).kept.length > 0 ? owner : undefined;
    },
    status: () => upstreams.all().map((upstream) => upstream.status()),
    close() {
      changes.close();
      return upstreams.close();
    },
  };
}

// --- internal ---

/** Milliseconds without a change after which a refresh begins: several servers, or one in quick succession, cause one. */
export const QUIET_MS = 500;
/** The same at most: servers that change all the time must not delay the changes of others. */
export const MAX_QUIET_WAIT_MS = 2500;
const MAX_NAMED = 5;

/** Calls `flush` with the names of the servers that have changed, once there was no change for a while. */
function createChangeCollector(flush: (names: readonly string[]) => void) {
  const names = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let since = 0;
  const end = () => {
    const all = [...names];
    names.clear();
    flush(all);
  };
  return {
    add(name: string) {
      if (names.size === 0) since = performance.now();
      names.add(name);
      clearTimeout(timer);
      const left = since + MAX_QUIET_WAIT_MS - performance.now();
      timer = setTimeout(end, Math.max(0, Math.min(QUIET_MS, left))).unref();
    },
    close: () => clearTimeout(timer),
  };
}

function reasonOf(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `server ${names.slice(0, MAX_NAMED).join(', ')}${more}`;
}
