/**
 * `skillwire doctor`: reports which skills were found where, all problems, and the states of upstream servers.
 * Owns: the report, for people and for programs. Leaves alone: finding out (server.ts).
 * Always true: the report contains no secrets; text from outside is escaped.
 */
import { createSkillwire, type Problem, type Skillwire, type Snapshot, type UpstreamStatus } from '../index.ts';
import { printable, printableJson } from '../text.ts';
import type { DoctorCommand } from './parse.ts';
import { workingDirectory } from './process.ts';

export interface Report {
  readonly skills: number;
  readonly roots: readonly RootCount[];
  readonly problems: readonly Problem[];
  readonly upstreams: readonly UpstreamStatus[];
}

export interface RootCount {
  readonly directory: string;
  readonly provider: string;
  readonly location: string;
  readonly skills: number;
}

export async function doctor({ options, json }: DoctorCommand): Promise<void> {
  const { env, stdout } = process;
  const skillwire = createSkillwire({ ...options, cwd: workingDirectory(), env, autoRefresh: false });
  await skillwire.registry.ready();
  await settled(skillwire);
  const problems = await skillwire.examine();
  const report = reportOf(await skillwire.registry.ready(), problems, skillwire.status());
  await skillwire.close();
  stdout.write(json ? `${printableJson(report)}\n` : textOf(report, options.hub ?? false));
}

// --- internal ---

// A server that has not answered by then is shown as connecting.
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 50;

async function settled({ status }: Skillwire): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  const pending = () => status().some(({ state, reason }) => state === 'connecting' && reason === undefined);
  while (pending() && performance.now() < deadline) await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
}

function reportOf({ names }: Snapshot, problems: readonly Problem[], upstreams: readonly UpstreamStatus[]): Report {
  const roots = new Map<string, RootCount>();
  for (const { skill } of names.listed) {
    const { root: directory, provider, location } = skill;
    const key = `${directory}\0${provider}`;
    roots.set(key, { directory, provider, location, skills: (roots.get(key)?.skills ?? 0) + 1 });
  }
  return { skills: names.listed.length, roots: [...roots.values()], problems, upstreams };
}

function textOf({ skills, roots, problems, upstreams }: Report, hub: boolean): string {
  const sections = [
    [
      `Skills: ${skills}`,
      ...roots.map((root) => `${root.skills} in ${root.directory} (${root.provider}, ${root.location})`),
    ],
    [`Problems: ${problems.length}`, ...problems.map(({ where, what }) => `${where}: ${what}`)],
    [hub ? `Servers: ${upstreams.length}` : 'Servers: not checked (--hub checks them)', ...upstreams.map(lineOf)],
  ];
  return `${sections.map((lines) => lines.map(printable).join('\n  ')).join('\n\n')}\n`;
}

function lineOf({ name, state, transport, tools, reason, protocol, from }: UpstreamStatus): string {
  const about = state === 'ready' ? `${tools} tools, ${transport}, protocol ${protocol}` : (reason ?? 'no answer yet');
  return `${name}: ${state}: ${about} (${from})`;
}
