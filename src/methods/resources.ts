/**
 * `resources/*`: the files of skills, and what upstream servers have to read.
 * Owns: which resources are listed, and how their content is put. Leaves alone: files (skills/library.ts), URIs (skills/address.ts).
 * Always true:
 * - a file is read when it is asked for; hosts compare it with the digest that they know;
 * - bytes are given as text only when they are UTF-8, so a reader gets back exactly the bytes that are there.
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import { compare } from '../compare.ts';
import type { ListedSkill, ResourceDefinition, Snapshot, TemplateDefinition } from '../model.ts';
import { type Call, internalError, invalidParams, type Method, type RpcError } from '../protocol/index.ts';
import { contentOf, DIRECTORY_TYPE, typeOfName } from '../skills/media-types.ts';
import { type SkillPath, skillPathAt, uriOf } from '../skills/uris.ts';
import { printable, visibleLine } from '../text.ts';
import { pageOf } from './pagination.ts';

/** What a file holds may change at any time, and is this user's own: a client asks again each time. */
export const NO_CACHE = { ttlMs: 0, cacheScope: 'private' } as const;

export function resourceMethods(lists: FirstLists): readonly Method[] {
  return [
    {
      name: 'resources/list',
      cache: NO_CACHE,
      async run({ cursor }) {
        const all = definitionsOf(await lists.complete());
        const { items, more } = pageOf('resources', all, ({ uri }) => uri, cursor, PAGE);
        return { resources: items, ...more };
      },
    },
    {
      name: 'resources/templates/list',
      cache: NO_CACHE,
      async run({ cursor }) {
        const foreign = (await lists.complete()).templates.map(({ definition }) => definition);
        const { items, more } = pageOf('templates', foreign, ({ uriTemplate }) => uriTemplate, cursor, PAGE);
        return { resourceTemplates: cursor === undefined ? [SKILL_FILE, ...items] : items, ...more };
      },
    },
    {
      name: 'resources/read',
      cache: NO_CACHE,
      async run({ uri: asked }, call) {
        const uri = textParam(asked);
        return readResource(await lists.snapshotWith((now) => isServed(now, uri)), uri, call);
      },
    },
    {
      name: 'resources/directory/read',
      cache: NO_CACHE,
      async run({ uri, cursor }, { signal }) {
        const directory = textParam(uri);
        const isThere = (now: Snapshot) => isServed(now, directory) || skillsUnder(now, directory) !== undefined;
        const children = await childrenOf(await lists.snapshotWith(isThere), directory, signal);
        const { items, more } = pageOf(directory, children, (child) => child.uri, cursor, PAGE);
        return { resources: items, ...more };
      },
    },
  ];
}

/** The lists as one text, for telling whether they have changed. */
export function resourcesDigest(snapshot: Snapshot): string {
  const known = digests.get(snapshot);
  if (known !== undefined) return known;
  const digest = JSON.stringify([definitionsOf(snapshot), snapshot.templates.map(({ definition }) => definition)]);
  digests.set(snapshot, digest);
  return digest;
}

/** Whether a URI is, or may be, that of something we know of. */
export function isServed({ resources, uris, templates }: Snapshot, uri: string): boolean {
  return resources.has(uri) || skillPathAt(uris, uri) !== undefined || templates.some((one) => one.matches(uri));
}

/** A URI that nothing is served at, for whatever reason. */
export function nothingAt(uri: string, why = 'nothing is served there'): RpcError {
  return invalidParams(`${uri.slice(0, LONGEST_ECHO)}: ${why}`, { uri });
}

/** Nothing that is listed has a longer one: skills' URIs stop at a fifth of it. */
export const LONGEST_URI = 65_536;

export function textParam(uri: unknown): string {
  if (typeof uri !== 'string') throw invalidParams('uri must be text');
  if (uri.length > LONGEST_URI) throw invalidParams(`uri has over ${LONGEST_URI} characters`);
  return uri;
}

// --- internal ---

// SDK clients stop after 64 pages: this many give them 32,000 resources.
const PAGE = 500;
const LONGEST_ECHO = 300;

const SKILL_FILE: TemplateDefinition = {
  uriTemplate: 'skill://{provider}/{skill}/{+file}',
  name: 'skill-file',
  title: 'File of a skill',
  description: 'One file of a skill, by its path in the skill. resources/directory/read lists what there is.',
};

const digests = new WeakMap<Snapshot, string>();
const definitions = new WeakMap<Snapshot, readonly ResourceDefinition[]>();

/** Every SKILL.md, and all foreign resources, by URI. The other files of a skill are found through its directory. */
function definitionsOf(snapshot: Snapshot): readonly ResourceDefinition[] {
  const known = definitions.get(snapshot);
  if (known) return known;
  const own = [...snapshot.uris.roots].map(([root, listed]) => skillDefinition(root, listed));
  const foreign = [...snapshot.resources.values()].map(({ definition }) => definition);
  const all = [...own, ...foreign].sort((a, b) => compare(a.uri, b.uri));
  definitions.set(snapshot, all);
  return all;
}

function skillDefinition(root: string, { id, skill }: ListedSkill): ResourceDefinition {
  return {
    uri: uriOf(root, 'SKILL.md'),
    name: skill.name,
    title: id,
    description: skill.description,
    mimeType: 'text/markdown',
  };
}

async function readResource(snapshot: Snapshot, uri: string, call: Call): Promise<object> {
  const foreign = snapshot.resources.get(uri);
  if (foreign) return foreign.read(call);
  const place = skillPathAt(snapshot.uris, uri);
  if (!place) {
    const template = snapshot.templates.find((one) => one.matches(uri));
    if (template) return template.read(uri, call);
    throw nothingAt(uri);
  }
  const { root, path, listed } = place;
  const reading = await listed.skill.files.read(path, call.signal);
  switch (reading.kind) {
    case 'read':
      return { contents: [contentOf(uriOf(root, path), path, reading.bytes)] };
    case 'missing':
      throw nothingAt(uri);
    case 'directory':
      throw nothingAt(uri, 'is a directory; resources/directory/read lists it');
    case 'moving':
      throw internalError(`${uri} is changing right now; read it again`);
    case 'refused':
      throw nothingAt(uri, reading.why);
  }
}

async function childrenOf(
  snapshot: Snapshot,
  uri: string,
  signal: AbortSignal,
): Promise<readonly ResourceDefinition[]> {
  const place = skillPathAt(snapshot.uris, uri);
  const children = place ? await childrenIn(snapshot, place, signal) : skillsUnder(snapshot, uri);
  if (!children) throw nothingAt(uri, 'there is no directory that can be read');
  return [...children].sort((a, b) => compare(a.uri, b.uri));
}

async function childrenIn({ uris }: Snapshot, { root, listed, path }: SkillPath, signal: AbortSignal) {
  const children = await listed.skill.files.list(path, signal);
  return children?.map(({ name, kind, size }): ResourceDefinition => {
    const uri = uriOf(root, path === '' ? name : `${path}/${name}`);
    const shown = visibleLine(name) || printable(name);
    if (kind === 'directory') return { uri, name: shown, mimeType: DIRECTORY_TYPE };
    const mimeType = typeOfName(name);
    const sized = size === undefined ? {} : { size };
    const skill = name === 'SKILL.md' ? uris.roots.get(uriOf(root, path)) : undefined;
    if (skill) return { ...skillDefinition(uriOf(root, path), skill), ...sized };
    return { uri, name: shown, ...(mimeType === undefined ? {} : { mimeType }), ...sized };
  });
}

/** What lies directly under a prefix that several skills share: `skill://claude`, or a plugin below it. */
function skillsUnder({ uris }: Snapshot, uri: string): readonly ResourceDefinition[] | undefined {
  const below = [...uris.roots.keys()].filter((root) => root.startsWith(`${uri}/`));
  const names = new Set(below.map((root) => root.slice(uri.length + 1).split('/', 1)[0] ?? ''));
  if (!/^skill:\/\/[^/]/.test(uri) || names.size === 0) return undefined;
  return [...names].map((name) => ({
    uri: `${uri}/${name}`,
    name: visibleLine(decodeURIComponent(name)),
    mimeType: DIRECTORY_TYPE,
  }));
}
