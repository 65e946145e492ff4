/**
 * Entries of `skills/list` of upstream servers.
 * Owns: which entries are valid, and which URIs are those of their files. Leaves alone: reading the files (skills.ts).
 * Always true: every file of an entry is inside the directory of its skill.
 */
import * as v from 'valibot';
import { compare } from '../../compare.ts';
import type { Params } from '../../protocol/index.ts';
import { isPlainSegment } from '../../skills/uris.ts';
import { checkName } from './definitions.ts';
import { MAX_SKILL_FILES, MAX_URI } from './limits.ts';

export interface UpstreamSkill {
  /** Its front matter. */
  readonly head: { readonly name: string; readonly description: string; readonly [field: string]: unknown };
  /** The URI of the directory on its server. */
  readonly base: string;
  /** Each path once; undefined when the server makes the files on demand, without digests. */
  readonly files: readonly UpstreamFile[] | undefined;
}

const nonEmpty = (field: string) => v.pipe(v.string(`${field} is not text`), v.nonEmpty(`${field} is empty`));

const FileEntry = v.object({
  uri: v.string(),
  digest: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
  size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});

export type UpstreamFile = v.InferOutput<typeof FileEntry> & { readonly path: string };

const Entry = v.object({
  uri: v.pipe(
    nonEmpty('its uri'),
    v.regex(/^[a-z][a-z0-9+.-]*:\/\/[^/].*\/SKILL\.md$/i, 'its uri is not that of a SKILL.md'),
    v.maxLength(MAX_URI, `its uri is over ${MAX_URI} characters`),
  ),
  frontmatter: v.looseObject(
    { name: nonEmpty('its name'), description: nonEmpty('its description') },
    'it has no front matter',
  ),
  resources: v.union([v.literal('dynamic'), v.array(FileEntry)], 'its files are not listed with size and digest'),
});

/** Throws an Error that says what is wrong with the entry. */
export function parseSkillEntry(raw: Params): UpstreamSkill {
  const parsed = v.safeParse(Entry, raw);
  if (!parsed.success) throw new Error(parsed.issues[0].message);
  const { uri, frontmatter: head, resources } = parsed.output;
  const base = uri.slice(0, -'/SKILL.md'.length);
  checkName(head.name);
  if (segmentsOf(base).at(-1) !== head.name) throw new Error('its uri does not end with its name');
  if (resources === 'dynamic') return { head, base, files: undefined };
  if (resources.length > MAX_SKILL_FILES) throw new Error(`it has over ${MAX_SKILL_FILES} files`);
  const files = new Map<string, UpstreamFile>();
  for (const file of resources) {
    if (!file.uri.startsWith(`${base}/`)) throw new Error('it lists a file outside its directory');
    const path = plainSegments(file.uri.slice(base.length + 1)).join('/');
    files.set(path, { ...file, path });
  }
  if (!files.has('SKILL.md')) throw new Error('its SKILL.md is not among its files');
  return { head, base, files: [...files.values()] };
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

/** Throws when a part of the path could lead elsewhere, or its percent-encoding is broken. */
function plainSegments(path: string): readonly string[] {
  const segments = path.split('/').map(decodeURIComponent);
  if (!segments.every((one) => one.isWellFormed() && isPlainSegment(one))) throw new Error('it has an invalid path');
  return segments;
}
