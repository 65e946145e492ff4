/**
 * The upstream servers as a source for the catalogue.
 * Owns: when what they offer is taken over. Leaves alone: the servers (fleet.ts), how their things look here (foreign.ts).
 * Always true: loading never waits for a server, except for a moment the first time, so that the first list is whole
 * when everything is quick.
 */
import type { Lineage } from '../lineage.ts';
import type { Log } from '../log.ts';
import type { AbsentTool, Contribution, Source } from '../model.ts';
import { VERSION } from '../version.ts';
import { type FileOptions, type Memory, readConfiguration } from './files.ts';
import { createFleet } from './fleet.ts';
import { foreignResources, foreignSkills, foreignTemplates, foreignTool } from './foreign.ts';
import type { Offer } from './inventory.ts';
import type { UpstreamStatus } from './upstream.ts';

export interface HubSourceOptions extends FileOptions {
  readonly healthInterval: number;
  readonly log: Log;
  readonly lineage: Lineage;
}

export interface HubSource extends Source {
  status(): readonly UpstreamStatus[];
  /** What a name would be the name of, were its server ready. */
  findAbsent(name: string): AbsentTool | undefined;
  /** Ends every server; settles when nothing of them is left. */
  close(): Promise<void>;
}

/** `changed`: something is different from what `load` last gave. */
export function createHubSource(options: HubSourceOptions, changed: (reason: string) => void): HubSource {
  const { env, log, lineage, healthInterval } = options;
  const client = { name: 'skillwire', version: VERSION };
  const fleet = createFleet({
    env,
    log,
    lineage,
    healthInterval,
    client,
    changed: (name) => changed(`server ${name}`),
  });
  const memory: Memory = new Map();
  let first = true;
  let last:
    | { readonly contribution: Contribution; readonly offers: readonly Offer[]; readonly files: string }
    | undefined;

  return {
    name: 'hub',
    async load() {
      const { plans, problems, watched } = readConfiguration(options, memory);
      fleet.apply(plans);
      if (first) await Promise.race([fleet.settled(), wait(FIRST_PATIENCE_MS)]);
      first = false;
      const offers = fleet.upstreams().map((one) => one.offer());
      const files = JSON.stringify([plans.map(({ key }) => key), problems]);
      const same = last?.files === files && sameItems(last.offers, offers);
      if (last && same) return last.contribution;
      const upstreams = fleet.upstreams();
      const contribution = {
        skills: foreignSkills(upstreams),
        tools: fleet.tools().map(foreignTool),
        resources: foreignResources(upstreams),
        templates: foreignTemplates(upstreams),
        problems: [...problems, ...offers.flatMap((offer) => offer.problems)],
        watched,
        unsettled: false,
      };
      last = { contribution, offers, files };
      return contribution;
    },
    status: fleet.status,
    findAbsent: fleet.findAbsent,
    close: fleet.close,
  };
}

// --- internal ---

// Many clients ask for the list once and never again. Most servers answer within this; nobody notices the wait.
const FIRST_PATIENCE_MS = 1000;

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, milliseconds).unref());
}
