/**
 * The methods of one server. Their code is loaded in three steps: the handshake at once, the tools after its answer, the
 * rest after the first list, or before it when a message needs the rest.
 * Owns: what is loaded when, and the messages that wait for it. Leaves alone: the methods (first-list.ts, service.ts), the
 * sources and the end of the server (server.ts).
 * Always true: a handshake waits neither for the skills nor for the code that serves them; any other request waits until
 * the code for it is loaded, and messages that wait begin in the order in which they came.
 */
import type { Refreshed, Registry } from './catalog/registry.ts';
import type { Settings } from './config.ts';
import type { FirstList } from './first-list.ts';
import { cancelled, createClientReport, discoverMethod, handshakeMethods } from './methods/lifecycle.ts';
import { createViews, type Views } from './methods/views.ts';
import type { Source } from './model.ts';
import {
  createDispatcher,
  type Decoded,
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
import { VERSION } from './version.ts';
import { afterAnswers } from './wait.ts';

export interface Loading {
  readonly handle: Handle;
  /** Undefined until they are loaded. */
  tools(): FirstList['tools'] | undefined;
  /** Undefined until it is loaded. */
  service(): Service | undefined;
  /** Loads the rest now if that was not done before; undefined when it cannot be loaded. */
  loadAll(): Promise<Service | undefined>;
}

/** The first scan begins when the tools are loaded. */
export function createLoading(
  settings: Settings,
  sources: readonly Source[],
  registry: Registry,
  report: ReportFault,
): Loading {
  const views = createViews(settings);
  const erasWith = createHandshake(settings, views);
  const answering = (methods: Methods) => {
    const eras = erasWith(methods);
    return { eras, handle: createDispatcher(eras, (method, error) => report(method)(error)) };
  };
  /** What can be answered so far. */
  let loaded = answering({ modern: [], legacy: [], legacyNotifications: [] });
  let tools: FirstList['tools'] | undefined;
  let service: Service | undefined;
  /** The refreshes until the rest is loaded, for those who subscribe before. */
  let missed: Refreshed[] | undefined = [];
  registry.onRefresh((refreshed) => void missed?.push(refreshed));

  const loadTools = async () => {
    const { createFirstList } = await import('./first-list.ts');
    const first = createFirstList(settings, views, registry);
    tools = first.tools;
    loaded = answering({ modern: tools.methods, legacy: tools.methods, legacyNotifications: [] });
    settings.log.info('scanning skill directories');
    const scanned = registry.refresh('start').catch(report('refresh (start)'));
    return { first, scanned };
  };
  const hasTools = afterAnswers().then(loadTools);
  // A client should not wait for watches, nor for code that its first list does not need.
  const firstListSent = hasTools.then(({ scanned }) => scanned).then(afterAnswers);
  const loadRest = async () => {
    const { first } = await hasTools;
    const { createService } = await import('./service.ts');
    const rest = createService(settings, views, first, sources, registry, report);
    const early = missed;
    missed = undefined;
    service = rest;
    loaded = answering(rest.methods);
    firstListSent.then(rest.begin);
    registry.complete().then(rest.explainEmpty).catch(report('the first lists'));
    // After the messages that have waited: they may be subscriptions.
    setImmediate(() => early?.forEach(rest.notify));
  };
  /** For what needs the rest before the first list is sent. */
  let askForRest = () => {};
  const isRestAsked = new Promise<void>((done) => {
    askForRest = done;
  });
  /** Settles when the rest is loaded, or could not be; then `service` is undefined. */
  const hasAll = Promise.race([firstListSent, isRestAsked])
    .then(loadRest)
    .catch((error) => {
      report('loading')(error);
      missed = undefined;
    });

  // At once: a source may change before everything is loaded.
  const refreshEarly = async (reason: string) => {
    await hasTools;
    await registry.refresh(reason);
  };
  const refresh = (reason: string) =>
    service ? service.refresh(reason) : void refreshEarly(reason).catch(report(`refresh (${reason})`));
  for (const source of sources) source.onChange?.(refresh);

  const handshake = loaded.eras;
  /** Settles when every message that had to wait has begun: a message may be about the one before it. */
  let turn: Promise<unknown> = Promise.allSettled([hasTools]);
  const waitFor = async (message: Decoded, isHttp: boolean) => {
    const isNotification = !Array.isArray(message) && message.kind === 'notification';
    const isReady = isKnown(handshake, message);
    if (isReady && !isNotification) return;
    // A client does not wait for the effect of a notification, except over HTTP: the rest need not be loaded sooner.
    if (isNotification && !isHttp && !isReady) return await hasAll;
    turn = turn.then(() => {
      if (isKnown(loaded.eras, message)) return undefined;
      askForRest();
      return hasAll;
    });
    await turn;
  };
  const handleEarly: Handle = async (session, text, exchange) => {
    const message = decode(text);
    await waitFor(message, typeof session === 'function');
    // The client may have left meanwhile.
    if (typeof session === 'object' && session.ended.aborted) return;
    if (service || isKnown(loaded.eras, message)) await loaded.handle(session, text, exchange);
    else if (!Array.isArray(message) && message.kind === 'request') {
      exchange.reply(errorReply(message.id, internalError('the server could not be loaded')));
    }
  };

  return {
    handle: (session, text, exchange) => (service ? loaded.handle : handleEarly)(session, text, exchange),
    tools: () => tools,
    service: () => service,
    async loadAll() {
      askForRest();
      await hasAll;
      return service;
    },
  };
}

// --- internal ---

/** Whether these eras can handle the message. A batch may contain anything. */
function isKnown(eras: readonly Era[], message: Decoded): boolean {
  if (Array.isArray(message)) return false;
  if (message.kind === 'invalid' || message.kind === 'response') return true;
  const table = message.kind === 'request' ? 'methods' : 'notifications';
  return eras.some((era) => era[table].has(message.method));
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
