/**
 * The upstream servers as a source for the catalogue.
 * Owns: when what they offer is taken over. Leaves alone: the servers (fleet.ts), how their things look here (foreign.ts).
 * Always true: loading never waits for a server; what comes in the first moment is taken over all at once, so that the
 * first list is whole when everything is quick.
 */
import { sameItems } from '../compare.ts';
import type { Hops } from '../hops.ts';
import type { Log } from '../log.ts';
import type { Contribution, Source, UpstreamStatus, Watched } from '../model.ts';
import { createFilter } from '../skills/filter.ts';
import type { Patterns } from '../skills/patterns.ts';
import { VERSION } from '../version.ts';
import { type FileOptions, type Memory, readConfiguration } from './config/files.ts';
import { resourcesOf, skillsOf, templatesOf, toolFor } from './upstream/contribution.ts';
import type { Listing } from './upstream/listing.ts';
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

/** `changed`: something is different from what `load` last gave. */
export function createHubSource(options: HubSourceOptions, changed: (reason: string) => void): HubSource {
  const { env, log, hops, healthInterval } = options;
  const client = { name: 'skillwire', version: VERSION };
  const upstreams = createUpstreams({ env, log, hops, healthInterval, client, changed: (name) => news.add(name) });
  const filter = createFilter(options);
  const news = createNews((names) => changed(reasonOf(names)));
  const memory: Memory = new Map();
  let last: Contribution | undefined;
  let lastListings: readonly Listing[] = [];
  let lastFiles = '';
  let watched: readonly Watched[] = [];

  return {
    name: 'hub',
    async load() {
      const { configs, problems, watched: files } = readConfiguration(options, memory);
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
        tools: upstreams.tools().map(toolFor),
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
    status: upstreams.status,
    close() {
      news.close();
      return upstreams.close();
    },
  };
}

// --- internal ---

// What several servers say at once, or one in quick succession, is one change for those who are told of it.
export const QUIET_MS = 500;
// Servers that never rest must not keep the others' changes from being seen.
export const LONGEST_UNREST_MS = 2500;
const MOST_NAMED = 5;

interface News {
  /** The server of that name offers something else. */
  add(name: string): void;
  close(): void;
}

/** Tells of changes once they have ceased for a while, or have gone on for long. */
function createNews(tell: (names: readonly string[]) => void): News {
  const names = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let since = 0;
  const flush = () => {
    const all = [...names];
    names.clear();
    tell(all);
  };
  return {
    add(name) {
      if (names.size === 0) since = performance.now();
      names.add(name);
      clearTimeout(timer);
      const left = since + LONGEST_UNREST_MS - performance.now();
      timer = setTimeout(flush, Math.max(0, Math.min(QUIET_MS, left))).unref();
    },
    close: () => clearTimeout(timer),
  };
}

function reasonOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `server ${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}
