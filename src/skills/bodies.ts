/**
 * The texts of skills behind their front matter, for one request that looks at many.
 * Owns: how long one request waits for upstream servers. Leaves alone: what is looked for (search.ts).
 * Always true: an upstream server that does not answer costs a request PATIENCE_MS at most, and nobody else's texts.
 */

import { createPacer } from '../files/pace.ts';
import type { ListedSkill, Skill } from '../model.ts';
import { bodyStart } from './front-matter.ts';

/** A person or a model waits for a search; what a server gives later is there for the next one. */
export const PATIENCE_MS = 2000;

export interface Bodies {
  /** Undefined when it cannot be read, or not in time. */
  of(skill: Skill): Promise<string | undefined>;
  /** Calls `look` for each, with rests in between: our own in their order, those of each server beside them. */
  visit(listed: readonly ListedSkill[], statOf: (one: ListedSkill) => Promise<void>): Promise<void>;
  /** Nothing more is wanted. */
  close(): void;
}

export function createBodies(signal: AbortSignal): Bodies {
  const asked = new Map<Skill, Promise<string | undefined>>();
  let room = MOST_HELD;
  let isOver = false;
  let end = () => {};
  const over = new Promise<undefined>((done) => {
    end = () => {
      isOver = true;
      done(undefined);
    };
  });
  const timer = setTimeout(end, PATIENCE_MS);

  async function fetch(skill: Skill): Promise<string | undefined> {
    const body = await bodyIn(skill);
    room -= body?.length ?? 0;
    if (room < 0) asked.delete(skill);
    return body;
  }

  return {
    of(skill) {
      if (skill.location !== 'mcp') return bodyIn(skill);
      const known = asked.get(skill) ?? (isOver ? over : Promise.race([fetch(skill), over]));
      asked.set(skill, known);
      return known;
    },
    async visit(listed, statOf) {
      const pace = createPacer();
      const walk = async (lane: readonly ListedSkill[]) => {
        for (const one of lane) {
          await pace();
          if (signal.aborted) return;
          await statOf(one);
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

// Of what upstream servers gave for one request, in characters: an excerpt is then cut without asking again.
const MOST_HELD = 16 * 1024 * 1024;
// So many skills of one server are asked for at a time.
const LANES = 4;

async function bodyIn(skill: Skill): Promise<string | undefined> {
  try {
    const text = skill.text ?? (await skill.read());
    return text.slice(bodyStart(text));
  } catch {
    return undefined; // Gone or closed since the scan: its name and description can still be found.
  }
}

/** All that lies on this machine, and for every server some lanes of its own: a silent one holds up nobody else. */
function lanesOf(listed: readonly ListedSkill[]): readonly (readonly ListedSkill[])[] {
  const lanes = new Map<string, ListedSkill[]>();
  let nth = 0;
  for (const one of listed) {
    const { location, provider } = one.skill;
    const name = location === 'mcp' ? `${nth++ % LANES} ${provider}` : '';
    const lane = lanes.get(name);
    if (lane) lane.push(one);
    else lanes.set(name, [one]);
  }
  return [...lanes.values()];
}
