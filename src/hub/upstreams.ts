/**
 * All upstream servers together, and which of them run. Leaves alone: one of them (upstream/upstream.ts), where their
 * configuration comes from (config/files.ts).
 * Always true: servers start, fail and end independently; a change of one affects no other.
 */
import { platform as platformOf } from 'node:os';
import { compare } from '../compare.ts';
import { HOPS_VARIABLE, MAX_HOPS } from '../hops.ts';
import type { LogMessage, Owner } from '../model.ts';
import type { LogLevel } from '../protocol/index.ts';
import type { CreateFilter } from '../skills/filter.ts';
import { hasPatterns, type Patterns } from '../skills/patterns.ts';
import { VERSION } from '../version.ts';
import { inactiveConfig, type UpstreamConfig } from './config/entries.ts';
import { inheritedEnvironment } from './connection/command.ts';
import type { HubContext } from './connection/connection.ts';
import { createProcessGroups } from './connection/process.ts';
import { Upstream } from './upstream/upstream.ts';

/** With the filter that applies to all servers; each has its own too. */
export type UpstreamsOptions = Omit<HubContext, 'client' | 'platform' | 'processGroups' | 'followedLog' | 'debug'> &
  Partial<Patterns> & { readonly client?: HubContext['client'] | undefined };

export function createUpstreams(options: UpstreamsOptions) {
  const { env, log, include = [], exclude = [], client = { name: 'skillwire', version: VERSION } } = options;
  const platform = platformOf();
  const processGroups = createProcessGroups(platform, env);
  const followedLog: HubContext['followedLog'] = { level: undefined, send: () => {} };
  const context = { ...options, client, platform, processGroups, followedLog };
  const running = new Map<string, Upstream>();
  /** Settles when no server is being closed. */
  let ending = Promise.resolve();
  let isClosed = false;
  let makeFilter: CreateFilter | undefined;

  /** Settles when the server has ended. */
  function stop(upstream: Upstream, reason: string): Promise<void> {
    const earlier = ending;
    const ended = upstream.close(reason);
    ending = ended.then(() => earlier);
    return ended;
  }

  const all = (): readonly Upstream[] => [...running.values()].sort((a, b) => compare(a.config.name, b.config.name));

  return {
    all,
    /**
     * Runs exactly these from now on: starts new and changed ones, ends missing and changed ones, keeps the rest.
     * `createFilter`: not needed while nothing has patterns.
     */
    apply(configs: readonly UpstreamConfig[], createFilter?: CreateFilter): void {
      makeFilter = createFilter;
      // A refresh may still be under way after the end.
      if (isClosed) return;
      const wanted = new Map(configs.map((config) => [config.name, withHops(config, context)]));
      const ended = new Map<string, Promise<void>>();
      for (const [name, upstream] of running) {
        const next = wanted.get(name);
        if (next?.key === upstream.config.key) continue;
        running.delete(name);
        const end = stop(upstream, EDITED);
        if (upstream.config.target.kind === 'stdio') ended.set(name, end);
        const change = changeOf(upstream.config, next);
        if (change !== undefined) log.info(`server ${name}: ${change}`);
      }
      for (const [name, config] of wanted) {
        if (running.has(name)) continue;
        const { written, target } = config;
        if (written !== undefined && target.kind !== 'none') log.info(`server ${name}: "${written}" ${RENAMED}`);
        if (target.kind === 'none' && target.reason === TOO_MANY_HUBS) log.warn(`server ${name}: ${target.reason}`);
        running.set(name, new Upstream(config, context, ended.get(name)));
      }
    },
    /** The server that a tool, prompt or skill of that public name would be on, if the filters allow it. */
    explain(name: string): Owner | undefined {
      const { state } = all().find(({ config }) => hasTool(config, name, { include, exclude }, makeFilter)) ?? {};
      return state && { isReady: state.facts().state === 'ready', state: state.text() };
    },
    /** See `Source.followLog`. */
    followLog(level: LogLevel | undefined, send: (message: LogMessage) => void): void {
      Object.assign(followedLog, { level, send });
      for (const upstream of running.values()) upstream.followLog();
    },
    /** Settles when each is ready or has failed once. */
    async settled(): Promise<void> {
      await Promise.all(all().map((upstream) => upstream.settled()));
    },
    async close(): Promise<void> {
      isClosed = true;
      for (const upstream of running.values()) void stop(upstream, 'the hub was closed');
      running.clear();
      await ending;
      processGroups.close();
    },
  };
}

// --- internal ---

const TOO_MANY_HUBS = `not started: over ${MAX_HOPS} hubs run inside each other`;
const EDITED = 'its configuration was changed';
const RENAMED = 'in its configuration; served under this name, because a name has no colon, slash or space here';

/** What an edit does to a server; undefined when its next state says it. */
function changeOf({ target }: UpstreamConfig, next: UpstreamConfig | undefined): string | undefined {
  if (!next) return 'removed from the configuration';
  if (next.target.kind === 'none') return `${next.target.state}: ${next.target.reason}`;
  return target.kind === 'none' ? undefined : `restarting: ${EDITED}`;
}

/** A stdio server gets the hop count in its environment, and is not started where that is too high. */
function withHops(config: UpstreamConfig, { env, hops }: Pick<HubContext, 'env' | 'hops'>): UpstreamConfig {
  const { name, from, target } = config;
  if (target.kind !== 'stdio') return config;
  const next = hops.next();
  // With a key of its own: it is started by the first refresh at which the count is lower.
  if (next > MAX_HOPS) return inactiveConfig(name, from, 'failed', TOO_MANY_HUBS);
  const own = { ...inheritedEnvironment(env), ...target.env, [HOPS_VARIABLE]: String(next) };
  return { ...config, target: { ...target, env: own } };
}

/** Whether a tool, prompt or skill of that public name would be on the server, and the filters allow it. */
function hasTool(
  { name: group, target, filter }: UpstreamConfig,
  name: string,
  shared: Patterns,
  createFilter: CreateFilter | undefined,
): boolean {
  if (target.kind === 'none' && target.state !== 'failed') return false;
  // The last one is for skills of a server that has the name of a provider.
  const prefixes = [`${group}:`, `${group.replace(/[^A-Za-z0-9_-]/g, '_')}__`, `${group}@mcp:`];
  const prefix = prefixes.find((one) => name.startsWith(one));
  if (prefix === undefined) return false;
  const subject = { name: name.slice(prefix.length), group };
  const filters = [filter, shared].filter(hasPatterns).map((one) => createFilter?.(one));
  return filters.every((keep) => keep === undefined || keep([subject], () => subject, []).kept.length > 0);
}
