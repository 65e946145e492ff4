/**
 * `skills/list` and `skills/get`: the Skills extension (SEP-2640).
 * Owns: the entries, and the rules that a skill must meet to have one. Leaves alone: digests and front matter
 * (skills/contents.ts).
 * Always true: an entry is made for its request; a skill that cannot have one is left out, which the log says once, and
 * still loads by tool and is readable as resources.
 */
import * as v from 'valibot';
import type { Registry } from '../catalog/registry.ts';
import { FileError } from '../files/read.ts';
import { SKILLS_PAGE } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Skill, SkillFiles } from '../model.ts';
import { type Call, isObject, type Method, type Params } from '../protocol/index.ts';
import { VALID_NAME } from '../skills/front-matter.ts';
import { skillPathAt, uriOf } from '../skills/uris.ts';
import { visible } from '../text.ts';
import { cursorAfter, indexAfter, readMethod } from './lists.ts';
import { lookFor, nothingAt, uriParam } from './resources.ts';

/** Counts characters, not halves of surrogate pairs. */
function boundedText(name: string, most: number) {
  const isWithin = (text: string) => text !== '' && [...text].length <= most;
  return v.pipe(v.string(`${name} is not text`), v.check(isWithin, `${name} is not 1 to ${most} characters`));
}

const NAME = 'name is not 1 to 64 lower-case letters, digits and single hyphens';

/** What the Agent Skills specification asks of front matter. One bad entry makes SDK hosts refuse the whole list. */
const Head = v.pipe(
  v.looseObject({
    name: v.pipe(v.string('name is not text'), v.regex(VALID_NAME, NAME)),
    description: boundedText('description', 1024),
    compatibility: v.optional(boundedText('compatibility', 500)),
    metadata: v.optional(
      v.pipe(
        v.custom<Params>(isObject, 'metadata is not a map'),
        v.record(v.string(), v.string('metadata has a value that is not text')),
      ),
    ),
  }),
  // Front matter is listed unchanged, so invisible text cannot be removed from it.
  v.check((head) => !hasInvisible(head), 'front matter has invisible characters'),
);

export function createSkillsExtension(registry: Registry, log: Log): readonly Method[] {
  /** The skills that the log says are left out. */
  const reported = new WeakSet<Skill>();

  const list = readMethod(registry, 'skills/list', async ({ uris }, { cursor }, call) => {
    const all = [...uris];
    const rest = all.slice(indexAfter('skills', all, ([root]) => root, cursor));
    const skills: object[] = [];
    for (const [at, [root, { skill }]] of rest.entries()) {
      if (call.cancellation().aborted) break;
      try {
        skills.push(await readEntry(root, skill, call));
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        if (!reported.has(skill)) log.info(`${skill.file}: is not in skills/list, because ${error.message}`);
        reported.add(skill);
      }
      const isFull = skills.length === SKILLS_PAGE && at < rest.length - 1;
      if (isFull) return { skills, nextCursor: cursorAfter('skills', root) };
    }
    return { skills };
  });

  const get = readMethod(registry, 'skills/get', async (snapshot, params, call) => {
    const uri = uriParam(params.uri);
    const target = skillPathAt(snapshot, uri);
    if (target?.path !== 'SKILL.md') throw nothingAt(uri, 'no skill is served there');
    return { skill: await lookFor(uri, () => readEntry(target.root, target.listed.skill, call)) };
  });
  return [list, get];
}

/** What the entry of a skill is made from. Throws a FileError for a skill that cannot have one. */
export async function readManifest(skillFiles: SkillFiles, call?: Call) {
  const { head: readHead, files } = await skillFiles.manifest(call);
  const head = readHead();
  const parsed = v.safeParse(Head, head);
  if (!parsed.success) throw new FileError('refused', `its ${parsed.issues[0].message}`);
  return { head, name: parsed.output.name, files };
}

// --- internal ---

async function readEntry(root: string, skill: Skill, call: Call) {
  const { head, name, files } = await readManifest(skill.files, call);
  // Hosts compare the two and refuse an entry in which they differ.
  if (!root.endsWith(`/${name}`)) throw new FileError('refused', 'its URI does not end with its name');
  const resources =
    files === 'dynamic' ? files : files.map(({ path, digest, size }) => ({ uri: uriOf(root, path), digest, size }));
  return { uri: uriOf(root, 'SKILL.md'), frontmatter: head, resources };
}

/** Front matter is small and not deep: skills/front-matter.ts has limits for both. */
function hasInvisible(value: unknown): boolean {
  if (typeof value === 'string') return visible(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, one]) => visible(key) !== key || hasInvisible(one));
}
