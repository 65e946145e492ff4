/**
 * One MCP server: the answer to the handshake, and when everything behind the other methods is loaded, started and ended.
 * Leaves alone: how messages come and go (transports/), the other methods (service.ts), which sources there are besides
 * the skills of this machine (skillwire.ts).
 * Always true: a handshake waits neither for the skills nor for the code that serves them; every other message does.
 */
import { createRegistry, type Registry } from './catalog/registry.ts';
import type { Settings } from './config.ts';
import { stackOf } from './log.ts';
import { cancelled, createClientReport, discoverMethod, handshakeMethods } from './methods/lifecycle.ts';
import { createViews, type Views } from './methods/views.ts';
import type { Problem, Source, UpstreamStatus } from './model.ts';
import {
  createDispatcher,
  decode,
  type Era,
  errorReply,
  type Handle,
  internalError,
  legacyEra,
  modernEra,
  SKILLS_EXTENSION,
} from './protocol/index.ts';
import type { Methods, ReportFault, Service } from './service.ts';
import { SHUTDOWN } from './shutdown.ts';
import { VERSION } from './version.ts';
import { afterAnswers } from './wait.ts';

export interface Server {
  /** Takes one message and writes the response to the exchange. */
  readonly handle: Handle;
  readonly registry: Registry;
  /** States and counts, no contents. An operator also gets the reasons, which may quote an upstream server. */
  health(isOperator: boolean): { readonly state: 'starting' | 'ready'; readonly [fact: string]: unknown };
  /** Reads every file of every skill and returns all problems that are known then. */
  examine(): Promise<readonly Problem[]>;
  /** The upstream servers, as far as they are known. */
  status(): readonly UpstreamStatus[];
  /**
   * No further request will come: stops refreshing and ends open subscriptions with their result. Requests in flight go
   * on; those that still wait for an upstream server get an error after a while, which is shorter after a signal.
   */
  stop(isSignalled: boolean): void;
  /** After the last response: closes the sources; resolves when nothing that they started is left. */
  end(): Promise<void>;
}

/** `added`: the sources besides the skills of this machine. */
export function createServer(settings: Settings, added: readonly Source[]): Server {
  const { log } = settings;
  const report: ReportFault = (what) => (error) => log.error(`${what} failed: ${stackOf(error)}`);
  const sources: readonly Source[] = [lateSkills(settings), ...added];
  const registry = createRegistry(sources, settings);
  const views = createViews(settings);
  const erasWith = createHandshake(settings, views);
  const handleIn = (eras: readonly Era[]) => createDispatcher(eras, (method, error) => report(method)(error));
  const handshake = erasWith({ modern: [], legacy: [], legacyNotifications: [] });
  const shakeHands = handleIn(handshake);
  let service: Service | undefined;
  let handle: Handle | undefined;

  async function load(): Promise<Handle> {
    const { createService } = await import('./service.ts');
    service = createService(settings, views, sources, registry, report);
    handle = handleIn(erasWith(service.methods));
    log.info('scanning skill directories');
    // After the first list is answered: a client should not wait for watches.
    const { begin, explainEmpty } = service;
    registry.refresh('start').catch(report('refresh (start)')).then(afterAnswers).then(begin);
    registry.complete().then(explainEmpty).catch(report('the first lists'));
    return handle;
  }
  const loaded = afterAnswers().then(load);
  loaded.catch(report('loading'));
  const handleEarly: Handle = async (session, text, exchange) => {
    const message = decode(text);
    const request = 'kind' in message && message.kind === 'request' ? message : undefined;
    const isHandshake = request && handshake.some(({ methods }) => methods.has(request.method));
    const next = isHandshake ? shakeHands : await loaded.catch(() => undefined);
    // The client may have left meanwhile.
    if (typeof session === 'object' && session.ended.aborted) return;
    if (next) await next(session, text, exchange);
    else if (request) exchange.reply(errorReply(request.id, internalError('the server could not be loaded')));
  };

  const status = () => sources.flatMap((source) => source.status?.() ?? []);
  const endSources = async () => void (await Promise.all(sources.map((source) => source.close?.())));
  let graceTimer: NodeJS.Timeout | undefined;
  return {
    handle: (session, text, exchange) => (handle ?? handleEarly)(session, text, exchange),
    registry,
    health(isOperator) {
      const snapshot = registry.current();
      return {
        state: snapshot ? 'ready' : 'starting',
        version: VERSION,
        generation: snapshot?.generation ?? 0,
        skills: snapshot?.names.listed.length ?? 0,
        tools: (snapshot && service?.toolsIn(snapshot)) ?? 0,
        problems: (snapshot && service?.problemsIn(snapshot).length) ?? 0,
        upstreams: status().map(({ name, state, reason: why, nextAttempt, tools }) => {
          const reason = isOperator ? why : undefined;
          return { name, state, reason, nextAttempt, tools };
        }),
      };
    },
    async examine() {
      await loaded;
      return service?.examine() ?? [];
    },
    status,
    stop(isSignalled) {
      const graceMs = isSignalled ? SHUTDOWN.stoppedCallsMs : SHUTDOWN.lastCallsMs;
      // Requests in flight may need what is still being loaded.
      if (service) service.stop();
      else loaded.then(() => service?.stop()).catch(() => {});
      // Closing an upstream server answers every call that still waits for it. `end` reports a failure of that.
      graceTimer ??= setTimeout(() => void endSources().catch(() => {}), graceMs);
    },
    end() {
      clearTimeout(graceTimer);
      return endSources();
    },
  };
}

// --- internal ---

/** The code that finds skills is loaded with the first scan. */
function lateSkills(settings: Settings): Source {
  let opened: Source | undefined;
  return {
    name: 'skills',
    async load() {
      const { createSkillSource } = await import('./skills/source.ts');
      opened ??= createSkillSource(settings);
      return opened.load();
    },
    watched: () => opened?.watched?.() ?? [],
    isUnsettled: () => opened?.isUnsettled?.() ?? false,
  };
}

/** Gives both eras, with their handshakes and the methods besides. */
function createHandshake({ log, prompts }: Settings, views: Views): (besides: Methods) => readonly Era[] {
  const { onHandshake, onRequest } = createClientReport(log);
  const listed = { listChanged: true };
  const introduction = {
    server: { name: 'skillwire', version: VERSION },
    capabilities: {
      tools: listed,
      resources: { subscribe: true, ...listed },
      ...(prompts ? { prompts: listed } : {}),
      completions: {},
      logging: {},
      extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
    },
    instructions: views.instructionsFor,
    onPeer: onHandshake,
  };
  return ({ modern, legacy, legacyNotifications }) => [
    modernEra(
      { methods: [discoverMethod(introduction), ...modern], notifications: [cancelled] },
      introduction.server,
      onRequest,
    ),
    legacyEra({
      methods: [...handshakeMethods(introduction), ...legacy],
      notifications: [cancelled, ...legacyNotifications],
    }),
  ];
}
