/**
 * `skills/list` and `skills/get`: the Skills extension (SEP-2640).
 * Owns: the entries, the rules that a skill must meet to have one, and the Problems of skills that do not.
 * Leaves alone: digests and front matter (skills/contents.ts).
 * Always true:
 * - an entry is complete and of one version of the skill; entries of one response agree about a file that they share;
 * - a skill that cannot have an entry is a Problem as long as that is so, and still loads by tool.
 */
import * as v from 'valibot';
import type { FirstLists } from '../catalog/first-lists.ts';
import type { Log } from '../log.ts';
import type { FileRecord, ListedSkill, Problem, Skill, Snapshot } from '../model.ts';
import { internalError, isObject, type Method, type Params } from '../protocol/index.ts';
import { UNLAWFUL, VALID_NAME } from '../skills/front-matter.ts';
import { skillPathAt, uriOf } from '../skills/uris.ts';
import { visible, visibleLine } from '../text.ts';
import { delay } from '../wait.ts';
import { NO_CACHE } from './cache-hints.ts';
import { PAGE_FILES, SKILLS_PAGE } from './limits.ts';
import { cursorAfter, indexAfter } from './pagination.ts';
import { nothingAt, uriParam } from './resources.ts';

/** What the Agent Skills specification asks of front matter. One bad entry makes SDK hosts refuse the whole list. */
const Head = v.looseObject({
  name: v.string('name is not text'),
  description: v.pipe(
    v.string('description is not text'),
    v.check((text) => within(text, 1024), 'description is not 1 to 1024 characters'),
  ),
  compatibility: v.optional(
    v.pipe(
      v.string('compatibility is not text'),
      v.check((text) => within(text, 500), 'compatibility is not 1 to 500 characters'),
    ),
  ),
  metadata: v.optional(
    v.pipe(
      v.custom<Params>(isObject, 'metadata is not a map'),
      v.record(v.string(), v.string('metadata holds something else than text')),
    ),
  ),
});

export interface SkillEntry {
  readonly uri: string;
  readonly frontmatter: Readonly<Record<string, unknown>>;
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[] | 'dynamic';
}

export interface SkillsExtension {
  readonly methods: readonly Method[];
  /** Reads every skill once, so that all which cannot be listed are known. */
  examine(snapshot: Snapshot, signal: AbortSignal): Promise<void>;
  /** The skills of the snapshot that are known to be left out of `skills/list`: finding out takes reading their files. */
  problems(snapshot: Snapshot): readonly Problem[];
}

export function createSkillsExtension(lists: FirstLists, log: Log): SkillsExtension {
  const leftOut = new WeakMap<Skill, Problem>();

  /** For one request. */
  function createReader(signal: AbortSignal): EntryReader {
    const records = new Map<string, FileRecord>();
    let hasWaited = false;
    return async (root, { skill }) => {
      // Known since the scan, which has made it a Problem. The skill's files are resources like any other.
      if (!VALID_NAME.test(skill.name)) return { kind: 'unfit', why: UNLAWFUL };
      let reading = await readEntry(root, skill, records, signal);
      if (reading.kind === 'gone' && !hasWaited) {
        // Once per request, however many skills are gone: a deleted one does not come back.
        hasWaited = true;
        await delay(GRACE_MS);
        reading = await readEntry(root, skill, records, signal);
      }
      note(skill, reading);
      return reading;
    };
  }

  function note(skill: Skill, reading: EntryReading): void {
    if (reading.kind === 'whole') leftOut.delete(skill);
    if (reading.kind !== 'unfit') return;
    const what = `is not in skills/list, because ${reading.why}`;
    if (leftOut.get(skill)?.what === what) return;
    leftOut.set(skill, { where: skill.file, what });
    log.warn(`${skill.file}: ${what}`);
  }

  const list: Method = {
    name: 'skills/list',
    cache: NO_CACHE,
    async run({ cursor }, { signal }) {
      const { uris } = await lists.complete();
      const roots = [...uris.roots];
      const rest = roots.slice(indexAfter('skills', roots, ([root]) => root, cursor));
      const entryOf = createReader(signal);
      const skills: SkillEntry[] = [];
      let files = 0;
      // Sorted by URI, so that a skill comes before those inside it and has read their files.
      for (const [at, [root, listed]] of rest.entries()) {
        if (signal.aborted) break;
        const reading = await entryOf(root, listed);
        if (reading.kind !== 'whole') continue;
        skills.push(reading.entry);
        files += reading.entry.resources.length;
        const isFull = skills.length >= SKILLS_PAGE || files >= PAGE_FILES;
        if (isFull && at < rest.length - 1) return { skills, nextCursor: cursorAfter('skills', root) };
      }
      return { skills };
    },
  };

  const get: Method = {
    name: 'skills/get',
    cache: NO_CACHE,
    async run({ uri: asked }, { signal }) {
      const uri = uriParam(asked);
      const place = await lists.lookUp(({ uris }) => skillPathAt(uris, uri));
      if (place?.path !== 'SKILL.md') throw nothingAt(uri, 'no skill is served there');
      const reading = await createReader(signal)(place.root, place.listed);
      switch (reading.kind) {
        case 'whole':
          return { skill: reading.entry };
        case 'unfit':
          throw nothingAt(uri, `no skill is served there, because ${reading.why}`);
        case 'gone':
          throw nothingAt(uri, 'no skill is served there any more');
        case 'moving':
          throw internalError(`${uri} is changing right now; ask again`);
      }
    },
  };

  return {
    methods: [list, get],
    async examine({ uris }, signal) {
      const entryOf = createReader(signal);
      for (const [root, listed] of uris.roots) await entryOf(root, listed);
    },
    problems: ({ names }) => names.listed.flatMap(({ skill }) => leftOut.get(skill) ?? []),
  };
}

// --- internal ---

// A file that an editor saves by renaming is missing for an instant.
const GRACE_MS = 60;

type EntryReading =
  | { readonly kind: 'whole'; readonly entry: SkillEntry }
  | { readonly kind: 'unfit'; readonly why: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'moving' };

type EntryReader = (root: string, listed: ListedSkill) => Promise<EntryReading>;

const STRANGE_NAME = 'its name has spaces around it, line breaks or invisible characters';
const INVISIBLE_TEXT = 'its front matter has invisible characters';

async function readEntry(
  root: string,
  skill: Skill,
  records: Map<string, FileRecord>,
  signal: AbortSignal,
): Promise<EntryReading> {
  const reading = await skill.files.manifest(signal, records);
  if (reading.kind !== 'whole') return reading;
  const { head, files } = reading.manifest;
  const parsed = v.safeParse(Head, head);
  if (!parsed.success) return { kind: 'unfit', why: `its ${parsed.issues[0].message}` };
  // The file has another name by now; the next refresh gives the skill another URI.
  if (visibleLine(parsed.output.name) !== skill.name) return { kind: 'moving' };
  // Hosts compare the name in the file with the URI, and refuse an entry that differs.
  if (parsed.output.name !== skill.name) return { kind: 'unfit', why: STRANGE_NAME };
  // Front matter is listed unchanged, so invisible text cannot be removed from it.
  if (hasInvisible(head)) return { kind: 'unfit', why: INVISIBLE_TEXT };
  const resources =
    files === 'dynamic' ? files : files.map(({ path, digest, size }) => ({ uri: uriOf(root, path), digest, size }));
  return { kind: 'whole', entry: { uri: uriOf(root, 'SKILL.md'), frontmatter: head, resources } };
}

/** Front matter is small and not deep: the scan has limits for both. */
function hasInvisible(value: unknown): boolean {
  if (typeof value === 'string') return visible(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, one]) => visible(key) !== key || hasInvisible(one));
}

/** Counts characters, not halves of surrogate pairs. */
function within(text: string, most: number): boolean {
  return text !== '' && [...text].length <= most;
}
