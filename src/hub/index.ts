/**
 * `skillwire/hub`: many MCP servers as one, without the rest of skillwire.
 * Owns: the interface for embedders. Leaves alone: everything behind it.
 */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { env as ownEnvironment } from 'node:process';
import { createHops, HOPS_VARIABLE } from '../hops.ts';
import { createLog, type Log, stackOf } from '../log.ts';
import type { PromptDefinition, ResourceDefinition, TemplateDefinition, UpstreamStatus } from '../model.ts';
import type { Params } from '../protocol/index.ts';
import { createFilter } from '../skills/filter.ts';
import { configOf, renamed, tryReadEntry } from './config/entries.ts';
import { servedNames } from './config/server-names.ts';
import type { Environment } from './connection/command.ts';
import { UpstreamError } from './connection/connection.ts';
import { promptsOf } from './upstream/prompts.ts';
import { resourcesOf, templatesOf } from './upstream/resources.ts';
import { publicName } from './upstream/tools.ts';
import { createUpstreams } from './upstreams.ts';

export type { UpstreamState, UpstreamStatus } from '../model.ts';
export { UpstreamError } from './connection/connection.ts';

export interface HubConfig {
  /** As in `.mcp.json` and `.kode.json`. */
  readonly mcpServers: Readonly<Record<string, unknown>>;
  /** Where variables in the entries are looked up; stdio servers inherit a small part of it. Ours unless given. */
  readonly env?: Environment;
  readonly cwd?: string;
  readonly home?: string;
  readonly log?: Log;
  readonly healthInterval?: number;
  /** The name and version that servers are told. */
  readonly client?: { readonly name: string; readonly version: string };
}

export interface HubTool {
  /** `server:tool`. */
  readonly name: string;
  readonly server: string;
  /** The server's definition, under its own name, without invalid fields. */
  readonly definition: Params;
}

export interface HubTemplate {
  readonly server: string;
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
   * The result as the server sent it; rejects with the server's RpcError, or with an UpstreamError.
   * Waits a few seconds for a server that is about to be connected.
   */
  call(name: string, args?: Params, options?: HubCall): Promise<Params>;
  /** The servers' definitions of their resources, under URIs that are unique among them. */
  resources(): readonly ResourceDefinition[];
  /** Resource templates of all servers; the first that matches a URI is used for it. */
  templates(): readonly HubTemplate[];
  /** The result of `resources/read`, for a resource that is listed or that a template matches. */
  read(uri: string, options?: { readonly signal?: AbortSignal }): Promise<object>;
  /** The servers' definitions of their prompts, under their public names: `server:prompt`. */
  prompts(): readonly PromptDefinition[];
  /** The result of `prompts/get`. */
  prompt(name: string, args?: Params, options?: { readonly signal?: AbortSignal }): Promise<object>;
  status(): readonly UpstreamStatus[];
  /** Returns a function that removes the listener. */
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
    client: config.client,
    changed(name) {
      for (const listener of [...listeners]) {
        try {
          listener(name);
        } catch (error) {
          // A listener is the caller's code: its error must not end a connection or the process.
          log.error(`a listener of "change" failed: ${stackOf(error)}`);
        }
      }
    },
  });
  const variables = { env, workspaceFolder: resolve(cwd), userHome: resolve(home) };
  const { all } = upstreams;

  return {
    connect() {
      const entries = Object.entries(config.mcpServers);
      const names = servedNames(Object.keys(config.mcpServers));
      const configs = entries.map(([name, entry]) => {
        const read = tryReadEntry(name, () => entry);
        return renamed(configOf(name, read, 'createHub', variables), name, names.get(name));
      });
      upstreams.apply(configs, createFilter);
      return upstreams.settled();
    },
    tools: () =>
      all().flatMap((upstream) => {
        const { name: server } = upstream.config;
        const { tools } = upstream.listing();
        return tools.map((tool) => ({ name: publicName(server, tool), server, definition: tool.definition }));
      }),
    async call(name, args = {}, { signal, onProgress, meta } = {}) {
      const upstream = all().find(({ config: server }) => name.startsWith(`${server.name}:`));
      const tool = upstream?.listing().tools.find((one) => publicName(upstream.config.name, one) === name);
      if (upstream && tool) {
        const { definition, paramHeaders } = tool;
        const params = { name: definition.name, arguments: args, _meta: meta };
        const { timeout } = upstream.config;
        return upstream.request('tools/call', params, { timeout, signal, onProgress, paramHeaders });
      }
      const owner = upstreams.explain(name);
      throw new UpstreamError(
        owner && !owner.isReady
          ? `the server is not connected (${owner.state})`
          : `no tool is called "${name.slice(0, 100)}"`,
      );
    },
    resources: () => resourcesOf(all()).map(({ definition }) => definition),
    templates: () => templatesOf(all()).map(({ server, definition }) => ({ server, definition })),
    async read(uri, { signal } = {}) {
      const call = { params: {}, cancellation: signal };
      const resource = resourcesOf(all()).find(({ definition }) => definition.uri === uri);
      if (resource) return resource.read(call);
      const template = templatesOf(all()).find((one) => one.matches(uri));
      if (!template) throw new UpstreamError(`no resource has the URI "${uri.slice(0, 300)}"`);
      return template.read(uri, call);
    },
    prompts: () => promptsOf(all()).map(({ definition }) => definition),
    async prompt(name, args = {}, { signal } = {}) {
      const prompt = promptsOf(all()).find(({ definition }) => definition.name === name);
      if (!prompt) throw new UpstreamError(`no prompt is called "${name.slice(0, 100)}"`);
      return prompt.get({ params: { arguments: args }, cancellation: signal });
    },
    status: () => all().map((upstream) => upstream.status()),
    on(_event, listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: upstreams.close,
  };
}
