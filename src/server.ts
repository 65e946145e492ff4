/**
 * One MCP server: sources → registry → methods → dispatcher. Composition only.
 * Leaves alone: how messages come and go (transports/), which sources there are besides the skills of this machine.
 */
import { createRegistry, type Registry } from './catalog/registry.ts';
import { startTriggers } from './catalog/triggers.ts';
import type { Settings } from './config.ts';
import { LAST_CALLS_MS } from './limits.ts';
import { stackOf } from './log.ts';
import { createProfiles } from './methods/hosts.ts';
import { cancelled, discoverMethod, handshakeMethods } from './methods/lifecycle.ts';
import { createPrompts } from './methods/prompts.ts';
import { createResources } from './methods/resources.ts';
import { createSkillsExtension } from './methods/skills-extension.ts';
import { createSubscriptions } from './methods/subscriptions.ts';
import { createTools } from './methods/tools.ts';
import type { Source, UpstreamStatus } from './model.ts';
import { createDispatcher, type Dispatcher, legacyEra, modernEra, SKILLS_EXTENSION } from './protocol/index.ts';
import { createSkillSource } from './skills/source.ts';
import { createOwnTools } from './tools/index.ts';
import { VERSION } from './version.ts';

export interface Server {
  readonly dispatcher: Dispatcher;
  readonly registry: Registry;
  /** The upstream servers, as far as they are known. */
  status(): readonly UpstreamStatus[];
  /**
   * No further request will come: stops refreshing and ends open subscriptions with their result. Requests in flight go
   * on; those that wait for an upstream server get an error after LAST_CALLS_MS.
   */
  stop(): void;
  /** After the last response: closes the sources; resolves when nothing that they started is left. */
  close(): Promise<void>;
}

/** `added`: the sources besides the skills of this machine. */
export function createServer(settings: Settings, added: readonly Source[]): Server {
  const { log } = settings;
  const sources = [createSkillSource(settings), ...added];
  const registry = createRegistry(sources, settings);
  const profiles = createProfiles(settings);
  const tools = createTools(registry, createOwnTools(settings), profiles, settings);
  const prompts = settings.prompts ? [createPrompts(registry, profiles)] : [];
  const features = [tools, createResources(registry), ...prompts];
  const subscriptions = createSubscriptions(registry, features);
  const shared = [...features.flatMap((feature) => feature.methods), ...createSkillsExtension(registry, log)];
  const introduction = {
    server: { name: 'skillwire', version: VERSION },
    capabilities: {
      ...Object.fromEntries(features.map(({ name }) => [name, { listChanged: true }])),
      extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
    },
    instructions: tools.instructionsFor,
    log,
  };
  const discovery = [discoverMethod(introduction), subscriptions.listen];
  const eras = [
    modernEra({ methods: [...discovery, ...shared], notifications: [cancelled] }, introduction.server),
    // Takes every message that the modern era does not, so it stands last.
    legacyEra({
      methods: [...handshakeMethods(introduction), ...shared],
      notifications: [cancelled, subscriptions.initialized],
    }),
  ];
  const dispatcher = createDispatcher(eras, (what, error) => log.error(`${what} failed: ${stackOf(error)}`));
  const stopTriggers = startTriggers(registry, sources, settings);
  const closeSources = async () => void (await Promise.all(sources.map((source) => source.close?.())));
  let lastCalls: NodeJS.Timeout | undefined;
  return {
    dispatcher,
    registry,
    status: () => sources.flatMap((source) => source.status?.() ?? []),
    stop() {
      stopTriggers();
      subscriptions.close();
      // Closing an upstream server answers every call that still waits for it. `close` reports a failure of that.
      lastCalls ??= setTimeout(() => void closeSources().catch(() => {}), LAST_CALLS_MS);
    },
    close() {
      clearTimeout(lastCalls);
      return closeSources();
    },
  };
}
