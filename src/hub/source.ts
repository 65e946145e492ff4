/**
 * The upstream servers as a source for the catalogue.
 * Owns: passing calls, answers and progress on whole. Leaves alone: the servers (fleet.ts), filters (catalog/snapshot.ts).
 * Always true: loading never waits for a server, except for a moment the first time, so that the first list is whole
 * when everything is quick.
 */
import type { Log } from '../log.ts';
import { messageOf } from '../log.ts';
import type { Contribution, ForeignTool, Source, ToolCall, ToolResult } from '../model.ts';
import { isObject, type Params, RpcError } from '../protocol/index.ts';
import { VERSION } from '../version.ts';
import { type FileOptions, readConfiguration } from './files.ts';
import { createFleet, type FleetTool, publicName } from './fleet.ts';
import type { Offer } from './inventory.ts';
import { checkParamHeaders } from './param-headers.ts';
import type { UpstreamStatus } from './upstream.ts';

export interface HubSourceOptions extends FileOptions {
  readonly healthInterval: number;
  readonly log: Log;
}

export interface HubSource extends Source {
  status(): readonly UpstreamStatus[];
  /** Ends every server; settles when nothing of them is left. */
  close(): Promise<void>;
}

/** `changed`: something is different from what `load` last gave. */
export function createHubSource(options: HubSourceOptions, changed: (reason: string) => void): HubSource {
  const { env, log, healthInterval } = options;
  const client = { name: 'skillwire', version: VERSION };
  const fleet = createFleet({ env, log, healthInterval, client, changed: (name) => changed(`server ${name}`) });
  let first = true;
  let last:
    | { readonly contribution: Contribution; readonly offers: readonly Offer[]; readonly files: string }
    | undefined;

  return {
    name: 'hub',
    async load() {
      const { plans, problems, watched } = readConfiguration(options);
      fleet.apply(plans);
      if (first) await Promise.race([fleet.settled(), wait(FIRST_PATIENCE_MS)]);
      first = false;
      const offers = fleet.upstreams().map((one) => one.offer());
      const files = JSON.stringify([plans.map(({ key }) => key), problems]);
      const same = last?.files === files && sameItems(last.offers, offers);
      if (last && same) return last.contribution;
      const contribution = {
        skills: [],
        tools: fleet.tools().map(foreignTool),
        resources: [],
        problems: [...problems, ...offers.flatMap((offer) => offer.problems)],
        watched,
        unsettled: false,
      };
      last = { contribution, offers, files };
      return contribution;
    },
    status: fleet.status,
    close: fleet.close,
  };
}

// --- internal ---

// Many clients ask for the list once and never again. Most servers answer within this; nobody notices the wait.
const FIRST_PATIENCE_MS = 1000;

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, milliseconds).unref());
}

function foreignTool(one: FleetTool): ForeignTool {
  const { server, tool } = one;
  const name = publicName(one);
  const inputSchema = tool.definition.inputSchema as object;
  return {
    name,
    server,
    short: tool.name,
    fresh: false,
    // The definition came from outside and is passed on whole; only what a tool must have was looked at.
    define: (_snapshot, view) => ({ ...tool.definition, inputSchema, name: view.spell(name) }),
    run(args, _snapshot, call) {
      checkParamHeaders(inputSchema, isObject(args) ? args : {}, call.peer.claims);
      return pass(one, name, args, call);
    },
  };
}

async function pass(one: FleetTool, name: string, args: unknown, call: ToolCall): Promise<ToolResult> {
  const { params, signal, notify } = call;
  const { progressToken, ...meta } = isObject(params._meta) ? params._meta : {};
  const { inputResponses, requestState } = params;
  const onProgress =
    progressToken === undefined
      ? undefined
      : (report: Params) => notify('notifications/progress', { ...report, progressToken });
  const passed = {
    arguments: args,
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
    ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}),
  };
  try {
    return (await one.call({ params: passed, signal, onProgress })) as ToolResult;
  } catch (error) {
    if (error instanceof RpcError) throw error;
    return { content: [{ type: 'text', text: `${name} could not be called: ${messageOf(error)}` }], isError: true };
  }
}
