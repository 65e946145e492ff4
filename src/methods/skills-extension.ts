/**
 * `skills/list` and `skills/get`: the Skills extension (SEP-2640).
 * Owns: the entries, the rules that a skill must meet to have one, and the Problems of skills that do not.
 * Leaves alone: digests and front matter (skills/contents.ts).
 * Always true: an entry is of one version of the skill, and entries of one response agree about a file that they share; a
 * skill that cannot have an entry is a Problem as long as that is so, and still loads by tool.
 */
import * as v from 'valibot';
import type { Registry } from '../catalog/registry.ts';
import { lazy } from '../lazy.ts';
import type { Log } from '../log.ts';
import type { FileRecord, Problem, Skill, Snapshot } from '../model.ts';
import { internalError, isObject, type Method, type Params } from '../protocol/index.ts';
import { UNLAWFUL, VALID_NAME } from '../skills/front-matter.ts';
import { skillPathAt, uriOf } from '../skills/uris.ts';
import { visible, visibleLine } from '../text.ts';
import { delay } from '../wait.ts';
import { NO_CACHE, PAGE_FILES, SKILLS_PAGE } from './limits.ts';
import { cursorAfter, indexAfter } from './lists.ts';
import { nothingAt, uriParam } from './resources.ts';

/** What the Agent Skills specification asks of front matter. One bad entry makes SDK hosts refuse the whole list. */
const headSchema = lazy(() =>
  v.looseObject({
    name: v.string('name is not text'),
    description: textOf('description', 1024),
    compatibility: v.optional(textOf('compatibility', 500)),
    metadata: v.optional(
      v.pipe(
        v.custom<Params>(isObject, 'metadata is not a map'),
        v.record(v.string(), v.string('metadata has a value that is not text')),
      ),
    ),
  }),
);

export function createSkillsExtension(registry: Registry, log: Log) {
  const { readerFor, problemOf } = createEntryReaders(log);

  const list: Method = {
    name: 'skills/list',
    cache: NO_CACHE,
    async run({ cursor }, { signal }) {
      const { uris } = await registry.complete();
      const roots = [...uris.roots];
      const rest = roots.slice(indexAfter('skills', roots, ([root]) => root, cursor));
      const entryOf = readerFor(signal);
      const skills: object[] = [];
      let files = 0;
      // Sorted by URI, so that a skill comes before those inside it and has read their files.
      for (const [at, [root, { skill }]] of rest.entries()) {
        if (signal.aborted) break;
        const reading = await entryOf(root, skill);
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
      const place = await registry.lookUp(({ uris }) => skillPathAt(uris, uri));
      if (place?.path !== 'SKILL.md') throw nothingAt(uri, 'no skill is served there');
      const reading = await readerFor(signal)(place.root, place.listed.skill);
      if (reading.kind === 'whole') return { skill: reading.entry };
      if (reading.kind === 'moving') throw internalError(`${uri} is changing right now; ask again`);
      const why = reading.kind === 'unfit' ? `, because ${reading.why}` : ' any more';
      throw nothingAt(uri, `no skill is served there${why}`);
    },
  };

  return {
    methods: [list, get],
    /** Reads every skill once, so that all which cannot be listed are known. */
    async examine({ uris }: Snapshot, signal: AbortSignal): Promise<void> {
      const entryOf = readerFor(signal);
      for (const [root, { skill }] of uris.roots) await entryOf(root, skill);
    },
    /** The skills that are known to be left out of `skills/list`: finding out takes reading their files. */
    problems: ({ names }: Snapshot): readonly Problem[] => names.listed.flatMap(({ skill }) => problemOf(skill) ?? []),
  };
}

// --- internal ---

// A file that an editor saves by renaming is missing for an instant.
const GRACE_MS = 60;

const unfit = (why: string) => ({ kind: 'unfit', why }) as const;

function createEntryReaders(log: Log) {
  const leftOut = new WeakMap<Skill, Problem>();

  function note(skill: Skill, why: string): void {
    const what = `is not in skills/list, because ${why}`;
    if (leftOut.get(skill)?.what !== what) log.warn(`${skill.file}: ${what}`);
    leftOut.set(skill, { where: skill.file, what });
  }

  /** Reads the entries of one response, which agree about a file that they share. */
  function readerFor(signal: AbortSignal) {
    const records = new Map<string, FileRecord>();
    let grace: Promise<void> | undefined;
    return async (root: string, skill: Skill) => {
      // Known since the scan, which has made it a Problem. The skill's files are resources like any other.
      if (!VALID_NAME.test(skill.name)) return unfit(UNLAWFUL);
      let reading = await readEntry(root, skill, records, signal);
      if (reading.kind === 'gone') {
        // Waits once, however many skills are gone: a deleted one does not come back.
        grace ??= delay(GRACE_MS);
        await grace;
        reading = await readEntry(root, skill, records, signal);
      }
      if (reading.kind === 'whole') leftOut.delete(skill);
      if (reading.kind === 'unfit') note(skill, reading.why);
      if (reading.kind === 'moving') note(skill, 'its files keep changing');
      return reading;
    };
  }
  return { readerFor, problemOf: (skill: Skill) => leftOut.get(skill) };
}

async function readEntry(root: string, skill: Skill, records: Map<string, FileRecord>, signal: AbortSignal) {
  const reading = await skill.files.manifest(signal, records);
  if (reading.kind !== 'whole') return reading;
  const { head, files } = reading;
  const parsed = v.safeParse(headSchema(), head);
  if (!parsed.success) return unfit(`its ${parsed.issues[0].message}`);
  // The file has another name by now; the next refresh gives the skill another URI.
  if (visibleLine(parsed.output.name) !== skill.name) return { kind: 'moving' as const };
  // Hosts compare the name in the file with the URI, and refuse an entry that differs.
  if (parsed.output.name !== skill.name)
    return unfit('its name has spaces around it, line breaks or invisible characters');
  // Front matter is listed unchanged, so invisible text cannot be removed from it.
  if (hasInvisible(head)) return unfit('its front matter has invisible characters');
  const resources =
    files === 'dynamic' ? files : files.map(({ path, digest, size }) => ({ uri: uriOf(root, path), digest, size }));
  return { kind: 'whole' as const, entry: { uri: uriOf(root, 'SKILL.md'), frontmatter: head, resources } };
}

/** Front matter is small and not deep: the scan has limits for both. */
function hasInvisible(value: unknown): boolean {
  if (typeof value === 'string') return visible(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, one]) => visible(key) !== key || hasInvisible(one));
}

/** Counts characters, not halves of surrogate pairs. */
function textOf(name: string, most: number) {
  const isWithin = (text: string) => text !== '' && [...text].length <= most;
  return v.pipe(v.string(`${name} is not text`), v.check(isWithin, `${name} is not 1 to ${most} characters`));
}
