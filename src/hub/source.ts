/**
 * The upstream servers as a source for the catalogue.
 * Owns: when what they offer is taken over. Leaves alone: the servers (fleet.ts), how their things look here (foreign.ts).
 * Always true: loading never waits for a server; what comes in the first moment is taken over all at once, so that the
 * first list is whole when everything is quick.
 */
import type { Lineage } from '../lineage.ts';
import type { Log } from '../log.ts';
import type { Absent, Contribution, Source } from '../model.ts';
import { VERSION } from '../version.ts';
import { type FileOptions, type Memory, readConfiguration } from './config/files.ts';
import { resourcesOf, skillsOf, templatesOf, toolFor } from './upstream/contribution.ts';
import type { Listing } from './upstream/listing.ts';
import type { UpstreamStatus } from './upstream/upstream.ts';
import { createUpstreams } from './upstreams.ts';

export interface HubSourceOptions extends FileOptions {
  readonly healthInterval: number;
  readonly log: Log;
  readonly lineage: Lineage;
}

export interface HubSource extends Source {
  status(): readonly UpstreamStatus[];
  /** What a name would be the name of, were its server ready. */
  findAbsent(name: string): Absent | undefined;
  /** Ends every server; settles when nothing of them is left. */
  close(): Promise<void>;
}

/** `changed`: something is different from what `load` last gave. */
export function createHubSource(options: HubSourceOptions, changed: (reason: string) => void): HubSource {
  const { env, log, lineage, healthInterval } = options;
  const client = { name: 'skillwire', version: VERSION };
  const fleet = createUpstreams({
    env,
    log,
    lineage,
    healthInterval,
    client,
    changed: (name) => {
      if (!gathering) news.add(name);
    },
  });
  const news = createNews((names) => changed(reasonOf(names)));
  const memory: Memory = new Map();
  let gathering = false;
  let last:
    | { readonly contribution: Contribution; readonly offers: readonly Listing[]; readonly files: string }
    | undefined;

  async function gather(): Promise<void> {
    gathering = true;
    await Promise.race([fleet.settled(), wait(FIRST_PATIENCE_MS)]);
    gathering = false;
  }

  return {
    name: 'hub',
    async load() {
      const { configs, problems, watched } = readConfiguration(options, memory);
      fleet.apply(configs);
      const upstreams = fleet.upstreams();
      const offers = upstreams.map((one) => one.listing());
      const files = JSON.stringify([configs.map(({ key }) => key), problems, watched]);
      const same = last?.files === files && sameItems(last.offers, offers);
      if (last && same) return last.contribution;
      const contribution = {
        skills: skillsOf(upstreams),
        tools: fleet.tools().map(toolFor),
        resources: resourcesOf(upstreams),
        templates: templatesOf(upstreams),
        servers: configs.filter(({ target }) => target.kind !== 'none').map(({ name }) => name),
        problems: [...problems, ...offers.flatMap((listing) => listing.problems)],
        watched,
        unsettled: false,
        ...(!last && configs.some(({ target }) => target.kind !== 'none') ? { awaited: gather() } : {}),
      };
      last = { contribution, offers, files };
      return contribution;
    },
    status: fleet.status,
    findAbsent: fleet.findAbsent,
    close() {
      news.close();
      return fleet.close();
    },
  };
}

// --- internal ---

// Many clients ask for the list once and never again. Most servers come within this; only lists wait for it.
const FIRST_PATIENCE_MS = 1000;

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

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, milliseconds).unref());
}
