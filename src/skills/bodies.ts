/**
 * The bodies of skills (their text after the front matter), for one request that reads many.
 * Owns: how long one request waits for upstream servers. Leaves alone: the search (search.ts).
 * Always true: a server that does not answer delays a request by UPSTREAM_TEXTS_MS at most, and no other server's texts.
 */
import type { ListedSkill, Skill } from '../model.ts';
import { pause } from '../wait.ts';
import { bodyOf } from './front-matter.ts';
import { MAX_UPSTREAM_TEXTS, UPSTREAM_LANES, UPSTREAM_TEXTS_MS } from './limits.ts';

/** Undefined when it cannot be read, or was not read in time. */
export type Bodies = (skill: Skill) => Promise<string | undefined>;

/** Asks the upstream servers among them first. The files of this machine are read when they are asked for. */
export async function openBodies(listed: readonly ListedSkill[], signal: AbortSignal): Promise<Bodies> {
  const fetched = new Map<Skill, string>();
  const over = new AbortController();
  const end = AbortSignal.any([signal, over.signal]);
  let room = MAX_UPSTREAM_TEXTS;
  const fetchLane = async (lane: readonly Skill[]) => {
    for (const skill of lane) {
      if (end.aborted || room < 0) return;
      const body = await readBody(skill);
      if (body !== undefined) fetched.set(skill, body);
      room -= body?.length ?? 0;
    }
  };
  const lanes = lanesOf(listed.map(({ skill }) => skill).filter(isUpstream));
  if (lanes.length > 0) await Promise.race([Promise.all(lanes.map(fetchLane)), pause(UPSTREAM_TEXTS_MS, end)]);
  over.abort();
  return async (skill) => (isUpstream(skill) ? fetched.get(skill) : readBody(skill));
}

// --- internal ---

const isUpstream = ({ location }: Skill) => location === 'mcp';

/** Several for each server: one that does not answer delays no other. */
function lanesOf(skills: readonly Skill[]): readonly (readonly Skill[])[] {
  const lanes = new Map<string, Skill[]>();
  for (const [nth, skill] of skills.entries()) {
    const lane = `${nth % UPSTREAM_LANES} ${skill.provider}`;
    if (!lanes.get(lane)?.push(skill)) lanes.set(lane, [skill]);
  }
  return [...lanes.values()];
}

async function readBody(skill: Skill): Promise<string | undefined> {
  try {
    return bodyOf((skill.bytes ?? (await skill.read())).toString());
  } catch {
    return undefined; // Deleted or closed since the scan: a search still finds its name and description.
  }
}
