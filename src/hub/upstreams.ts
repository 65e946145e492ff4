/**
 * All upstream servers together.
 * Owns: which of them run, and what their tools are called outside. Leaves alone: one of them (upstream.ts), where
 * their configuration comes from (files.ts).
 * Always true: servers start, fail and end side by side; a change of one touches no other.
 */
import { platform as platformOf } from 'node:os';
import { HOPS_VARIABLE, type Hops, MAX_HOPS } from '../hops.ts';
import type { Log } from '../log.ts';
import type { Owner, UpstreamStatus } from '../model.ts';
import type { Params } from '../protocol/index.ts';
import { createFilter, type Subject } from '../skills/filter.ts';
import { visibleLine } from '../text.ts';
import { inactiveConfig, type UpstreamConfig } from './config/entries.ts';
import { type Environment, inheritedEnvironment } from './connection/command.ts';
import type { Implementation } from './connection/dialects.ts';
import { createProcessGroups } from './connection/process.ts';
import type { ListedTool } from './upstream/listing.ts';
import { type CallRequest, createUpstream, type Upstream } from './upstream/upstream.ts';

export interface UpstreamsOptions {
  readonly env: Environment;
  readonly log: Log;
  readonly client: Implementation;
  readonly hops: Hops;
  readonly healthInterval: number;
  /** What is offered by the server of that name has changed. */
  changed(name: string): void;
}

/** A tool, and how to call it. */
export interface RoutedTool {
  readonly server: string;
  readonly tool: ListedTool;
  call(request: CallRequest): Promise<Params>;
}

/** What a name stands for, as filters see it, and how its server is doing. */
export interface NamedOwner extends Owner, Subject {}

export interface Upstreams {
  /** From now on exactly these: new and changed ones start, missing and changed ones end, the rest go on. */
  apply(configs: readonly UpstreamConfig[]): void;
  /** By name. */
  all(): readonly Upstream[];
  /** Sorted by server and then as the server lists them. */
  tools(): readonly RoutedTool[];
  status(): readonly UpstreamStatus[];
  /** The server whose tool a public name would be, if its own filter allows that. */
  explain(name: string): NamedOwner | undefined;
  /** Settles when each is ready or has failed once. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export function createUpstreams({ env, log, client, hops, healthInterval, changed }: UpstreamsOptions): Upstreams {
  const platform = platformOf();
  const processGroups = createProcessGroups(platform, env);
  const running = new Map<string, Member>();
  const leaving = new Set<Promise<void>>();
  let closed = false;
  const inherited = inheritedEnvironment(env);

  function start(config: UpstreamConfig): Upstream {
    const stdio = { platform, env, processGroups };
    return createUpstream(withHops(config), { client, hops, log, healthInterval, changed, stdio });
  }

  /** A stdio server gets the hop count in its environment; where that is too high it is not started. */
  function withHops(config: UpstreamConfig): UpstreamConfig {
    const { name, from, target } = config;
    if (target.kind !== 'stdio') return config;
    if (hops.next() > MAX_HOPS)
      return inactiveConfig(name, from, 'failed', `not started: over ${MAX_HOPS} hubs run inside each other`);
    const own = { ...inherited, ...target.env, [HOPS_VARIABLE]: String(hops.next()) };
    return { ...config, target: { ...target, env: own } };
  }

  function stop(upstream: Upstream, reason: string): void {
    const gone = upstream.close(reason).finally(() => leaving.delete(gone));
    leaving.add(gone);
  }

  const upstreams = () => [...running.values()].map(({ upstream }) => upstream);
  const byName = () => upstreams().sort((a, b) => (a.config.name < b.config.name ? -1 : 1));

  return {
    apply(configs) {
      // A refresh may still be under way then.
      if (closed) return;
      const wanted = new Map(configs.map((config) => [config.name, config]));
      for (const [name, { key, upstream }] of running) {
        if (wanted.get(name)?.key === key) continue;
        running.delete(name);
        stop(upstream, EDITED);
        const news = newsOf(upstream.config, wanted.get(name));
        if (news !== undefined) log.info(`server ${name}: ${news}`);
      }
      for (const [name, config] of wanted) {
        if (!running.has(name)) running.set(name, { key: config.key, upstream: start(config) });
      }
    },
    all: byName,
    tools: () =>
      byName().flatMap((upstream) =>
        upstream.listing().tools.map((tool) => ({
          server: upstream.config.name,
          tool,
          call: (request: CallRequest) => upstream.call(tool, request),
        })),
      ),
    status: () => byName().map((upstream) => upstream.status()),
    explain(name) {
      for (const { config, status, stateText } of byName()) {
        const tool = toolIn(config.name, name);
        const { state } = status();
        if (tool === undefined || state === 'untrusted' || state === 'disabled') continue;
        const owner = { name: tool, group: config.name, isReady: state === 'ready', state: stateText() };
        if (createFilter(config.filter)([owner], (one) => one, []).kept.length > 0) return owner;
      }
      return undefined;
    },
    async settled() {
      await Promise.all(upstreams().map((upstream) => upstream.settled()));
    },
    async close() {
      closed = true;
      for (const upstream of upstreams()) stop(upstream, 'the hub was closed');
      running.clear();
      await Promise.all(leaving);
      processGroups.close();
    },
  };
}

/** Server names hold no colon, so this names one tool of one server. */
export const publicName = ({ server, tool }: RoutedTool) => `${server}:${visibleLine(tool.name)}`;

// --- internal ---

const EDITED = 'its configuration was changed';

/** What an edit has done to a server, as far as its next state does not tell. */
function newsOf({ target }: UpstreamConfig, next: UpstreamConfig | undefined): string | undefined {
  if (!next) return 'removed from the configuration';
  if (next.target.kind === 'none') return `${next.target.state}: ${next.target.reason}`;
  return target.kind === 'none' ? undefined : `restarting: ${EDITED}`;
}

/** What is left of a public name behind its server's, in either spelling. */
function toolIn(server: string, name: string): string | undefined {
  const fronts = [`${server}:`, `${server.replace(/[^A-Za-z0-9_-]/g, '_')}__`];
  const front = fronts.find((one) => name.startsWith(one));
  return front === undefined ? undefined : name.slice(front.length);
}

interface Member {
  /** Of the plan that was asked for, which is not always the one that is carried out. */
  readonly key: string;
  readonly upstream: Upstream;
}
