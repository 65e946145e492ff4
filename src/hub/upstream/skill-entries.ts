/**
 * Entries of `skills/list` of upstream servers.
 * Owns: which entries are valid, and which URIs are those of their files. Leaves alone: reading the files (skills.ts).
 * Always true: every file of an entry is inside the directory of its skill.
 */
import * as v from 'valibot';
import { compare } from '../../compare.ts';
import type { ManifestFile } from '../../model.ts';
import type { Params } from '../../protocol/index.ts';
import { isPlainSegment } from '../../skills/uris.ts';
import { visibleLine } from '../../text.ts';
import { nameFault } from './definitions.ts';
import { MAX_SKILL_FILES, MAX_URI } from './limits.ts';

/** One entry of `skills/list`. */
export interface UpstreamSkill {
  readonly name: string;
  readonly description: string;
  readonly head: Readonly<Record<string, unknown>>;
  /** The URI of the directory on its server. */
  readonly base: string;
  /** Undefined when the server makes the files on demand, without digests. */
  readonly files: readonly UpstreamFile[] | undefined;
}

export interface UpstreamFile extends ManifestFile {
  readonly uri: string;
}

const nonEmpty = (field: string) => v.pipe(v.string(`${field} is not text`), v.nonEmpty(`${field} is empty`));

export const Entry = v.object(
  {
    uri: v.pipe(
      nonEmpty('its uri'),
      v.regex(/^[a-z][a-z0-9+.-]*:\/\/[^/].*\/SKILL\.md$/i, 'its uri is not that of a SKILL.md'),
    ),
    frontmatter: v.looseObject(
      { name: nonEmpty('its name'), description: nonEmpty('its description') },
      'it has no front matter',
    ),
    resources: v.union(
      [
        v.literal('dynamic'),
        v.array(
          v.object({
            uri: v.string(),
            digest: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
            size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
          }),
        ),
      ],
      'its files are not listed with size and digest',
    ),
  },
  'it is not an object',
);

/** Throws an Error that says what is wrong with the entry. */
export function parseSkillEntry(raw: Params): UpstreamSkill {
  const parsed = v.safeParse(Entry, raw);
  if (!parsed.success) throw new Error(parsed.issues[0].message);
  const { uri, frontmatter, resources } = parsed.output;
  const base = uri.slice(0, -'/SKILL.md'.length);
  const { name, description } = frontmatter;
  if (uri.length > MAX_URI) throw new Error(`its uri is over ${MAX_URI} characters`);
  if (resources !== 'dynamic' && resources.length > MAX_SKILL_FILES)
    throw new Error(`it has over ${MAX_SKILL_FILES} files`);
  const fault = nameFault(visibleLine(name));
  if (fault !== undefined) throw new Error(fault);
  if (segmentsOf(base).at(-1) !== name) throw new Error('its uri does not end with its name');
  if (resources === 'dynamic') return { name, description, head: frontmatter, base, files: undefined };
  const files = resources.map((file) => ({ ...file, path: pathOf(base, file.uri) }));
  if (!files.some(({ path }) => path === 'SKILL.md')) throw new Error('its SKILL.md is not among its files');
  return { name, description, head: frontmatter, base, files };
}

/** A test whether a URI, as the server writes it, is that of a file of one of its skills. */
export function skillFileTest(skills: readonly UpstreamSkill[]): (uri: string) => boolean {
  // Sorted, and without directories inside another one: only the last that is not after a URI can be its beginning.
  const directories: string[] = [];
  for (const base of skills.map((skill) => `${skill.base}/`).sort(compare))
    if (!base.startsWith(directories.at(-1) ?? '/')) directories.push(base);
  return (uri) => {
    let [low, high] = [0, directories.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(directories[middle] ?? '', uri) <= 0) low = middle + 1;
      else high = middle;
    }
    const before = directories[low - 1];
    return before !== undefined && uri.startsWith(before);
  };
}

/** The path in a URI, without its scheme. */
export function segmentsOf(uri: string): readonly string[] {
  return plainSegments(uri.replace(/^[^:]*:\/\//, ''));
}

// --- internal ---

/** The path of a file in its skill; throws when the file is outside, or could be read as being outside. */
function pathOf(base: string, uri: string): string {
  if (!uri.startsWith(`${base}/`)) throw new Error('it lists a file outside its directory');
  return plainSegments(uri.slice(base.length + 1)).join('/');
}

function plainSegments(path: string): readonly string[] {
  return path.split('/').map((part) => {
    const segment = decoded(part);
    if (!segment?.isWellFormed() || !isPlainSegment(segment)) throw new Error('it has an invalid path');
    return segment;
  });
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined; // The percent-encoding is broken.
  }
}
