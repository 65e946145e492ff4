/**
 * The methods of one server. Their names are known at once. Their code is loaded after the handshake: first that of the
 * tools, and the rest after the first list, or before it when a request needs it.
 * Owns: what is loaded when. Leaves alone: the methods (first-list.ts, service.ts), the sources and the end of the server
 * (server.ts).
 * Always true: a handshake waits neither for the skills nor for the code that serves them; a request that waits for its
 * code can be cancelled.
 */
import type { Refreshed, Registry } from './catalog/registry.ts';
import type { Settings } from './config.ts';
import type { FirstList } from './first-list.ts';
import { cancelled, createClientReport, discoverMethod, handshakeMethods } from './methods/lifecycle.ts';
import { setLevelMethod } from './methods/logging.ts';
import { createViews, type Views } from './methods/views.ts';
import type { Source } from './model.ts';
import {
  createDispatcher,
  type Era,
  type Handle,
  legacyEra,
  type Method,
  modernEra,
  type NotificationHandler,
  SKILLS_EXTENSION,
} from './protocol/index.ts';
import type { ReportFault, Service } from './service.ts';
import { VERSION } from './version.ts';
import { afterAnswers } from './wait.ts';

export interface Loading {
  readonly handle: Handle;
  /** Undefined until they are loaded. */
  tools(): FirstList['tools'] | undefined;
  /** Undefined until it is loaded. */
  service(): Service | undefined;
  /** Loads the rest now if that was not done before. */
  loadAll(): Promise<Service>;
}

/** The first scan begins when the tools are loaded. */
export function createLoading(
  settings: Settings,
  sources: readonly Source[],
  registry: Registry,
  report: ReportFault,
): Loading {
  const views = createViews(settings);
  let tools: FirstList['tools'] | undefined;
  let service: Service | undefined;
  /** The refreshes until the rest is loaded, for those who subscribe before. */
  let missed: Refreshed[] | undefined = [];
  registry.onRefresh((refreshed) => void missed?.push(refreshed));

  const loadTools = async () => {
    const { createFirstList } = await import('./first-list.ts');
    const first = createFirstList(settings, views, registry);
    tools = first.tools;
    settings.log.info('scanning skill directories');
    const scanned = registry.refresh('start').catch(report('refresh (start)'));
    return { first, scanned };
  };
  const loadingTools = afterAnswers().then(loadTools);

  const loadRest = async () => {
    const { first } = await loadingTools;
    const { createService } = await import('./service.ts');
    const rest = createService(settings, views, first, sources, registry, report);
    const early = missed;
    missed = undefined;
    service = rest;
    firstListSent.then(rest.begin);
    registry.complete().then(rest.explainEmpty).catch(report('the first lists'));
    // After the messages that have waited: they may be subscriptions.
    setImmediate(() => early?.forEach(rest.notify));
    return rest;
  };
  // A client should not wait for watches, nor for code that its first list does not need.
  const firstListSent = loadingTools.then(({ scanned }) => scanned).then(afterAnswers);
  /** For what needs the rest before the first list is sent. */
  let askForRest = () => {};
  const restAskedFor = new Promise<void>((done) => {
    askForRest = done;
  });
  const loadingRest = Promise.race([firstListSent, restAskedFor]).then(loadRest);
  const loadAll = () => {
    askForRest();
    return loadingRest;
  };
  loadingRest.catch((error) => {
    report('loading')(error);
    missed = undefined;
  });

  // At once: a source may change before everything is loaded.
  const refreshEarly = async (reason: string) => {
    await loadingTools;
    await registry.refresh(reason);
  };
  const refresh = (reason: string) =>
    service ? service.refresh(reason) : void refreshEarly(reason).catch(report(`refresh (${reason})`));
  for (const source of sources) source.onChange?.(refresh);

  const tooled = (name: string) => lateMethod(name, async () => (await loadingTools).first.tools.methods, false);
  const late = (name: string) => lateMethod(name, async () => (await loadAll()).methods, name === LISTEN);
  const initialized: NotificationHandler = {
    name: 'notifications/initialized',
    // Every client sends it before it asks for its first list, so the rest is not loaded for it.
    run: (params, session) => void loadingRest.then((rest) => rest.initialized.run(params, session)).catch(() => {}),
  };
  const shared = [...TOOLS.map(tooled), ...(settings.prompts ? PROMPTS : []).map(late), ...SHARED.map(late)];
  const eras = createEras(settings, views, {
    modern: [...shared, late(LISTEN)],
    legacy: [...shared, ...LEGACY.map(late), setLevelMethod(sources)],
    legacyNotifications: [initialized],
  });
  return {
    handle: createDispatcher(eras, (method, error) => report(method)(error)),
    tools: () => tools,
    service: () => service,
    loadAll,
  };
}

// --- internal ---

const TOOLS = ['tools/list', 'tools/call'];
const PROMPTS = ['prompts/list', 'prompts/get'];
const SHARED = [
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/directory/read',
  'skills/list',
  'skills/get',
  'completion/complete',
];
const LISTEN = 'subscriptions/listen';
const LEGACY = ['resources/subscribe', 'resources/unsubscribe'];

/** `load` gives this method, among others. */
function lateMethod(name: string, load: () => Promise<readonly Method[]>, streams: boolean): Method {
  let loaded: Method | undefined;
  const runLater: Method['run'] = async (params, call) => {
    loaded ??= (await load()).find((method) => method.name === name);
    if (!loaded) throw new Error('this method was not loaded');
    // A request that was cancelled meanwhile is not answered.
    return call.cancellation.aborted ? {} : loaded.run(params, call);
  };
  return {
    name,
    streams,
    /** Read when the result is there, and with it the method. */
    get cache() {
      return loaded?.cache;
    },
    run: (params, call) => (loaded ? loaded.run(params, call) : runLater(params, call)),
  };
}

interface Methods {
  readonly modern: readonly Method[];
  readonly legacy: readonly Method[];
  readonly legacyNotifications: readonly NotificationHandler[];
}

/** Both eras, with their handshakes and the methods besides. */
function createEras({ log, prompts }: Settings, views: Views, besides: Methods): readonly Era[] {
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
  return [
    modernEra(
      { methods: [discoverMethod(introduction), ...besides.modern], notifications: [cancelled] },
      introduction.server,
      onRequest,
    ),
    legacyEra({
      methods: [...handshakeMethods(introduction), ...besides.legacy],
      notifications: [cancelled, ...besides.legacyNotifications],
    }),
  ];
}
