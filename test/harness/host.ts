/**
 * A strict client of the Skills extension: lists skills, reads every file, and checks sizes, digests, URIs and front
 * matter. `verifyEntry` fails the test at the first wrong byte.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { memorySkillFiles, SkillCatalog } from '@modelcontextprotocol/server/ext/skills';
import { type Answer, type Json, modern, type Program } from './program.ts';

export type Ask = (method: string, params?: Json) => Promise<Answer>;

/** How a client of each era sends a request. */
export const ERAS: readonly (readonly [name: string, ask: (program: Program) => Ask])[] = [
  ['legacy', (program) => (method, params) => program.request(method, params)],
  ['modern', (program) => (method, params) => program.request(method, modern(params))],
];

export interface Verdict {
  /** Files whose bytes are exactly those that the entry describes. */
  readonly verified: number;
  /** Files that the server could not read, or whose bytes do not have the digest of the entry. */
  readonly refused: number;
}

/** All entries, page by page. */
export async function listAll(ask: Ask): Promise<readonly Answer[]> {
  const entries: Answer[] = [];
  let cursor: string | undefined;
  do {
    const { result, error } = await ask('skills/list', cursor === undefined ? {} : { cursor });
    assert.equal(error, undefined, JSON.stringify(error));
    entries.push(...result.skills);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return entries;
}

/** Reads every file of an entry and compares it with what the entry says. */
export async function verifyEntry(ask: Ask, entry: Answer): Promise<Verdict> {
  checkShape(entry);
  let [verified, refused] = [0, 0];
  for (const { uri, digest, size } of entry.resources) {
    const { result, error } = await ask('resources/read', { uri });
    if (error) {
      assert.ok([-32602, -32603].includes(error.code), JSON.stringify(error));
      refused++;
      continue;
    }
    assert.equal(result.contents.length, 1);
    const [content] = result.contents;
    assert.equal(content.uri, uri);
    const bytes = 'text' in content ? Buffer.from(content.text) : Buffer.from(content.blob, 'base64');
    if (`sha256:${createHash('sha256').update(bytes).digest('hex')}` !== digest) {
      refused++;
      continue;
    }
    assert.equal(bytes.length, size, uri);
    if (uri === entry.uri) await checkFrontMatter(entry, content.text);
    verified++;
  }
  return { verified, refused };
}

/** What a directory read gives below a URI, all levels, as the URIs of files. */
export async function filesBelow(ask: Ask, uri: string): Promise<readonly string[]> {
  const { result, error } = await ask('resources/directory/read', { uri });
  assert.equal(error, undefined, JSON.stringify(error));
  assert.equal(result.nextCursor, undefined);
  const deeper = result.resources.map((child: Answer) =>
    child.mimeType === 'inode/directory' ? filesBelow(ask, child.uri) : [child.uri],
  );
  return (await Promise.all(deeper)).flat();
}

function checkShape(entry: Answer): void {
  const root = entry.uri.slice(0, -'/SKILL.md'.length);
  assert.equal(root.split('/').at(-1), entry.frontmatter.name);
  assert.match(entry.frontmatter.name, /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/);
  const uris = entry.resources.map((resource: Answer) => resource.uri);
  assert.equal(new Set(uris).size, uris.length, 'each file once');
  assert.ok(uris.includes(entry.uri));
  for (const { uri, digest, size } of entry.resources) {
    assert.ok(uri.startsWith(`${root}/`), uri);
    assert.equal(new URL(uri).href, uri, 'the spelling is the canonical one');
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    assert.ok(Number.isInteger(size) && size >= 0);
  }
}

/** Field by field against what the official SDK makes of the file. */
async function checkFrontMatter(entry: Answer, text: string): Promise<void> {
  const file = { [`${entry.frontmatter.name}/SKILL.md`]: text };
  const [theirs] = (await SkillCatalog.load(memorySkillFiles(file))).entries;
  assert.deepEqual(entry.frontmatter, theirs?.frontmatter);
}
