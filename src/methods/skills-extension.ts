/**
 * `skills/list` and `skills/get`: the Skills extension (SEP-2640).
 * Owns: entries, and the rules a skill must meet to have one. Leaves alone: digests and front matter (skills/library.ts).
 * Always true:
 * - an entry is whole and of one version; a file that stands in several entries of a list has one digest in all of them;
 * - a skill that cannot have an entry is a Problem and still loads by tool; one that is gone is just left out.
 */
import * as v from 'valibot';
import type { FirstLists } from '../catalog/first-lists.ts';
import type { ListedSkill, SkillUris, Snapshot } from '../model.ts';
import { internalError, isObject, type Method, type Params, type Session } from '../protocol/index.ts';
import { UNLAWFUL, VALID_NAME } from '../skills/front-matter.ts';
import { parentsOf, skillPathAt, uriOf } from '../skills/uris.ts';
import { visibleLine } from '../text.ts';
import { itemsAfter, nextAfter } from './pagination.ts';
import type { Promises } from './promises.ts';
import { isServed, NO_CACHE, nothingAt, textParam } from './resources.ts';
import type { Unlisted } from './unlisted.ts';

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

export function skillMethods(lists: FirstLists, unlisted: Unlisted, promises: Promises): readonly Method[] {
  const promise = (session: Session, { resources }: SkillEntry) => {
    for (const { uri, digest } of filesIn(resources)) promises.make(session, uri, digest);
  };
  return [
    {
      name: 'skills/list',
      cache: NO_CACHE,
      async run({ cursor }, { session, signal }) {
        const { uris } = await lists.complete();
        const rest = itemsAfter('skills', familiesOf(uris), ({ root }) => root, cursor);
        const entryOf = createReader(unlisted, signal);
        const skills: SkillEntry[] = [];
        let files = 0;
        for (const family of rest) {
          if (signal.aborted) break;
          const entries = await entriesOf(family, entryOf);
          skills.push(...entries);
          for (const entry of entries) promise(session, entry);
          files += entries.reduce((sum, { resources }) => sum + resources.length, 0);
          const isFull = skills.length >= PAGE || files >= PAGE_FILES;
          if (isFull && family !== rest.at(-1)) return { skills, ...nextAfter('skills', family.root) };
        }
        return { skills };
      },
    },
    {
      name: 'skills/get',
      cache: NO_CACHE,
      async run({ uri: asked }, { session, signal }) {
        const uri = textParam(asked);
        const { uris } = await lists.snapshotWith((now) => isServed(now, uri));
        const place = skillPathAt(uris, uri);
        if (place?.path !== 'SKILL.md') throw nothingAt(uri, 'no skill is served there');
        const reading = await createReader(unlisted, signal)(place.root, place.listed);
        switch (reading.kind) {
          case 'whole':
            promise(session, reading.entry);
            return { skill: reading.entry };
          case 'unfit':
            throw nothingAt(uri, `no skill is served there, because ${reading.why}`);
          case 'gone':
            throw nothingAt(uri, 'no skill is served there any more');
          case 'moving':
            throw internalError(`${uri} is changing right now; ask again`);
        }
      },
    },
  ];
}

/** Looks at every skill once, so that all which cannot be listed are known. */
export async function examineSkills({ uris }: Snapshot, unlisted: Unlisted, signal: AbortSignal): Promise<void> {
  const entryOf = createReader(unlisted, signal);
  for (const [root, listed] of uris.roots) await entryOf(root, listed);
}

// --- internal ---

// SDK clients stop after 64 pages: this many give them 16,000 skills.
const PAGE = 250;
// An entry has some 150 bytes per file; a page stays around a megabyte.
const PAGE_FILES = 8192;

type EntryReading =
  | { readonly kind: 'whole'; readonly entry: SkillEntry }
  | { readonly kind: 'unfit'; readonly why: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'moving' };

type EntryReader = (root: string, listed: ListedSkill) => Promise<EntryReading>;

const STRANGE_NAME = 'its name has blanks around it, line breaks or characters that cannot be seen';

// A file that is saved by renaming is gone for an instant.
const GRACE_MS = 60;

/** For one request, which waits once for what is gone, however much that is: a deleted skill comes no sooner. */
function createReader(unlisted: Unlisted, signal: AbortSignal): EntryReader {
  let hasWaited = false;
  return async (root, listed) => {
    // Known from the scan, and a Problem since; its files are resources like any other.
    if (!VALID_NAME.test(listed.skill.name)) return { kind: 'unfit', why: UNLAWFUL };
    let reading = await makeEntry(root, listed, signal);
    if (reading.kind === 'gone' && !hasWaited) {
      hasWaited = true;
      await new Promise((done) => setTimeout(done, GRACE_MS));
      reading = await makeEntry(root, listed, signal);
    }
    if (reading.kind === 'unfit') unlisted.note(listed.skill, reading.why);
    if (reading.kind === 'whole') unlisted.note(listed.skill, undefined);
    return reading;
  };
}

/** A skill and those inside it: they share files, so they are read together and stand on one page. */
interface Family {
  readonly root: string;
  readonly members: readonly (readonly [root: string, listed: ListedSkill])[];
}

// A list of many pages asks for the same families again and again.
const known = new WeakMap<SkillUris, readonly Family[]>();

function familiesOf(uris: SkillUris): readonly Family[] {
  const families = known.get(uris) ?? gather(uris.roots);
  known.set(uris, families);
  return families;
}

/** `roots`: sorted, so that an outer one comes before those inside it. */
function gather(roots: Iterable<readonly [string, ListedSkill]>): readonly Family[] {
  const families = new Map<string, (readonly [string, ListedSkill])[]>();
  for (const member of roots) {
    const outer = parentsOf(member[0]).find((parent) => families.has(parent));
    if (outer === undefined) families.set(member[0], [member]);
    else families.get(outer)?.push(member);
  }
  return [...families].map(([root, members]) => ({ root, members }));
}

const ATTEMPTS = 3;

/** The entries of a family that agree about every file. */
async function entriesOf({ members }: Family, entryOf: EntryReader): Promise<readonly SkillEntry[]> {
  let entries: readonly SkillEntry[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const readings: EntryReading[] = [];
    for (const [root, listed] of members) readings.push(await entryOf(root, listed));
    const whole = readings.flatMap((reading) => (reading.kind === 'whole' ? [reading.entry] : []));
    entries = agreeing(whole);
    if (entries.length === whole.length) break;
  }
  return entries;
}

/** Of entries that disagree about a file, the one read last is right, and the other out of date. */
function agreeing(entries: readonly SkillEntry[]): readonly SkillEntry[] {
  if (entries.length === 1) return entries;
  const last = new Map(entries.flatMap(({ resources }) => filesIn(resources)).map(({ uri, digest }) => [uri, digest]));
  return entries.filter(({ resources }) => filesIn(resources).every(({ uri, digest }) => last.get(uri) === digest));
}

function filesIn(resources: SkillEntry['resources']) {
  return resources === 'dynamic' ? [] : resources;
}

async function makeEntry(root: string, { skill }: ListedSkill, signal: AbortSignal): Promise<EntryReading> {
  const reading = await skill.files.manifest(signal);
  if (reading.kind !== 'whole') return reading;
  const { head, files } = reading.manifest;
  const parsed = v.safeParse(Head, head);
  if (!parsed.success) return { kind: 'unfit', why: `its ${parsed.issues[0].message}` };
  // On disk it has another name already; the next refresh gives it another URI.
  if (visibleLine(parsed.output.name) !== skill.name) return { kind: 'moving' };
  // Hosts compare what stands in the file with the URI, and refuse what differs.
  if (parsed.output.name !== skill.name) return { kind: 'unfit', why: STRANGE_NAME };
  const resources =
    files === 'dynamic' ? files : files.map(({ path, digest, size }) => ({ uri: uriOf(root, path), digest, size }));
  return { kind: 'whole', entry: { uri: uriOf(root, 'SKILL.md'), frontmatter: head, resources } };
}

/** In characters, not in halves of surrogate pairs. */
function within(text: string, most: number): boolean {
  return text !== '' && [...text].length <= most;
}
