/**
 * Skills of upstream servers (the Skills extension) as skills of the catalogue.
 * Owns: reading files, and checking them against their digests. Leaves alone: which entries are valid (skill-entries.ts),
 * names and URIs, which are made as for any other skill (skills/names.ts, skills/uris.ts).
 * Always true: a file is read only when it is asked for; bytes of another size or digest than listed are never served.
 */
import { createHash } from 'node:crypto';
import { messageOf } from '../../log.ts';
import type { FileReading, Skill, SkillChild, SkillFiles } from '../../model.ts';
import { isObject, type Params, SHA256 } from '../../protocol/index.ts';
import { SizedCache } from '../../sized-cache.ts';
import { readHead } from '../../skills/front-matter.ts';
import { textOf } from '../../skills/media-types.ts';
import { nameKey } from '../../skills/names.ts';
import { WELL_KNOWN_PROVIDERS } from '../../skills/roots.ts';
import { shorten, visible, visibleLine } from '../../text.ts';
import { MAX_DESCRIPTION, MAX_SKILL_TEXTS, READ_SKILL_MS } from './limits.ts';
import { segmentsOf, type UpstreamFile, type UpstreamSkill } from './skill-entries.ts';

/** The requests that a skill sends to its server; an Upstream has them. */
export interface SkillServer {
  request(method: string, params: Params, options: { readonly signal: AbortSignal }): Promise<Params>;
  /** The skill as it is now; the same object when nothing has changed. */
  renewSkill(skill: UpstreamSkill, signal: AbortSignal): Promise<UpstreamSkill>;
}

export function skillOf(serverName: string, skill: UpstreamSkill, server: SkillServer): Skill {
  const provider = providerOf(serverName);
  const root = `skill://${encodeURIComponent(provider.toWellFormed())}`;
  // Two bases that differ in their scheme alone are two skills.
  const scheme = /^skill:/i.test(skill.base) ? [] : [skill.base.slice(0, skill.base.indexOf(':') + 1)];
  const directory = [root, ...[...scheme, ...segmentsOf(skill.base)].map(encodeURIComponent)].join('/');
  const files = filesOf(skill, server);
  const name = visibleLine(skill.name);
  // Not the entry itself: the cache would keep the file lists of old entries alive.
  const cacheKey = {};

  async function load(): Promise<string> {
    const reading = await files.read('SKILL.md', AbortSignal.timeout(READ_SKILL_MS));
    if (reading.kind !== 'read') throw new Error(reading.kind === 'refused' ? reading.why : 'it no longer exists');
    const text = textOf(reading.bytes);
    if (text === undefined) throw new Error('it is not UTF-8');
    const head = await readHead(text);
    // People and models choose by the listed name, so the text must be that of the same skill.
    if (head.kind === 'read' && visibleLine(head.head.name) !== name)
      throw new Error('its name is not the one that its server lists');
    // A text that is made on demand may be another one each time.
    if (skill.files) texts.set(cacheKey, text, text.length);
    return text;
  }

  return {
    name,
    key: nameKey(name),
    description: shorten(visible(skill.description).trim(), MAX_DESCRIPTION),
    provider,
    server: serverName,
    location: 'mcp',
    plugin: undefined,
    root,
    directory,
    file: `${directory}/SKILL.md`,
    place: `${provider} ${skill.base}`,
    version: skill.files?.find(({ path }) => path === 'SKILL.md')?.digest ?? '',
    /** The text that was last loaded: a search does not request it again. */
    get text() {
      return texts.get(cacheKey);
    },
    read: load,
    files,
  };
}

// --- internal ---

/** When a local skill `claude:pdf` is deleted, its name and URI must not come to mean a skill of a server called claude. */
function providerOf(server: string): string {
  return WELL_KNOWN_PROVIDERS.includes(nameKey(server)) ? `${server}@mcp` : server;
}

const texts = new SizedCache<object, string>(MAX_SKILL_TEXTS);

function filesOf(skill: UpstreamSkill, server: SkillServer): SkillFiles {
  let current = skill;
  let files = filesByPath(skill);

  async function readOnce(path: string, signal: AbortSignal, maxBytes: number): Promise<FileReading> {
    const file = files?.get(path);
    if (files && !file) return isDirectory(files, path) ? { kind: 'directory' } : { kind: 'missing' };
    const tooLong: FileReading = { kind: 'refused', why: `is over ${maxBytes} bytes` };
    if (file && file.size > maxBytes) return tooLong;
    try {
      const uri = file?.uri ?? `${skill.base}/${path.split('/').map(encodeURIComponent).join('/')}`;
      const bytes = bytesIn(await server.request('resources/read', { uri }, { signal }), uri);
      if (!bytes) return { kind: 'refused', why: 'the result of its server has no content' };
      if (bytes.length > maxBytes) return tooLong;
      const fault = file && faultOf(bytes, file);
      return fault === undefined ? { kind: 'read', bytes } : { kind: 'refused', why: fault };
    } catch (error) {
      return { kind: 'refused', why: `its server did not return it: ${messageOf(error)}` };
    }
  }

  /** Whether the skill has changed. */
  async function renew(signal: AbortSignal): Promise<boolean> {
    try {
      const now = await server.renewSkill(current, signal);
      if (now === current) return false;
      current = now;
      files = filesByPath(now);
      return true;
    } catch {
      return false; // The reason for which the file cannot be read is known already, and says more.
    }
  }

  return {
    async manifest() {
      const listed = files && [...files.values()].map(({ path, size, digest }) => ({ path, size, digest }));
      return { kind: 'whole', manifest: { head: current.head, files: listed ?? 'dynamic' } };
    },
    async read(path, signal, maxBytes = Number.POSITIVE_INFINITY) {
      const reading = await readOnce(path, signal, maxBytes);
      const isDoubtful = reading.kind === 'refused' || reading.kind === 'missing';
      // The skill may have been edited since it was listed; servers do not announce that.
      return isDoubtful && files && (await renew(signal)) ? readOnce(path, signal, maxBytes) : reading;
    },
    async list(path) {
      return files && isDirectory(files, path) ? childrenOf(files, path) : undefined;
    },
    version: async (path) => files?.get(path)?.digest,
  };
}

type FilesByPath = ReadonlyMap<string, UpstreamFile>;

function filesByPath({ files }: UpstreamSkill): FilesByPath | undefined {
  return files && new Map(files.map((file) => [file.path, file]));
}

const prefixOf = (path: string) => (path === '' ? '' : `${path}/`);

function isDirectory(files: FilesByPath, path: string): boolean {
  return [...files.keys()].some((one) => one.startsWith(prefixOf(path)));
}

function childrenOf(files: FilesByPath, path: string): readonly SkillChild[] {
  const children = new Map<string, SkillChild>();
  for (const file of files.values()) {
    if (!file.path.startsWith(prefixOf(path))) continue;
    const [name = '', ...deeper] = file.path.slice(prefixOf(path).length).split('/');
    children.set(name, deeper.length > 0 ? { name, kind: 'directory' } : { name, kind: 'file', size: file.size });
  }
  return [...children.values()];
}

function bytesIn({ contents }: Params, uri: string): Uint8Array | undefined {
  const list = Array.isArray(contents) ? contents.filter(isObject) : [];
  const content = list.find((one) => one.uri === uri) ?? (list.length === 1 ? list[0] : undefined);
  if (typeof content?.text === 'string') return Buffer.from(content.text, 'utf8');
  return typeof content?.blob === 'string' ? Buffer.from(content.blob, 'base64') : undefined;
}

function faultOf(bytes: Uint8Array, { size, digest }: UpstreamFile): string | undefined {
  if (bytes.length !== size) return `it has ${bytes.length} bytes where its server lists ${size}`;
  const actual = `${SHA256}${createHash('sha256').update(bytes).digest('hex')}`;
  return actual === digest ? undefined : 'its digest is not the one that its server lists';
}
