/**
 * Skills of upstream servers (the Skills extension) as skills of the catalogue.
 * Owns: which entries of `skills/list` are valid, reading files and checking them against their digests. Leaves alone:
 * names and URIs, which are made as for any other skill (skills/names.ts, skills/uris.ts).
 * Always true: a file is read only when it is asked for; bytes of another size or digest than its server lists at that
 * moment are never served (a "dynamic" skill lists none); every file of an entry is inside the directory of its skill.
 */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { FileError } from '../files/read.ts';
import { MAX_DESCRIPTION, MAX_ITEM_URI } from '../limits.ts';
import { messageOf } from '../log.ts';
import type { Skill, SkillChild, SkillFiles } from '../model.ts';
import { type Call, isObject, type Params } from '../protocol/index.ts';
import { isPlainSegment } from '../skills/uris.ts';
import { compare, shorten, visible, visibleLine } from '../text.ts';
import { ItemName, parse } from './definitions.ts';
import type { Upstream } from './upstream.ts';

/** An entry of `skills/list`. */
export interface UpstreamSkill {
  /** Its front matter. */
  readonly head: { readonly name: string; readonly description: string; readonly [field: string]: unknown };
  /** The URI of its directory on its server. */
  readonly base: string;
  /** By path; `dynamic` when the server makes them on demand, without digests. */
  readonly files: readonly UpstreamFile[] | 'dynamic';
}

type UpstreamFile = Readonly<v.InferOutput<typeof File>> & { readonly path: string };

/** Throws an Error that says what is wrong with the entry. */
export function skillFrom(raw: Params): UpstreamSkill {
  const { uri, frontmatter: head, resources } = parse(Entry, raw);
  const base = uri.slice(0, -'/SKILL.md'.length);
  if (segmentsOf(base).at(-1) !== head.name) throw new Error('its uri does not end with its name');
  if (resources === 'dynamic') return { head, base, files: resources };
  const files = resources.map((file): UpstreamFile => {
    if (!file.uri.startsWith(`${base}/`)) throw new Error('it lists a file outside its directory');
    return { ...file, path: plainSegments(file.uri.slice(base.length + 1)).join('/') };
  });
  files.sort((a, b) => compare(a.path, b.path));
  if (files.some(({ path }, at) => path === files[at + 1]?.path)) throw new Error('it lists a file twice');
  if (!files.some(({ path }) => path === 'SKILL.md')) throw new Error('its SKILL.md is not among its files');
  return { head, base, files };
}

type SkillServer = Pick<Upstream, 'config' | 'request'>;

export function skillOf(server: SkillServer, entry: UpstreamSkill): Skill {
  const provider = server.config.name;
  const root = `skill://${encodeURIComponent(provider.toWellFormed())}`;
  const directory = [root, ...segmentsOf(entry.base).map(encodeURIComponent)].join('/');
  return {
    name: visibleLine(entry.head.name),
    description: shorten(visible(entry.head.description).trim(), MAX_DESCRIPTION),
    provider,
    location: 'mcp',
    root,
    directory,
    file: `${directory}/SKILL.md`,
    identity: `${provider} ${entry.base}`,
    files: filesOf(server, entry),
  };
}

// --- internal ---

const filled = (field: string) => v.pipe(v.string(`${field} is not text`), v.nonEmpty(`${field} is empty`));

const File = v.object({
  uri: v.string(),
  digest: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
  size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});
const Entry = v.object({
  uri: v.pipe(
    filled('its uri'),
    v.maxLength(MAX_ITEM_URI, `its uri is over ${MAX_ITEM_URI} characters`),
    v.regex(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/].*\/SKILL\.md$/, 'its uri is not that of a SKILL.md'),
  ),
  frontmatter: v.looseObject({ name: ItemName, description: filled('its description') }, 'it has no front matter'),
  resources: v.union([v.literal('dynamic'), v.array(File)], 'its files are not listed with size and digest'),
});

/** The path in a URI, without its scheme. */
const segmentsOf = (uri: string) => plainSegments(uri.replace(/^[^:]*:\/\//, ''));

/** Throws when a part of the path could lead elsewhere, or its percent-encoding is broken. */
function plainSegments(path: string): readonly string[] {
  const segments = path.split('/').map(decodeURIComponent);
  if (!segments.every((one) => one.isWellFormed() && isPlainSegment(one))) throw new Error('it has an invalid path');
  return segments;
}

function filesOf(server: SkillServer, listed: UpstreamSkill): SkillFiles {
  const { head, base, files: listedFiles } = listed;

  async function read(path: string, limit: number, call: Call | undefined): Promise<Buffer> {
    const options = { timeout: server.config.timeout, cancellation: call?.cancellation() };
    // The entry as it is now: servers do not announce that a file has changed.
    const { skill } = await server.request('skills/get', { uri: `${base}/SKILL.md` }, options);
    const entry = skillFrom(isObject(skill) ? skill : {});
    if (entry.base !== base) throw new Error('it gives the entry of another skill');
    const file = entry.files === 'dynamic' ? undefined : fileAt(entry.files, path);
    const uri = file?.uri ?? `${base}/${path.split('/').map(encodeURIComponent).join('/')}`;
    if (file && file.size > limit) throw new FileError('refused', `it has over ${limit} bytes`);
    const bytes = bytesIn(await server.request('resources/read', { uri }, options), uri);
    if (bytes.length > limit) throw new FileError('refused', `it has over ${limit} bytes`);
    const isSame = !file || (bytes.length === file.size && digestOf(bytes) === file.digest);
    if (!isSame) throw new Error('the bytes are not those of which it lists size and digest');
    return bytes;
  }

  return {
    async read(path, limit, call) {
      try {
        return await read(path, limit, call);
      } catch (error) {
        throw error instanceof FileError ? error : new FileError('unreadable', `from its server: ${messageOf(error)}`);
      }
    },
    async list(path) {
      if (listedFiles === 'dynamic') throw new FileError('refused', 'its server does not list its files');
      const children = childrenAt(listedFiles, path);
      if (children.length === 0) throw new FileError('missing', 'it does not exist');
      return children;
    },
    async manifest() {
      const files = listedFiles === 'dynamic' ? listedFiles : listedFiles.map(({ uri: _uri, ...file }) => file);
      return { files, head: () => head };
    },
  };
}

function fileAt(files: readonly UpstreamFile[], path: string): UpstreamFile {
  const file = files.find((one) => one.path === path);
  if (file) return file;
  if (childrenAt(files, path).length > 0) throw new FileError('directory', 'it is a directory');
  throw new FileError('missing', 'it does not exist');
}

/** The direct children of a directory, by name. */
function childrenAt(files: readonly UpstreamFile[], path: string): readonly SkillChild[] {
  const prefix = path === '' ? '' : `${path}/`;
  const children = new Map<string, SkillChild>();
  for (const file of files.filter((one) => one.path.startsWith(prefix))) {
    const [name = '', ...rest] = file.path.slice(prefix.length).split('/');
    children.set(name, rest.length > 0 ? { name, kind: 'directory' } : { name, kind: 'file', size: file.size });
  }
  return [...children.values()].sort((a, b) => compare(a.name, b.name));
}

function bytesIn({ contents }: Params, uri: string): Buffer {
  const list = Array.isArray(contents) ? contents.filter(isObject) : [];
  const content = list.find((one) => one.uri === uri) ?? (list.length === 1 ? list[0] : undefined);
  if (typeof content?.text === 'string') return Buffer.from(content.text);
  if (typeof content?.blob === 'string') return Buffer.from(content.blob, 'base64');
  throw new Error('the result of resources/read has no content');
}

const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
