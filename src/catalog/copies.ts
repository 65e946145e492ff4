/**
 * Which skills are copies of each other: directories with the same files, byte for byte.
 * Owns: what is compared. Leaves alone: what a copy means (snapshot.ts).
 * Always true: only skills of one name are compared, as digests of files that have changed since the last time.
 */
import type { Skill } from '../model.ts';

/** Equal for two skills whose directories hold the same; skills that have no namesake, or cannot be compared, have none. */
export type Fingerprints = ReadonlyMap<Skill, string>;

export const NO_FINGERPRINTS: Fingerprints = new Map();

export async function findFingerprints(skills: readonly Skill[]): Promise<Fingerprints> {
  const places = new Map<string, Set<string>>();
  // What lies on a server is not fetched only to be compared.
  const local = skills.filter(({ location }) => location !== 'mcp');
  for (const { key, place } of local) places.set(key, (places.get(key) ?? new Set()).add(place));
  const found = new Map<Skill, string>();
  for (const skill of local) {
    if ((places.get(skill.key)?.size ?? 0) < 2) continue;
    const content = await contentOf(skill);
    if (content !== undefined) found.set(skill, `${skill.key}\0${content}`);
  }
  return found;
}

export function sameFingerprints(a: Fingerprints, b: Fingerprints): boolean {
  return a.size === b.size && [...a].every(([skill, content]) => b.get(skill) === content);
}

// --- internal ---

async function contentOf({ files }: Skill): Promise<string | undefined> {
  const reading = await files.manifest(new AbortController().signal);
  const all = reading.kind === 'whole' ? reading.manifest.files : reading.kind === 'unfit' ? reading.files : undefined;
  return typeof all === 'object' ? JSON.stringify(all) : undefined;
}
