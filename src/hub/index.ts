/**
 * The upstream servers together: as a source of the catalogue, and as a library (`skillwire/hub`).
 * Owns: which servers run, and the interface for embedders. Leaves alone: one server (upstream.ts), configuration (config.ts).
 * Always true: servers start, fail and end independently, and a change of one affects no other; the first load waits for
 * servers a few seconds, any other for none.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Environment, type Settings, settingsFrom } from '../config.ts';
import { FIRST_LOAD_MS } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Contribution, Problem, Source, Tool, UpstreamStatus } from '../model.ts';
import type { Client, Params } from '../protocol/index.ts';
import { compare, echo } from '../text.ts';
import { VERSION } from '../version.ts';
import { chooseEntries, createConfiguration, hopsIn } from './config.ts';
import { pause, UpstreamError } from './connection.ts';
import type { UpstreamConfig } from './entries.ts';
import { contributionOf, publicName } from './items.ts';
import { headersFor } from './param-headers.ts';
import { ownEnvironment } from './process.ts';
import { type HubContext, Upstream } from './upstream.ts';

export type { UpstreamState, UpstreamStatus } from '../model.ts';
export { UpstreamError } from './connection.ts';

export interface HubConfig {
  /** As in `.kode.json`. */
  readonly mcpServers: Readonly<Record<string, unknown>>;
  /** Where variables of entries are looked up; stdio servers get a small part of it. That of this process unless given. */
  readonly env?: Environment;
  readonly cwd?: string;
  readonly home?: string;
  readonly log?: Log;
  readonly healthInterval?: number;
}

export interface HubTool {
  /** `server:tool`. */
  readonly name: string;
  readonly server: string;
  /** Under the server's own name, without invalid fields. */
  readonly definition: Tool['definition'];
}

export interface HubCall {
  readonly signal?: AbortSignal;
  readonly onProgress?: (params: Params) => void;
}

export interface Hub {
  /** Starts every server; settles when each is ready or has failed once. */
  connect(): Promise<void>;
  tools(): readonly HubTool[];
  /** The result as the server sent it; rejects with the server's RpcError, or with an UpstreamError. */
  call(name: string, args?: Params, options?: HubCall): Promise<Params>;
  status(): readonly UpstreamStatus[];
  close(): Promise<void>;
}

export function createHub({ mcpServers, ...options }: HubConfig): Hub {
  const settings = settingsFrom({ env: ownEnvironment, ...options });
  const { all, apply, settled, status, close } = createUpstreams(settings);
  return {
    connect() {
      const problems: Problem[] = [];
      const own = { from: 'createHub', origin: 'user' } as const;
      const entries = Object.entries(mcpServers).map(([written, entry]) => ({ written, entry, ...own }));
      apply(chooseEntries(entries, settings, problems));
      for (const { what } of problems) settings.log.warn(what);
      return settled();
    },
    tools: () =>
      all().flatMap((upstream) =>
        upstream.listing.tools.map(({ definition }) => {
          return { name: publicName(upstream, definition.name), server: upstream.config.name, definition };
        }),
      ),
    async call(name, args = {}, { signal, onProgress } = {}) {
      for (const upstream of all()) {
        const tool = upstream.listing.tools.find(({ definition }) => publicName(upstream, definition.name) === name);
        if (!tool) continue;
        const { timeout } = upstream.config;
        const call = { timeout, cancellation: signal, onProgress, headers: headersFor(tool.paramHeaders, args) };
        return upstream.request('tools/call', { name: tool.definition.name, arguments: args }, call);
      }
      throw new UpstreamError(`no tool is called "${echo(name)}"`);
    },
    status,
    close,
  };
}

export function createHubSource(settings: Settings): Source {
  let changed: (reason: string) => void = () => {};
  let isFirst = true;
  const upstreams = createUpstreams(settings, (name) => {
    // What changes before the first load is over is in it.
    if (!isFirst) changed(`server ${name}`);
  });
  const readFiles = createConfiguration(settings);
  let last: Contribution = {};
  /** What `last` was made of. */
  let lastParts: readonly unknown[] = [];

  return {
    name: 'hub',
    async load() {
      const { configs, problems } = readFiles();
      upstreams.apply(configs);
      if (isFirst) await Promise.race([upstreams.settled(), pause(FIRST_LOAD_MS)]);
      isFirst = false;
      const all = upstreams.all();
      const parts = [problems, ...all.map((one) => [one.config, one.isAwaited, one.problems, one.listing])];
      if (isDeepStrictEqual(parts, lastParts)) return last;
      lastParts = parts;
      const contribution = contributionOf(all);
      last = { ...contribution, problems: [...problems, ...(contribution.problems ?? [])] };
      return last;
    },
    onChange(listener) {
      changed = listener;
    },
    status: upstreams.status,
    close: upstreams.close,
  };
}

// --- internal ---

const IDENTITY: Client = { name: 'skillwire', version: VERSION };

/** `changed`: what the server of that name lists has changed. */
function createUpstreams({ env, log, healthInterval }: Settings, changed = (_name: string) => {}) {
  const context: HubContext = { env, log, healthInterval, identity: IDENTITY, hops: hopsIn(env) + 1, changed };
  const running = new Map<string, Upstream>();
  /** By name, the end of the last one that was stopped. It comes after that of the one before. */
  const ended = new Map<string, Promise<void>>();
  let isClosed = false;

  function stop(upstream: Upstream): void {
    running.delete(upstream.config.name);
    ended.set(upstream.config.name, upstream.close());
  }
  const all = (): readonly Upstream[] => [...running.values()].sort((a, b) => compare(a.config.name, b.config.name));

  return {
    all,
    /** Runs exactly these from now on: starts new and changed ones, ends missing and changed ones, keeps the rest. */
    apply(configs: readonly UpstreamConfig[]): void {
      // A refresh may still be under way after the end.
      if (isClosed) return;
      const wanted = new Map(configs.map((config) => [config.name, config]));
      for (const upstream of all()) {
        const { name } = upstream.config;
        if (isDeepStrictEqual(wanted.get(name), upstream.config)) continue;
        log.info(`server ${name}: its entry was ${wanted.has(name) ? 'changed' : 'removed'}`);
        stop(upstream);
      }
      for (const [name, config] of wanted)
        if (!running.has(name)) running.set(name, new Upstream(config, context, ended.get(name)));
    },
    status: () => all().map((upstream) => upstream.status()),
    /** Settles when each is ready or has failed once. */
    settled: async () => void (await Promise.all(all().map(({ settled }) => settled))),
    async close(): Promise<void> {
      isClosed = true;
      for (const upstream of all()) stop(upstream);
      await Promise.all(ended.values());
    },
  };
}
