/**
 * The bodies of skills (their text after the front matter), for one request that reads many.
 * Owns: how long one request waits for upstream servers. Leaves alone: the search (search.ts).
 * Always true: a server that does not answer delays a request by UPSTREAM_TEXTS_MS at most, and no other server's texts.
 */

import { createPacer } from '../files/pace.ts';
import type { ListedSkill, Skill } from '../model.ts';
import { bodyStart } from './front-matter.ts';
import { MAX_UPSTREAM_TEXTS, UPSTREAM_LANES, UPSTREAM_TEXTS_MS } from './limits.ts';

export interface Bodies {
  /** Undefined when it cannot be read, or not in time. */
  of(skill: Skill): Promise<string | undefined>;
  /** Calls `act` for each skill, with breaks: local skills in their order, those of each server at the same time. */
  visit(listed: readonly ListedSkill[], act: (one: ListedSkill) => Promise<void>): Promise<void>;
  /** Must be called at the end of the request. */
  close(): void;
}

export function createBodies(signal: AbortSignal): Bodies {
  const asked = new Map<Skill, Promise<string | undefined>>();
  let room = MAX_UPSTREAM_TEXTS;
  let isOver = false;
  let end = () => {};
  const over = new Promise<undefined>((done) => {
    end = () => {
      isOver = true;
      done(undefined);
    };
  });
  const timer = setTimeout(end, UPSTREAM_TEXTS_MS);

  async function readUpstream(skill: Skill): Promise<string | undefined> {
    const body = await readBody(skill);
    room -= body?.length ?? 0;
    if (room < 0) asked.delete(skill);
    return body;
  }

  return {
    of(skill) {
      if (skill.location !== 'mcp') return readBody(skill);
      const known = asked.get(skill) ?? (isOver ? over : Promise.race([readUpstream(skill), over]));
      asked.set(skill, known);
      return known;
    },
    async visit(listed, act) {
      const pace = createPacer();
      const walk = async (lane: readonly ListedSkill[]) => {
        for (const one of lane) {
          await pace();
          if (signal.aborted) return;
          await act(one);
        }
      };
      await Promise.all(lanesOf(listed).map(walk));
    },
    close() {
      clearTimeout(timer);
      end();
    },
  };
}

// --- internal ---

async function readBody(skill: Skill): Promise<string | undefined> {
  try {
    const text = skill.text ?? (await skill.read());
    return text.slice(bodyStart(text));
  } catch {
    return undefined; // Deleted or closed since the scan: a search still finds its name and description.
  }
}

/** One lane for local skills, and several for each server: a server that does not answer delays no other. */
function lanesOf(listed: readonly ListedSkill[]): readonly (readonly ListedSkill[])[] {
  const lanes = new Map<string, ListedSkill[]>();
  let nth = 0;
  for (const one of listed) {
    const { location, provider } = one.skill;
    const name = location === 'mcp' ? `${nth++ % UPSTREAM_LANES} ${provider}` : '';
    const lane = lanes.get(name);
    if (lane) lane.push(one);
    else lanes.set(name, [one]);
  }
  return [...lanes.values()];
}
