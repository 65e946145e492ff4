/**
 * `resources/*`: the files of skills, and the resources of sources.
 * Owns: which resources are listed, and what answers for a URI. Leaves alone: files and their form (skills/contents.ts),
 * URIs (skills/uris.ts).
 * Always true: a file is read when it is asked for, and its bytes are given as they are then.
 */
import type { Registry } from '../catalog/registry.ts';
import { FileError } from '../files/read.ts';
import { MAX_FILE_BYTES, MAX_URI } from '../limits.ts';
import type { ListedSkill, Resource, Snapshot } from '../model.ts';
import { type Call, invalidParams, type RpcError } from '../protocol/index.ts';
import { contentOf, DIRECTORY_TYPE, typeOfName } from '../skills/contents.ts';
import { skillPathAt, uriOf } from '../skills/uris.ts';
import { echo, printable, visibleLine } from '../text.ts';
import { createList, type Feature, perSnapshot, readMethod } from './lists.ts';

export function createResources(registry: Registry): Feature {
  const methods = [
    readMethod(registry, 'resources/list', (snapshot, { cursor }) => resourceLists(snapshot)(cursor)),
    readMethod(registry, 'resources/templates/list', (snapshot, { cursor }) => templateLists(snapshot)(cursor)),
    readMethod(registry, 'resources/read', (snapshot, { uri }, call) => read(snapshot, uriParam(uri), call)),
    readMethod(registry, 'resources/directory/read', async (snapshot, params, call) => {
      const uri = uriParam(params.uri);
      const children = await readDirectory(snapshot, uri, call);
      return createList('resources', children, (child) => child.uri, uri)(params.cursor);
    }),
  ];
  return {
    name: 'resources',
    methods,
    contents: ({ uris, resources, templates }) => [
      ...Array.from(uris, ([root, { id, skill }]) => [root, id, skill.name, skill.description].join('\n')),
      ...[...resources.values(), ...templates].map(({ definition }) => definition),
    ],
  };
}

export function uriParam(uri: unknown): string {
  if (typeof uri !== 'string') throw invalidParams('uri must be text');
  if (uri.length > MAX_URI) throw invalidParams(`uri has over ${MAX_URI} characters`);
  return uri;
}

/** The error for a URI that is not served. */
export function nothingAt(uri: string, why = 'nothing is served there'): RpcError {
  return invalidParams(`${echo(uri)}: ${why}`, { uri });
}

/** What looking at a file gives. A FileError about what was asked for is the client's; others are logged as faults. */
export async function lookFor<T>(uri: string, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof FileError) || error.kind === 'unreadable' || error.kind === 'changing') throw error;
    throw nothingAt(uri, error.kind === 'missing' ? undefined : error.message);
  }
}

// --- internal ---

type Definition = Resource['definition'];

/** Every SKILL.md and the resources of sources. The other files of a skill are found by reading its directory. */
const resourceLists = perSnapshot(({ uris, resources }) => {
  const skills = Array.from(uris, ([root, listed]) => skillDefinition(root, listed));
  const others = Array.from(resources.values(), ({ definition }) => definition);
  return createList('resources', [...skills, ...others], ({ uri }) => uri);
});
const templateLists = perSnapshot(({ templates }) => {
  const definitions = templates.map(({ definition }) => definition);
  return createList('resourceTemplates', definitions, ({ uriTemplate }) => uriTemplate);
});

function skillDefinition(root: string, { id, skill }: ListedSkill): Definition {
  const { name, description } = skill;
  return { uri: uriOf(root, 'SKILL.md'), name, title: id, description, mimeType: 'text/markdown' };
}

async function read(snapshot: Snapshot, uri: string, call: Call): Promise<object> {
  const resource = snapshot.resources.get(uri);
  if (resource) return resource.read(call);
  const target = skillPathAt(snapshot, uri);
  if (target) {
    const { root, path, listed } = target;
    const bytes = await lookFor(uri, () => listed.skill.files.read(path, MAX_FILE_BYTES, call));
    return { contents: [contentOf(uriOf(root, path), path, bytes)] };
  }
  const template = snapshot.templates.find((one) => one.matches(uri));
  if (!template) throw nothingAt(uri);
  return template.read(uri, call);
}

async function readDirectory(snapshot: Snapshot, uri: string, call: Call): Promise<readonly Definition[]> {
  const target = skillPathAt(snapshot, uri);
  if (!target) return skillsBelow(snapshot, uri);
  const { root, path, listed } = target;
  const children = await lookFor(uri, () => listed.skill.files.list(path, call));
  return children.map(({ name, kind, size }): Definition => {
    const child = uriOf(root, path === '' ? name : `${path}/${name}`);
    const shown = visibleLine(name) || printable(name);
    if (kind === 'directory') return { uri: child, name: shown, mimeType: DIRECTORY_TYPE };
    const skill = name === 'SKILL.md' ? snapshot.uris.get(uriOf(root, path)) : undefined;
    const definition = skill ? skillDefinition(uriOf(root, path), skill) : { name: shown, mimeType: typeOfName(name) };
    return { ...definition, uri: child, size };
  });
}

/** The next level below a prefix of skill URIs, which is a directory too: `skill://claude`, or a plugin below it. */
function skillsBelow({ uris }: Snapshot, uri: string): readonly Definition[] {
  const below = /^skill:\/\/[^/]/.test(uri) ? [...uris.keys()].filter((root) => root.startsWith(`${uri}/`)) : [];
  if (below.length === 0) throw nothingAt(uri);
  const names = new Set(below.map((root) => root.slice(uri.length + 1).split('/', 1)[0] ?? ''));
  return Array.from(names, (name) => {
    return { uri: `${uri}/${name}`, name: visibleLine(decodeURIComponent(name)), mimeType: DIRECTORY_TYPE };
  });
}
