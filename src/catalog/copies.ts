/**
 * Which skills are copies of each other: directories with the same files, byte for byte.
 * Owns: the comparison. Leaves alone: how copies are listed (snapshot.ts).
 * Always true: only skills of one name are compared, by digests, and only changed files are read again.
 */
import type { Skill } from '../model.ts';

/** Equal for skills with the same content. A skill that no other has the name of, or that cannot be read, has none. */
export type Fingerprints = ReadonlyMap<Skill, string>;

export const NO_FINGERPRINTS: Fingerprints = new Map();

export async function findFingerprints(skills: readonly Skill[]): Promise<Fingerprints> {
  const places = new Map<string, Set<string>>();
  // Skills of upstream servers are not fetched only to be compared.
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
