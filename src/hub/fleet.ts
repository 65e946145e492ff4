/**
 * All upstream servers together.
 * Owns: which of them run, and what their tools are called outside. Leaves alone: one of them (upstream.ts), where
 * their configuration comes from (files.ts).
 * Always true: servers start, fail and end side by side; a change of one touches no other.
 */
import { createHash } from 'node:crypto';
import { platform as platformOf } from 'node:os';
import type { Lineage } from '../lineage.ts';
import type { Log } from '../log.ts';
import type { Absent } from '../model.ts';
import type { Params } from '../protocol/index.ts';
import { createFilter } from '../skills/filter.ts';
import { visibleLine } from '../text.ts';
import type { State } from './condition.ts';
import { idlePlan, type Plan } from './config.ts';
import type { Identity } from './dialects.ts';
import type { UpstreamTool } from './inventory.ts';
import { baseEnvironment, type Environment } from './launch.ts';
import { createReaper } from './reaper.ts';
import { type CallRequest, createUpstream, type Upstream, type UpstreamStatus } from './upstream.ts';

export interface FleetOptions {
  readonly env: Environment;
  readonly log: Log;
  readonly client: Identity;
  /** Where we stand among hubs that reach each other over HTTP. */
  readonly lineage: Lineage;
  readonly healthInterval: number;
  /** What is offered by the server of that name has changed. */
  changed(name: string): void;
}

/** A tool, and how to call it. */
export interface FleetTool {
  readonly server: string;
  readonly tool: UpstreamTool;
  call(request: CallRequest): Promise<Params>;
}

export interface Fleet {
  /** From now on exactly these: new and changed ones start, missing and changed ones end, the rest go on. */
  apply(plans: readonly Plan[]): void;
  upstreams(): readonly Upstream[];
  /** Sorted by server and then as the server lists them. */
  tools(): readonly FleetTool[];
  status(): readonly UpstreamStatus[];
  /** What a public name would be the name of, were its server ready; or has become, where it is only just ready. */
  findAbsent(name: string): Absent | undefined;
  /** Settles when each is ready or has failed once. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export function createFleet({ env, log, client, lineage, healthInterval, changed }: FleetOptions): Fleet {
  const platform = platformOf();
  const reaper = createReaper(platform, env);
  const running = new Map<string, Member>();
  const leaving = new Set<Promise<void>>();
  let closed = false;
  const inherited = baseEnvironment(env);
  const ancestors = (env[LINEAGE] ?? '').split(' ').filter((one) => one !== '');
  // Those that run us are in front of us too when we reach for them over HTTP.
  lineage.isCircle(ancestors.join(' '));

  function start(plan: Plan): Upstream {
    const ready = withLineage(plan);
    return createUpstream(ready, { client, lineage, log, healthInterval, changed, stdio: { platform, env, reaper } });
  }

  /** A hub may run a hub; but a server that is already among those we run in would run us for ever. */
  function withLineage(plan: Plan): Plan {
    const { way } = plan;
    if (way.kind !== 'stdio') return plan;
    const mark = createHash('sha256')
      .update(JSON.stringify([way.command, way.args, way.cwd]))
      .digest('hex')
      .slice(0, 16);
    if (ancestors.includes(mark))
      return idlePlan(plan.name, plan.from, 'failed', 'not started: this hub runs inside it');
    const line = [...ancestors, mark, lineage.text()].join(' ');
    return { ...plan, way: { ...way, env: { ...inherited, ...way.env, [LINEAGE]: line } } };
  }

  function stop(upstream: Upstream, reason: string): void {
    const gone = upstream.close(reason).finally(() => leaving.delete(gone));
    leaving.add(gone);
  }

  const upstreams = () => [...running.values()].map(({ upstream }) => upstream);
  const byName = () => upstreams().sort((a, b) => (a.plan.name < b.plan.name ? -1 : 1));

  return {
    apply(plans) {
      // A refresh may still be under way then.
      if (closed) return;
      const wanted = new Map(plans.map((plan) => [plan.name, plan]));
      for (const [name, { key, upstream }] of running) {
        if (wanted.get(name)?.key === key) continue;
        running.delete(name);
        stop(upstream, EDITED);
        const news = newsOf(upstream.plan, wanted.get(name));
        if (news !== undefined) log.info(`server ${name}: ${news}`);
      }
      for (const [name, plan] of wanted) {
        if (!running.has(name)) running.set(name, { key: plan.key, upstream: start(plan) });
      }
    },
    upstreams: byName,
    tools: () =>
      byName().flatMap((upstream) =>
        upstream.offer().tools.map((tool) => ({
          server: upstream.plan.name,
          tool,
          call: (request: CallRequest) => upstream.call(tool, request),
        })),
      ),
    status: () => byName().map((upstream) => upstream.status()),
    findAbsent(name) {
      for (const { plan, whenReady, status } of byName()) {
        const short = shortName(plan.name, name);
        if (short === undefined || OUT_OF_USE.includes(status().state)) continue;
        const subject = { name: short, group: plan.name };
        if (createFilter(plan.filter)([subject], (one) => one, []).kept.length === 0) continue;
        return { server: plan.name, short, wait: whenReady };
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
      reaper.close();
    },
  };
}

/** Server names hold no colon, so this names one tool of one server. */
export const publicName = ({ server, tool }: FleetTool) => `${server}:${visibleLine(tool.name)}`;

// --- internal ---

const OUT_OF_USE: readonly State[] = ['untrusted', 'disabled'];
const EDITED = 'its configuration was changed';

/** What an edit has done to a server, as far as its next state does not tell. */
function newsOf({ way }: Plan, next: Plan | undefined): string | undefined {
  if (!next) return 'removed from the configuration';
  if (next.way.kind === 'none') return `${next.way.state}: ${next.way.reason}`;
  return way.kind === 'none' ? undefined : `restarting: ${EDITED}`;
}

/** What is left of a public name behind its server's, in either spelling. */
function shortName(server: string, name: string): string | undefined {
  const fronts = [`${server}:`, `${server.replace(/[^A-Za-z0-9_-]/g, '_')}__`];
  const front = fronts.find((one) => name.startsWith(one));
  return front === undefined ? undefined : name.slice(front.length);
}

interface Member {
  /** Of the plan that was asked for, which is not always the one that is carried out. */
  readonly key: string;
  readonly upstream: Upstream;
}

/** The servers that we run inside of, each by what it is started with, and the hubs in front of us, each by its name. */
const LINEAGE = 'SKILLWIRE_LINEAGE';
