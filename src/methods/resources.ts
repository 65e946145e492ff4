/**
 * `resources/*`: the files of skills, and the resources of upstream servers.
 * Owns: which resources are listed, and the form of their content. Leaves alone: files (skills/contents.ts), URIs (skills/uris.ts).
 * Always true: a file is read when it is asked for; its bytes are given as text only when they are UTF-8, so a client gets
 * back exactly the bytes of the file.
 */
import type { Registry } from '../catalog/registry.ts';
import type {
  ListedSkill,
  Resource,
  ResourceDefinition,
  Snapshot,
  Template,
  TemplateDefinition,
  Updates,
} from '../model.ts';
import { internalError, invalidParams, type Method, type RpcError } from '../protocol/index.ts';
import { contentOf, DIRECTORY_TYPE, typeOfName } from '../skills/media-types.ts';
import { type SkillPath, skillPathAt, uriOf } from '../skills/uris.ts';
import { echo, printable, visibleLine } from '../text.ts';
import { LONGEST_URI, NO_CACHE } from './limits.ts';
import { type Feature, listMethod, perSnapshot, sortedList } from './lists.ts';

export function createResources(registry: Registry): Feature {
  const methods: readonly Method[] = [
    listMethod({ name: 'resources/list', cache: NO_CACHE }, registry, (now) => listsOf(now).resources),
    listMethod({ name: 'resources/templates/list', cache: NO_CACHE }, registry, (now) => listsOf(now).templates),
    {
      name: 'resources/read',
      cache: NO_CACHE,
      async run({ uri: asked }, call) {
        const uri = uriParam(asked);
        const read = await registry.lookUp((snapshot) => readerAt(snapshot, uri));
        if (!read) throw nothingAt(uri);
        return read(call);
      },
    },
    {
      name: 'resources/directory/read',
      cache: NO_CACHE,
      async run({ uri: asked, cursor }, { signal }) {
        const uri = uriParam(asked);
        const read = await registry.lookUp((snapshot) => directoryAt(snapshot, uri));
        const children = await read?.(signal);
        if (!children) throw nothingAt(uri, 'there is no directory that can be read');
        return sortedList('resources', children, uriIn, uri).page(cursor);
      },
    },
  ];
  return {
    name: 'resources',
    methods,
    prepare: ({ uris }) => uris.prepare(),
    lists: (snapshot) => Object.values(listsOf(snapshot)),
  };
}

/** What a reference of `completion/complete` means: a template by its text, or anything that is served at that URI. */
export function completableAt(snapshot: Snapshot, uri: string): Pick<Template, 'complete'> | undefined {
  const template = snapshot.templates.find(({ definition }) => definition.uriTemplate === uri);
  return template ?? (uri === SKILL_FILE.uriTemplate || readerAt(snapshot, uri) ? {} : undefined);
}

/** A resource whose changes are noticed. */
export interface Subscribable {
  /** The resource's own URI: a client may percent-encode it in many ways. */
  readonly uri: string;
  /** Equal as long as the content is, besides changes that are announced; undefined when it is not there. */
  state(): Promise<unknown>;
  readonly follow?: Updates['follow'];
}

export function subscribableAt({ resources, uris, templates }: Snapshot, uri: string): Subscribable | undefined {
  const resource = resources.get(uri);
  // A new object means new content.
  if (resource && !resource.updates) return { uri, state: async () => resource };
  const place = skillPathAt(uris, uri);
  // A file that cannot be read right now exists all the same.
  const versionAt = ({ listed, path }: SkillPath) => listed.skill.files.version(path).catch(() => UNREADABLE);
  if (!resource && place) return { uri: uriOf(place.root, place.path), state: () => versionAt(place) };
  const updates = resource?.updates ?? templates.find((one) => one.matches(uri))?.updatesOf?.(uri);
  return updates && { uri, state: async () => updates.origin, follow: updates.follow };
}

/** The error for a URI without a resource, or with one that cannot be read. */
export function nothingAt(uri: string, why = NOTHING): RpcError {
  return invalidParams(`${echo(uri)}: ${why}`, { uri });
}

export function uriParam(uri: unknown): string {
  if (typeof uri !== 'string') throw invalidParams('uri must be text');
  if (uri.length > LONGEST_URI) throw invalidParams(`uri has over ${LONGEST_URI} characters`);
  return uri;
}

// --- internal ---

const UNREADABLE = 'unreadable';

const SKILL_FILE: TemplateDefinition = {
  uriTemplate: 'skill://{provider}/{skill}/{+file}',
  name: 'skill-file',
  title: 'File of a skill',
  description: 'One file of a skill, by its path in the skill. resources/directory/read lists the files.',
};

const uriIn = ({ uri }: ResourceDefinition) => uri;

/** Every SKILL.md and all other resources. The other files of a skill are found by reading its directory. */
const listsOf = perSnapshot(({ uris, resources, templates }) => {
  const skills = [...uris.roots].map(([root, listed]) => skillDefinition(root, listed));
  const others = [...resources.values()].map(({ definition }) => definition);
  const definitions = [SKILL_FILE, ...templates.map(({ definition }) => definition)];
  return {
    resources: sortedList('resources', [...skills, ...others], uriIn),
    // The template of skills comes first.
    templates: sortedList('resourceTemplates', definitions, (one) => (one === SKILL_FILE ? '' : one.uriTemplate)),
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

/** What gives the result of `resources/read`. */
function readerAt({ resources, uris, templates }: Snapshot, uri: string): Resource['read'] | undefined {
  const resource = resources.get(uri);
  if (resource) return (call) => resource.read(call);
  const place = skillPathAt(uris, uri);
  if (place) return ({ signal }) => readFile(place, uri, signal);
  const template = templates.find((one) => one.matches(uri));
  return template && ((call) => template.read(uri, call));
}

const NOTHING = 'nothing is served there';
const WHY = { missing: NOTHING, directory: 'is a directory; resources/directory/read lists it' };

/** `asked`: the URI as the client spells it. */
async function readFile({ root, path, listed }: SkillPath, asked: string, signal: AbortSignal): Promise<object> {
  const reading = await listed.skill.files.read(path, signal);
  if (reading.kind === 'read') return { contents: [contentOf(uriOf(root, path), path, reading.bytes)] };
  if (reading.kind === 'moving') throw internalError(`${echo(asked)} is changing right now; read it again`);
  throw nothingAt(asked, reading.kind === 'refused' ? reading.why : WHY[reading.kind]);
}

/** What gives the children of a directory. */
function directoryAt(snapshot: Snapshot, uri: string) {
  const place = skillPathAt(snapshot.uris, uri);
  if (place) return (signal: AbortSignal) => childrenIn(snapshot, place, signal);
  const skills = skillsUnder(snapshot, uri);
  return skills.length === 0 ? undefined : () => skills;
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
function skillsUnder({ uris }: Snapshot, uri: string): readonly ResourceDefinition[] {
  if (!/^skill:\/\/[^/]/.test(uri)) return [];
  const below = [...uris.roots.keys()].filter((root) => root.startsWith(`${uri}/`));
  const names = new Set(below.map((root) => root.slice(uri.length + 1).split('/', 1)[0] ?? ''));
  return [...names].map((name) => ({
    uri: `${uri}/${name}`,
    name: visibleLine(decodeURIComponent(name)),
    mimeType: DIRECTORY_TYPE,
  }));
}
