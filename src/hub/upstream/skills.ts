/**
 * Skills of upstream servers (the Skills extension) as skills of ours.
 * Owns: which entries can be believed, and that bytes are what their server promised. Leaves alone: names and URIs,
 * which they get like any other skill (skills/resolve.ts, skills/address.ts).
 * Always true: nothing is fetched before somebody asks for it; bytes of another size or digest are shown to nobody.
 */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { messageOf } from '../../log.ts';
import type { FileReading, ManifestFile, Skill, SkillChild, SkillFiles } from '../../model.ts';
import { isObject, type Params, SHA256 } from '../../protocol/index.ts';
import { readHead } from '../../skills/front-matter.ts';
import { textOf } from '../../skills/media-types.ts';
import { nameKey } from '../../skills/names.ts';
import { isPlainSegment } from '../../skills/uris.ts';
import { shorten, visible, visibleLine } from '../../text.ts';
import { LONGEST_DESCRIPTION, LONGEST_URI, nameFault } from './definitions.ts';

/** One entry of `skills/list`, understood. */
export interface UpstreamSkill {
  readonly name: string;
  readonly description: string;
  readonly head: Readonly<Record<string, unknown>>;
  /** The directory, as the server addresses it. */
  readonly base: string;
  /** Undefined when the server makes them on demand and promises nothing. */
  readonly files: readonly PromisedFile[] | undefined;
}

export interface PromisedFile extends ManifestFile {
  readonly uri: string;
}

const filled = (field: string) => v.pipe(v.string(`${field} is not text`), v.nonEmpty(`${field} is empty`));

/** What other fields an entry has is the business of whoever shows it. */
export const Entry = v.object(
  {
    uri: v.pipe(
      filled('its uri'),
      v.regex(/^[a-z][a-z0-9+.-]*:\/\/[^/].*\/SKILL\.md$/i, 'its uri is not that of a SKILL.md'),
    ),
    frontmatter: v.looseObject(
      { name: filled('its name'), description: filled('its description') },
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
export function understandEntry(raw: Params): UpstreamSkill {
  const parsed = v.safeParse(Entry, raw);
  if (!parsed.success) throw new Error(parsed.issues[0].message);
  const { uri, frontmatter, resources } = parsed.output;
  const base = uri.slice(0, -'/SKILL.md'.length);
  const { name, description } = frontmatter;
  if (uri.length > LONGEST_URI) throw new Error(`its uri is over ${LONGEST_URI} characters`);
  if (resources !== 'dynamic' && resources.length > MOST_FILES) throw new Error(`it has over ${MOST_FILES} files`);
  const fault = nameFault(visibleLine(name));
  if (fault !== undefined) throw new Error(fault);
  if (segmentsOf(base).at(-1) !== name) throw new Error('its uri does not end with its name');
  if (resources === 'dynamic') return { name, description, head: frontmatter, base, files: undefined };
  const files = resources.map((file) => ({ ...file, path: pathOf(base, file.uri) }));
  if (!files.some(({ path }) => path === 'SKILL.md')) throw new Error('its SKILL.md is not among its files');
  return { name, description, head: frontmatter, base, files };
}

/** What a server can be asked about one of its skills. */
export interface SkillServer {
  /** `resources/read`. */
  read(uri: string, signal?: AbortSignal): Promise<Params>;
  /** What the skill is now; the same object when nothing has changed. */
  renew(skill: UpstreamSkill, signal?: AbortSignal): Promise<UpstreamSkill>;
}

export function skillOf(server: string, skill: UpstreamSkill, source: SkillServer): Skill {
  const root = `skill://${encodeURIComponent(server.toWellFormed())}`;
  const directory = [root, ...segmentsOf(skill.base).map(encodeURIComponent)].join('/');
  const files = filesOf(skill, source);
  const name = visibleLine(skill.name);
  const memory = {};

  async function load(): Promise<string> {
    const reading = await files.read('SKILL.md', AbortSignal.timeout(READ_MS));
    if (reading.kind !== 'read') throw new Error(reading.kind === 'refused' ? reading.why : 'it is not there any more');
    const text = textOf(reading.bytes);
    if (text === undefined) throw new Error('it is not UTF-8');
    const head = await readHead(text);
    // The list is what people choose from, so it must not describe something else than what is then loaded.
    if (head.kind === 'read' && visibleLine(head.head.name) !== name)
      throw new Error('its name is not the one its server lists');
    // What a server makes on demand is another text each time.
    if (skill.files) remembered.set(memory, text);
    return text;
  }

  return {
    name,
    key: nameKey(name),
    description: shorten(visible(skill.description).trim(), LONGEST_DESCRIPTION),
    provider: server,
    location: 'mcp',
    plugin: undefined,
    root,
    directory,
    file: `${directory}/SKILL.md`,
    place: `${server} ${skill.base}`,
    version: skill.files?.find(({ path }) => path === 'SKILL.md')?.digest ?? '',
    /** As it was when it was last loaded: a search does not fetch it again. */
    get text() {
      return remembered.get(memory);
    },
    read: load,
    files,
  };
}

// --- internal ---

// A search reads many, one after the other: one server must not hold it up for long.
const READ_MS = 10_000;
// A server may have ten thousand skills, and a search reads them all.
const MOST_REMEMBERED = 16 * 1024 * 1024;
const remembered = createTextMemory(MOST_REMEMBERED);

interface TextMemory {
  get(key: object): string | undefined;
  set(key: object, text: string): void;
}

/** Texts of at most so many characters together; the oldest are forgotten first. */
function createTextMemory(most: number): TextMemory {
  const texts = new Map<object, string>();
  let size = 0;
  const forget = (key: object) => {
    size -= texts.get(key)?.length ?? 0;
    texts.delete(key);
  };
  return {
    get: (key) => texts.get(key),
    set(key, text) {
      forget(key);
      if (text.length > most / 8) return;
      texts.set(key, text);
      size += text.length;
      for (const oldest of texts.keys()) {
        if (size <= most) return;
        forget(oldest);
      }
    },
  };
}

// Every host must take 512; some real skills have twice that.
const MOST_FILES = 4096;

function filesOf(skill: UpstreamSkill, source: SkillServer): SkillFiles {
  let current = skill;
  let promised = promisedBy(skill);

  // Without a promise the URI is all there is to go by.
  const uriAt = (path: string) =>
    promised ? promised.get(path)?.uri : `${skill.base}/${path.split('/').map(encodeURIComponent).join('/')}`;

  async function readOnce(path: string, signal: AbortSignal, maxBytes: number): Promise<FileReading> {
    try {
      const uri = uriAt(path);
      if (uri === undefined) return isDirectory(promised, path) ? { kind: 'directory' } : { kind: 'missing' };
      const tooLong: FileReading = { kind: 'refused', why: `is over ${maxBytes} bytes` };
      if ((promised?.get(path)?.size ?? 0) > maxBytes) return tooLong;
      const bytes = bytesIn(await source.read(uri, signal), uri);
      if (!bytes) return { kind: 'refused', why: 'its server answered without its content' };
      if (bytes.length > maxBytes) return tooLong;
      const fault = faultOf(bytes, promised?.get(path));
      return fault === undefined ? { kind: 'read', bytes } : { kind: 'refused', why: fault };
    } catch (error) {
      return { kind: 'refused', why: `its server did not give it: ${messageOf(error)}` };
    }
  }

  /** Whether the skill is another than it was. */
  async function renew(signal: AbortSignal): Promise<boolean> {
    const before = current;
    try {
      const now = await source.renew(before, signal);
      if (now === before) return false;
      current = now;
      promised = promisedBy(now);
      return true;
    } catch {
      return false; // Why it cannot be read is known already, and says more.
    }
  }

  return {
    async manifest() {
      const listed = promised
        ? [...promised.values()].map(({ path, size, digest }) => ({ path, size, digest }))
        : undefined;
      return { kind: 'whole', manifest: { head: current.head, files: listed ?? 'dynamic' } };
    },
    async read(path, signal, maxBytes = Number.POSITIVE_INFINITY) {
      const reading = await readOnce(path, signal, maxBytes);
      const isDoubtful = reading.kind === 'refused' || reading.kind === 'missing';
      // It may have been edited since it was listed; servers do not announce that.
      return isDoubtful && promised && (await renew(signal)) ? readOnce(path, signal, maxBytes) : reading;
    },
    async list(path) {
      return promised && isDirectory(promised, path) ? childrenOf(promised, path) : undefined;
    },
    version: async (path) => promised?.get(path)?.digest,
  };
}

function promisedBy({ files }: UpstreamSkill): Promised | undefined {
  return files && new Map(files.map((file) => [file.path, file]));
}

type Promised = ReadonlyMap<string, PromisedFile>;

const prefixOf = (path: string) => (path === '' ? '' : `${path}/`);

function isDirectory(files: Promised | undefined, path: string): boolean {
  return files !== undefined && [...files.keys()].some((one) => one.startsWith(prefixOf(path)));
}

function childrenOf(files: Promised, path: string): readonly SkillChild[] {
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

function faultOf(bytes: Uint8Array, promise: PromisedFile | undefined): string | undefined {
  if (!promise) return undefined;
  if (bytes.length !== promise.size) return `it has ${bytes.length} bytes where its server promised ${promise.size}`;
  const digest = `${SHA256}${createHash('sha256').update(bytes).digest('hex')}`;
  return digest === promise.digest ? undefined : 'it does not have the digest that its server promised';
}

/** The path of a file in its skill; throws when it lies elsewhere, or could be read as lying elsewhere. */
function pathOf(base: string, uri: string): string {
  if (!uri.startsWith(`${base}/`)) throw new Error('it lists a file that is not its own');
  return plainSegments(uri.slice(base.length + 1)).join('/');
}

/** The path in a URI, without its scheme. */
function segmentsOf(uri: string): readonly string[] {
  return plainSegments(uri.replace(/^[^:]*:\/\//, ''));
}

function plainSegments(path: string): readonly string[] {
  return path.split('/').map((part) => {
    const segment = decoded(part);
    if (!segment?.isWellFormed() || !isPlainSegment(segment)) throw new Error('it has a path that cannot be');
    return segment;
  });
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined; // Not an encoding of anything.
  }
}
