/**
 * Skills of upstream servers (the Skills extension) as skills of the catalogue.
 * Owns: reading files, and checking them against their digests. Leaves alone: which entries are valid (skill-entries.ts),
 * names and URIs, which are made as for any other skill (skills/names.ts, skills/uris.ts).
 * Always true: a file is read only when it is asked for; bytes of another size or digest than listed are never served.
 */
import { messageOf } from '../../log.ts';
import type { FileReading, Skill, SkillFiles } from '../../model.ts';
import { isObject, type Params } from '../../protocol/index.ts';
import { SizedCache } from '../../sized-cache.ts';
import { digestOf } from '../../skills/contents.ts';
import { readHead } from '../../skills/front-matter.ts';
import { textOf } from '../../skills/media-types.ts';
import { childrenIn } from '../../skills/memory.ts';
import { nameKey } from '../../skills/names.ts';
import { WELL_KNOWN_PROVIDERS } from '../../skills/roots.ts';
import { shorten, visible, visibleLine } from '../../text.ts';
import { MAX_DESCRIPTION, MAX_SKILL_TEXTS, READ_SKILL_MS } from './limits.ts';
import { parseSkillEntry, segmentsOf, type UpstreamFile, type UpstreamSkill } from './skill-entries.ts';
import type { Upstream } from './upstream.ts';

/** An unchanged entry gives the same Skill. */
export function skillsOf(upstreams: readonly Upstream[]): readonly Skill[] {
  return upstreams.flatMap((upstream) =>
    upstream.listing().skills.map((entry) => {
      const skill = known.get(entry) ?? skillOf(upstream, entry);
      known.set(entry, skill);
      return skill;
    }),
  );
}

export function skillOf(upstream: Upstream, skill: UpstreamSkill): Skill {
  const server = upstream.config.name;
  const provider = providerOf(server);
  const root = `skill://${encodeURIComponent(provider.toWellFormed())}`;
  // Two bases that differ in their scheme alone are two skills.
  const scheme = /^skill:/i.test(skill.base) ? [] : [skill.base.slice(0, skill.base.indexOf(':') + 1)];
  const directory = [root, ...[...scheme, ...segmentsOf(skill.base)].map(encodeURIComponent)].join('/');
  const files = filesOf(skill, upstream);
  const name = visibleLine(skill.head.name);
  // Not the entry itself: the cache would keep the file lists of old entries alive.
  const cacheKey = {};

  return {
    name,
    key: nameKey(name),
    description: shorten(visible(skill.head.description).trim(), MAX_DESCRIPTION),
    provider,
    server,
    location: 'mcp',
    plugin: undefined,
    root,
    directory,
    file: `${directory}/SKILL.md`,
    place: `${provider} ${skill.base}`,
    /** What was last loaded: a search does not request it again. */
    get bytes() {
      return texts.get(cacheKey);
    },
    async read() {
      const reading = await files.read('SKILL.md', AbortSignal.timeout(READ_SKILL_MS));
      if (reading.kind !== 'read') throw new Error(reading.kind === 'refused' ? reading.why : 'it no longer exists');
      const { bytes } = reading;
      if (textOf(bytes) === undefined) throw new Error('it is not UTF-8');
      const head = await readHead(bytes);
      // People and models choose by the listed name, so the text must be that of the same skill.
      if (head.kind === 'read' && head.name !== name) throw new Error('its name is not the one that its server lists');
      // A text that is made on demand may be another one each time.
      if (skill.files) texts.set(cacheKey, bytes, bytes.length);
      return bytes;
    },
    files,
  };
}

/** When a local skill `claude:pdf` is deleted, its name and URI must not come to mean something of a server called claude. */
export function providerOf(server: string): string {
  return WELL_KNOWN_PROVIDERS.includes(nameKey(server)) ? `${server}@mcp` : server;
}

// --- internal ---

const known = new WeakMap<UpstreamSkill, Skill>();
const texts = new SizedCache<object, Buffer>(MAX_SKILL_TEXTS);

function filesOf(skill: UpstreamSkill, upstream: Upstream): SkillFiles {
  const { timeout } = upstream.config;
  /** The entry as its server last gave it. */
  let current = skill;

  async function readOnce(path: string, signal: AbortSignal, maxBytes: number): Promise<FileReading> {
    const file = fileAt(current, path);
    if (current.files && !file)
      return { kind: childrenIn(current.files ?? [], path).length > 0 ? 'directory' : 'missing' };
    const tooLong: FileReading = { kind: 'refused', why: `is over ${maxBytes} bytes` };
    if (file && file.size > maxBytes) return tooLong;
    try {
      const uri = file?.uri ?? `${skill.base}/${path.split('/').map(encodeURIComponent).join('/')}`;
      const bytes = bytesIn(await upstream.request('resources/read', { uri }, { timeout, signal }), uri);
      if (!bytes) return { kind: 'refused', why: 'the result of its server has no content' };
      if (bytes.length > maxBytes) return tooLong;
      const fault = file && (await faultOf(bytes, file));
      return fault === undefined ? { kind: 'read', bytes } : { kind: 'refused', why: fault };
    } catch (error) {
      return { kind: 'refused', why: `its server did not return it: ${messageOf(error)}` };
    }
  }

  /** Whether the skill has changed. */
  async function renew(signal: AbortSignal): Promise<boolean> {
    try {
      const result = await upstream.request('skills/get', { uri: `${skill.base}/SKILL.md` }, { timeout, signal });
      const now = parseSkillEntry(isObject(result.skill) ? result.skill : {});
      if (now.base !== skill.base || JSON.stringify(now) === JSON.stringify(current)) return false;
      current = now;
      upstream.relist();
      return true;
    } catch {
      // The reason for which the file cannot be read is known already, and says more. Perhaps the skill is gone.
      upstream.relist();
      return false;
    }
  }

  return {
    async manifest() {
      const listed = current.files?.map(({ path, size, digest }) => ({ path, size, digest }));
      return { kind: 'whole', head: current.head, files: listed ?? 'dynamic' };
    },
    async read(path, signal, maxBytes = Number.POSITIVE_INFINITY) {
      const reading = await readOnce(path, signal, maxBytes);
      const isDoubtful = reading.kind === 'refused' || reading.kind === 'missing';
      // The skill may have been edited since it was listed; servers do not announce that.
      return isDoubtful && current.files && (await renew(signal)) ? readOnce(path, signal, maxBytes) : reading;
    },
    async list(path) {
      const children = childrenIn(current.files ?? [], path);
      return children.length > 0 ? children : undefined;
    },
    version: async (path) => fileAt(current, path)?.digest,
  };
}

const fileAt = ({ files }: UpstreamSkill, path: string) => files?.find((file) => file.path === path);

function bytesIn({ contents }: Params, uri: string): Buffer | undefined {
  const list = Array.isArray(contents) ? contents.filter(isObject) : [];
  const content = list.find((one) => one.uri === uri) ?? (list.length === 1 ? list[0] : undefined);
  if (typeof content?.text === 'string') return Buffer.from(content.text, 'utf8');
  return typeof content?.blob === 'string' ? Buffer.from(content.blob, 'base64') : undefined;
}

async function faultOf(bytes: Uint8Array, { size, digest }: UpstreamFile): Promise<string | undefined> {
  if (bytes.length !== size) return `it has ${bytes.length} bytes where its server lists ${size}`;
  return (await digestOf(bytes)) === digest ? undefined : 'its digest is not the one that its server lists';
}
