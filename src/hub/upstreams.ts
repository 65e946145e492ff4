/**
 * All upstream servers together.
 * Owns: which of them run. Leaves alone: one of them (upstream/upstream.ts), where their configuration comes from
 * (config/files.ts).
 * Always true: servers start, fail and end independently; a change of one affects no other.
 */
import { platform as platformOf } from 'node:os';
import { HOPS_VARIABLE, type Hops, MAX_HOPS } from '../hops.ts';
import type { Log } from '../log.ts';
import type { Owner } from '../model.ts';
import { createFilter, type Subject } from '../skills/filter.ts';
import { inactiveConfig, type UpstreamConfig } from './config/entries.ts';
import { type Environment, inheritedEnvironment } from './connection/command.ts';
import type { Implementation } from './connection/dialects.ts';
import { createProcessGroups } from './connection/process.ts';
import { createUpstream, type Upstream } from './upstream/upstream.ts';

export interface UpstreamsOptions {
  readonly env: Environment;
  readonly log: Log;
  readonly client: Implementation;
  readonly hops: Hops;
  readonly healthInterval: number;
  /** The listing of the server of that name has changed. */
  changed(name: string): void;
}

/** The server that a name belongs to, and the rest of the name, as filters need both. */
export interface NamedOwner extends Owner, Subject {}

export interface Upstreams {
  /** Runs exactly these from now on: starts new and changed ones, ends missing and changed ones, keeps the rest. */
  apply(configs: readonly UpstreamConfig[]): void;
  /** Sorted by name. */
  all(): readonly Upstream[];
  /** The server that a tool of that public name would be on, if its filter allows the tool. */
  explain(name: string): NamedOwner | undefined;
  /** Settles when each is ready or has failed once. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export function createUpstreams({ env, log, client, hops, healthInterval, changed }: UpstreamsOptions): Upstreams {
  const platform = platformOf();
  const processGroups = createProcessGroups(platform, env);
  const inherited = inheritedEnvironment(env);
  const running = new Map<string, Upstream>();
  const ending = new Set<Promise<void>>();
  let isClosed = false;

  function start(config: UpstreamConfig): Upstream {
    const stdio = { platform, env, processGroups };
    return createUpstream(withHops(config), { client, hops, log, healthInterval, changed, stdio });
  }

  /** A stdio server gets the hop count in its environment, and is not started where that is too high. */
  function withHops(config: UpstreamConfig): UpstreamConfig {
    const { name, from, target, key } = config;
    if (target.kind !== 'stdio') return config;
    const next = hops.next();
    const tooMany = `not started: over ${MAX_HOPS} hubs run inside each other`;
    if (next > MAX_HOPS) return { ...inactiveConfig(name, from, 'failed', tooMany), key };
    return { ...config, target: { ...target, env: { ...inherited, ...target.env, [HOPS_VARIABLE]: String(next) } } };
  }

  function stop(upstream: Upstream, reason: string): void {
    const ended = upstream.close(reason).finally(() => ending.delete(ended));
    ending.add(ended);
  }

  const all = () => [...running.values()].sort((a, b) => (a.config.name < b.config.name ? -1 : 1));

  return {
    apply(configs) {
      // A refresh may still be under way after the end.
      if (isClosed) return;
      const wanted = new Map(configs.map((config) => [config.name, config]));
      for (const [name, upstream] of running) {
        const next = wanted.get(name);
        if (next?.key === upstream.config.key) continue;
        running.delete(name);
        stop(upstream, EDITED);
        const change = changeOf(upstream.config, next);
        if (change !== undefined) log.info(`server ${name}: ${change}`);
      }
      for (const [name, config] of wanted) if (!running.has(name)) running.set(name, start(config));
    },
    all,
    explain(name) {
      for (const { config, status, stateText } of all()) {
        const tool = toolIn(config.name, name);
        const { state } = status();
        if (tool === undefined || state === 'untrusted' || state === 'disabled') continue;
        const owner = { name: tool, group: config.name, isReady: state === 'ready', state: stateText() };
        if (createFilter(config.filter)([owner], (one) => one, []).kept.length > 0) return owner;
      }
      return undefined;
    },
    async settled() {
      await Promise.all(all().map((upstream) => upstream.settled()));
    },
    async close() {
      isClosed = true;
      for (const upstream of running.values()) stop(upstream, 'the hub was closed');
      running.clear();
      await Promise.all(ending);
      processGroups.close();
    },
  };
}

// --- internal ---

const EDITED = 'its configuration was changed';

/** What an edit does to a server; undefined when its next state says it. */
function changeOf({ target }: UpstreamConfig, next: UpstreamConfig | undefined): string | undefined {
  if (!next) return 'removed from the configuration';
  if (next.target.kind === 'none') return `${next.target.state}: ${next.target.reason}`;
  return target.kind === 'none' ? undefined : `restarting: ${EDITED}`;
}

/** The part of a public name after its server's name, in either spelling. */
function toolIn(server: string, name: string): string | undefined {
  const prefixes = [`${server}:`, `${server.replace(/[^A-Za-z0-9_-]/g, '_')}__`];
  const prefix = prefixes.find((one) => name.startsWith(one));
  return prefix === undefined ? undefined : name.slice(prefix.length);
}
