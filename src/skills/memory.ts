/**
 * A skill whose files are in memory, for the sources of a program that embeds this one.
 * Leaves alone: names and URIs, which are made as for any other skill (names.ts, uris.ts).
 * Always true: its files never change; an edited skill is a new one.
 */
import { compare } from '../compare.ts';
import type { FrontMatter, ManifestFile, ManifestReading, Skill, SkillChild, SkillFiles } from '../model.ts';
import { digestOf } from './contents.ts';
import { readHead } from './front-matter.ts';
import { readFrontMatter } from './front-matter-values.ts';
import { MAX_FILE_BYTES, MAX_SKILL_FILES, MAX_SKILL_TOTAL } from './limits.ts';
import { nameKey } from './names.ts';
import { prefixOf, SKILL_FILE } from './roots.ts';

/**
 * `files`: their contents by path, with slashes; one is `SKILL.md`, and has the name. Two skills of one provider and name
 * are one skill. Throws when there is no `SKILL.md`, or none with a name and a description.
 */
export async function createMemorySkill(
  provider: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<Skill> {
  const prefix = prefixOf(provider);
  const contents = new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]));
  const bytes = contents.get(SKILL_FILE);
  if (!bytes) throw new Error(`a skill needs a file ${SKILL_FILE}`);
  const head = await readHead(bytes);
  if (head.kind !== 'read') throw new Error(`${SKILL_FILE}: ${head.why}`);
  const { name, description } = head;
  const root = `skill://${encodeURIComponent(prefix)}`;
  const directory = `${root}/${encodeURIComponent(name)}`;
  return {
    name,
    key: nameKey(name),
    description,
    provider: prefix,
    location: 'custom',
    plugin: undefined,
    root,
    directory,
    file: `${directory}/${SKILL_FILE}`,
    place: directory,
    bytes,
    read: () => bytes,
    files: await filesOf(contents, await readFrontMatter(bytes)),
  };
}

/** The direct children of a directory; none when there is no such directory, as no directory is empty. */
export function childrenIn(files: readonly ManifestFile[], path: string): readonly SkillChild[] {
  const prefix = path === '' ? '' : `${path}/`;
  const children = new Map<string, SkillChild>();
  for (const file of files) {
    if (!file.path.startsWith(prefix)) continue;
    const [name = '', ...deeper] = file.path.slice(prefix.length).split('/');
    children.set(name, deeper.length > 0 ? { name, kind: 'directory' } : { name, kind: 'file', size: file.size });
  }
  return [...children.values()];
}

// --- internal ---

async function filesOf(contents: ReadonlyMap<string, Buffer>, head: FrontMatter): Promise<SkillFiles> {
  const files: ManifestFile[] = [];
  for (const [path, bytes] of contents) files.push({ path, size: bytes.length, digest: await digestOf(bytes) });
  files.sort((a, b) => compare(a.path, b.path));
  const manifest = manifestOf(files, head);
  return {
    manifest: async () => manifest,
    async read(path, _signal, maxBytes = MAX_FILE_BYTES) {
      const bytes = contents.get(path);
      if (!bytes) return { kind: childrenIn(files, path).length > 0 ? 'directory' : 'missing' };
      return bytes.length > maxBytes ? { kind: 'refused', why: `is over ${maxBytes} bytes` } : { kind: 'read', bytes };
    },
    async list(path) {
      const children = childrenIn(files, path);
      return children.length > 0 ? children : undefined;
    },
    version: async (path) => files.find((file) => file.path === path)?.digest,
  };
}

function manifestOf(files: readonly ManifestFile[], head: FrontMatter): ManifestReading {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length > MAX_SKILL_FILES) return { kind: 'unfit', why: `it has over ${MAX_SKILL_FILES} files` };
  if (total > MAX_SKILL_TOTAL) return { kind: 'unfit', why: `its files have over ${MAX_SKILL_TOTAL} bytes together` };
  return head.kind === 'read' ? { kind: 'whole', head: head.fields, files } : { kind: 'unfit', why: head.why, files };
}
