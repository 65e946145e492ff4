/**
 * `resources/*`: the files of skills, and the resources of upstream servers.
 * Owns: which resources are listed, and the form of their content. Leaves alone: files (skills/contents.ts), URIs (skills/uris.ts).
 * Always true:
 * - a file is read when it is asked for; hosts compare it with the digest that they know;
 * - bytes are given as text only when they are UTF-8, so a client gets back exactly the bytes of the file.
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import { compare } from '../compare.ts';
import type { ListedSkill, Resource, ResourceDefinition, Snapshot, Template, TemplateDefinition } from '../model.ts';
import { type Call, internalError, invalidParams, type Method, type RpcError } from '../protocol/index.ts';
import { contentOf, DIRECTORY_TYPE, typeOfName } from '../skills/media-types.ts';
import { type SkillPath, skillPathAt, uriOf } from '../skills/uris.ts';
import { cut, printable, visibleLine } from '../text.ts';
import { NO_CACHE } from './cache-hints.ts';
import { LONGEST_URI, LONGEST_URI_ECHO, PAGE } from './limits.ts';
import { EncodedList, type ListShape, perSnapshot } from './pagination.ts';

export function resourceMethods(lists: FirstLists): readonly Method[] {
  return [
    {
      name: 'resources/list',
      cache: NO_CACHE,
      run: async ({ cursor }) => listsOf(await lists.complete()).resources.page(cursor),
    },
    {
      name: 'resources/templates/list',
      cache: NO_CACHE,
      run: async ({ cursor }) => listsOf(await lists.complete()).templates.page(cursor),
    },
    {
      name: 'resources/read',
      cache: NO_CACHE,
      async run({ uri: asked }, call) {
        const uri = uriParam(asked);
        const target = await lists.lookUp((snapshot) => targetAt(snapshot, uri));
        if (!target) throw nothingAt(uri);
        return readTarget(target, uri, call);
      },
    },
    {
      name: 'resources/directory/read',
      cache: NO_CACHE,
      async run({ uri: asked, cursor }, { signal }) {
        const uri = uriParam(asked);
        const directory = await lists.lookUp((snapshot) => directoryAt(snapshot, uri));
        const children = await directory?.(signal);
        if (!children) throw nothingAt(uri, 'there is no directory that can be read');
        const sorted = [...children].sort((a, b) => compare(a.uri, b.uri));
        return new EncodedList({ ...RESOURCES, name: uri }, sorted).page(cursor);
      },
    },
  ];
}

/** Whether a client would be listed other resources or templates. */
export function resourcesDiffer(before: Snapshot, after: Snapshot): boolean {
  const [old, now] = [listsOf(before), listsOf(after)];
  return !old.resources.equals(now.resources) || !old.templates.equals(now.templates);
}

/** What `resources/read` reads at a URI. */
export type Target = KnownTarget | { readonly kind: 'template'; readonly template: Template };

export type KnownTarget =
  | { readonly kind: 'resource'; readonly resource: Resource }
  | { readonly kind: 'file'; readonly place: SkillPath };

export function targetAt(snapshot: Snapshot, uri: string): Target | undefined {
  const known = knownTargetAt(snapshot, uri);
  if (known) return known;
  const template = snapshot.templates.find((one) => one.matches(uri));
  return template && { kind: 'template', template };
}

/** The same without templates. */
export function knownTargetAt({ resources, uris }: Snapshot, uri: string): KnownTarget | undefined {
  const resource = resources.get(uri);
  if (resource) return { kind: 'resource', resource };
  const place = skillPathAt(uris, uri);
  return place && { kind: 'file', place };
}

/** The error for a URI without a resource, or with one that cannot be read. */
export function nothingAt(uri: string, why = 'nothing is served there'): RpcError {
  return invalidParams(`${cut(uri, LONGEST_URI_ECHO)}: ${why}`, { uri });
}

export function uriParam(uri: unknown): string {
  if (typeof uri !== 'string') throw invalidParams('uri must be text');
  if (uri.length > LONGEST_URI) throw invalidParams(`uri has over ${LONGEST_URI} characters`);
  return uri;
}

// --- internal ---

const SKILL_FILE: TemplateDefinition = {
  uriTemplate: 'skill://{provider}/{skill}/{+file}',
  name: 'skill-file',
  title: 'File of a skill',
  description: 'One file of a skill, by its path in the skill. resources/directory/read lists the files.',
};

const RESOURCES: ListShape<ResourceDefinition> = {
  name: 'resources',
  member: 'resources',
  pageSize: PAGE,
  keyOf: ({ uri }) => uri,
};
const TEMPLATES: ListShape<TemplateDefinition> = {
  name: 'templates',
  member: 'resourceTemplates',
  pageSize: PAGE,
  // The template of skills comes first.
  keyOf: (template) => (template === SKILL_FILE ? '' : template.uriTemplate),
};

/** Every SKILL.md and all other resources. The other files of a skill are found by reading its directory. */
const listsOf = perSnapshot(({ uris, resources, templates }) => {
  const skills = [...uris.roots].map(([root, listed]) => skillDefinition(root, listed));
  const others = [...resources.values()].map(({ definition }) => definition);
  const sorted = [...skills, ...others].sort((a, b) => compare(a.uri, b.uri));
  return {
    resources: new EncodedList(RESOURCES, sorted),
    templates: new EncodedList(TEMPLATES, [SKILL_FILE, ...templates.map(({ definition }) => definition)]),
  };
});

function skillDefinition(root: string, { id, skill }: ListedSkill): ResourceDefinition {
  return {
    uri: uriOf(root, 'SKILL.md'),
    name: skill.name,
    title: id,
    description: skill.description,
    mimeType: 'text/markdown',
  };
}

async function readTarget(target: Target, uri: string, call: Call): Promise<object> {
  if (target.kind === 'resource') return target.resource.read(call);
  if (target.kind === 'template') return target.template.read(uri, call);
  const { root, path, listed } = target.place;
  const reading = await listed.skill.files.read(path, call.signal);
  switch (reading.kind) {
    case 'read':
      return { contents: [contentOf(uriOf(root, path), path, reading.bytes)] };
    case 'missing':
      throw nothingAt(uri);
    case 'directory':
      throw nothingAt(uri, 'is a directory; resources/directory/read lists it');
    case 'moving':
      throw internalError(`${cut(uri, LONGEST_URI_ECHO)} is changing right now; read it again`);
    case 'refused':
      throw nothingAt(uri, reading.why);
  }
}

/** Gives the children of a directory; undefined when it cannot be read. */
type Directory = (signal: AbortSignal) => Promise<readonly ResourceDefinition[] | undefined>;

function directoryAt(snapshot: Snapshot, uri: string): Directory | undefined {
  const place = skillPathAt(snapshot.uris, uri);
  if (place) return (signal) => childrenIn(snapshot, place, signal);
  const skills = skillsUnder(snapshot, uri);
  return skills && (async () => skills);
}

async function childrenIn({ uris }: Snapshot, { root, listed, path }: SkillPath, signal: AbortSignal) {
  const children = await listed.skill.files.list(path, signal);
  return children?.map(({ name, kind, size }): ResourceDefinition => {
    const uri = uriOf(root, path === '' ? name : `${path}/${name}`);
    const shown = visibleLine(name) || printable(name);
    if (kind === 'directory') return { uri, name: shown, mimeType: DIRECTORY_TYPE };
    const skill = name === 'SKILL.md' ? uris.roots.get(uriOf(root, path)) : undefined;
    if (skill) return { ...skillDefinition(uriOf(root, path), skill), size };
    return { uri, name: shown, mimeType: typeOfName(name), size };
  });
}

/** The next level below a prefix of skill URIs: `skill://claude`, or a plugin below it. */
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
