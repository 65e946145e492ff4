/**
 * What an embedder's source contributes, checked before it is used.
 * Owns: which fields a contribution needs. Leaves alone: what they mean (model.ts).
 * Always true: nothing is copied or changed; an error names the first field that is missing or of the wrong kind.
 */
import * as v from 'valibot';
import type { Contribution } from '../model.ts';

export function checkContribution(contribution: unknown): Contribution {
  const [issue] = v.safeParse(CONTRIBUTION, contribution, { abortEarly: true }).issues ?? [];
  if (!issue) return contribution as Contribution;
  const field = v.getDotPath(issue) ?? 'what load gave';
  throw new Error(`${field} ${issue.received === 'undefined' ? 'is missing' : issue.message}`);
}

// --- internal ---

const TEXT = v.string('must be text');
const METHOD = v.function('must be a function');
const MEMBERS = v.custom((value) => typeof value === 'object' && value !== null, 'must be an object');

const listOf = <T extends v.ObjectEntries>(entries: T) =>
  v.optional(v.array(v.object(entries, 'must be an object'), 'must be a list'));

const SKILL = {
  name: TEXT,
  key: TEXT,
  description: TEXT,
  provider: TEXT,
  location: v.picklist(['project', 'global', 'plugin', 'custom', 'mcp'], 'must be one of the locations'),
  plugin: v.optional(v.object({ name: TEXT, marketplace: TEXT }, 'must be an object')),
  root: TEXT,
  directory: TEXT,
  file: TEXT,
  place: TEXT,
  read: METHOD,
  files: v.object({ manifest: METHOD, read: METHOD, list: METHOD, version: METHOD }, 'must be an object'),
};

const TOOL = {
  name: TEXT,
  description: v.optional(TEXT),
  inputSchema: MEMBERS,
  outputSchema: v.optional(MEMBERS),
  run: METHOD,
  define: v.optional(METHOD),
};

const RESOURCE = {
  definition: v.object({ uri: TEXT, name: TEXT }, 'must be an object'),
  read: METHOD,
  updates: v.optional(v.object({ origin: MEMBERS, follow: METHOD }, 'must be an object')),
};

const TEMPLATE = {
  definition: v.object({ uriTemplate: TEXT, name: TEXT }, 'must be an object'),
  matches: METHOD,
  read: METHOD,
  updatesOf: v.optional(METHOD),
  complete: v.optional(METHOD),
};

const PROMPT = {
  definition: v.object({ name: TEXT }, 'must be an object'),
  get: METHOD,
  complete: v.optional(METHOD),
};

const CONTRIBUTION = v.object(
  {
    skills: listOf(SKILL),
    tools: listOf(TOOL),
    resources: listOf(RESOURCE),
    templates: listOf(TEMPLATE),
    prompts: listOf(PROMPT),
    servers: v.optional(v.array(TEXT, 'must be a list')),
    problems: listOf({ where: TEXT, what: TEXT }),
  },
  'must be an object',
);
