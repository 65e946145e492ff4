/**
 * `skillwire/hub`: many MCP servers as one, without the rest of skillwire.
 * Owns: the library's face. Leaves alone: everything behind it.
 */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { env as ownEnvironment } from 'node:process';
import { createHops, HOPS_VARIABLE } from '../hops.ts';
import { createLog, type Log, stackOf } from '../log.ts';
import type { ResourceDefinition, TemplateDefinition, UpstreamStatus } from '../model.ts';
import type { Params } from '../protocol/index.ts';
import { VERSION } from '../version.ts';
import { parseEntry } from './config/entries.ts';
import type { Environment } from './connection/command.ts';
import { UpstreamError } from './connection/connection.ts';
import { resourcesOf, templatesOf } from './upstream/contribution.ts';
import type { CallRequest } from './upstream/upstream.ts';
import { createUpstreams, publicName, type RoutedTool } from './upstreams.ts';

export type { UpstreamState, UpstreamStatus } from '../model.ts';
export { UpstreamError } from './connection/connection.ts';

export interface HubConfig {
  /** As in `.mcp.json` and `.kode.json`. */
  readonly mcpServers: Readonly<Record<string, unknown>>;
  /** What variables in the entries are looked up in, and what stdio servers inherit a small part of; ours unless given. */
  readonly env?: Environment;
  readonly cwd?: string;
  readonly home?: string;
  readonly log?: Log;
  readonly healthInterval?: number;
  /** Who we say we are. */
  readonly client?: { readonly name: string; readonly version: string };
}

export interface HubTool {
  /** `server:tool`. */
  readonly name: string;
  readonly server: string;
  /** As the server defines it, under its own name, without what clients cannot read. */
  readonly definition: Params;
}

export interface HubTemplate {
  readonly server: string;
  /** As the server defines it. */
  readonly definition: TemplateDefinition;
}

export interface HubCall {
  readonly signal?: AbortSignal;
  readonly onProgress?: (params: Params) => void;
  readonly meta?: Params;
}

export interface Hub {
  /** Starts every server; settles when each is ready or has failed once. */
  connect(): Promise<void>;
  tools(): readonly HubTool[];
  /**
   * The result as the server gave it; rejects with an RpcError of the server's, or an UpstreamError of ours.
   * Waits a little for a server that is on its way.
   */
  call(name: string, args?: Params, options?: HubCall): Promise<Params>;
  /** Resources of all servers, as they define them, under URIs that are unique among them. */
  resources(): readonly ResourceDefinition[];
  /** Resource templates of all servers; the first that matches a URI is asked for it. */
  templates(): readonly HubTemplate[];
  /** The result of `resources/read`, for a resource that is listed or that a template stands for. */
  read(uri: string, options?: { readonly signal?: AbortSignal }): Promise<object>;
  status(): readonly UpstreamStatus[];
  /** Gives a function that ends it. */
  on(event: 'change', listener: (server: string) => void): () => void;
  close(): Promise<void>;
}

export const DEFAULT_HEALTH_INTERVAL = 30_000;

export function createHub(config: HubConfig): Hub {
  const { env = ownEnvironment, cwd = '.', home = homedir(), healthInterval = DEFAULT_HEALTH_INTERVAL } = config;
  const log = config.log ?? createLog(() => {}, 'error');
  const listeners = new Set<(server: string) => void>();
  const upstreams = createUpstreams({
    env,
    healthInterval,
    hops: createHops(env[HOPS_VARIABLE]),
    log,
    client: config.client ?? { name: 'skillwire', version: VERSION },
    changed: (name) => {
      for (const listener of [...listeners]) {
        try {
          listener(name);
        } catch (error) {
          // A listener is the caller's code: its fault must not end a connection, or the process.
          log.error(`a listener of "change" failed: ${stackOf(error)}`);
        }
      }
    },
  });
  const variables = { env, workspaceFolder: resolve(cwd), userHome: resolve(home) };

  function findTool(name: string): RoutedTool {
    const found = upstreams.tools().find((one) => publicName(one) === name);
    if (found) return found;
    const owner = upstreams.explain(name);
    throw new UpstreamError(
      !owner || owner.isReady
        ? `no tool is called "${name.slice(0, 100)}"`
        : `the server is not connected (${owner.state})`,
    );
  }

  return {
    connect() {
      const entries = Object.entries(config.mcpServers);
      upstreams.apply(entries.map(([name, entry]) => parseEntry(name, entry, { from: 'createHub', variables })));
      return upstreams.settled();
    },
    tools: () =>
      upstreams.tools().map((one) => ({ name: publicName(one), server: one.server, definition: one.tool.definition })),
    async call(name, args = {}, { signal, onProgress, meta } = {}) {
      const request: CallRequest = {
        params: { arguments: args, ...(meta ? { _meta: meta } : {}) },
        signal,
        onProgress,
      };
      return findTool(name).call(request);
    },
    resources: () => resourcesOf(upstreams.all()).map(({ definition }) => definition),
    templates: () => templatesOf(upstreams.all()).map(({ server, definition }) => ({ server, definition })),
    async read(uri, { signal } = {}) {
      const listed = resourcesOf(upstreams.all()).find(({ definition }) => definition.uri === uri);
      if (listed) return listed.fetch(signal);
      const template = templatesOf(upstreams.all()).find((one) => one.matches(uri));
      if (!template) throw new UpstreamError(`no resource has the URI "${uri.slice(0, 300)}"`);
      return template.fetch(uri, signal);
    },
    status: upstreams.status,
    on(_event, listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: upstreams.close,
  };
}
