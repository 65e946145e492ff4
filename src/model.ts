/**
 * The types that all rooms share: skills, the items of sources, problems, and the snapshot of everything that is served.
 * Types only. Always true: everything is readonly; a change is a new object.
 */
import type { Call, EncodedResult } from './protocol/index.ts';

/** `mcp`: on an upstream server, which is then the provider. */
export type Location = 'project' | 'global' | 'plugin' | 'custom' | 'mcp';

export interface Plugin {
  readonly name: string;
  readonly marketplace: string;
}

/** One directory with a usable SKILL.md, reached from one root. Plain data. */
export interface Skill {
  /** From the front matter, on one line and without invisible characters. */
  readonly name: string;
  readonly description: string;
  /** Whom the root belongs to by convention: `agents`, `claude`, `codex`, `custom`, …, or the upstream server. */
  readonly provider: string;
  readonly location: Location;
  readonly plugin?: Plugin | undefined;
  /** The directory that was searched. */
  readonly root: string;
  readonly directory: string;
  /** Its SKILL.md; for an upstream skill the URI of that. */
  readonly file: string;
  /** Equal for two paths to one real directory. */
  readonly identity: string;
  /** SKILL.md, byte for byte, as of the scan. Undefined for an upstream skill, which is read when it is asked for. */
  readonly bytes?: Buffer | undefined;
  readonly files: SkillFiles;
}

/**
 * The files of one skill, as they are now. Paths are relative to it, with slashes on every system; the skill itself is ''.
 * All three throw a FileError (files/read.ts). `call`: the request that wants it; an upstream server is asked for it.
 */
export interface SkillFiles {
  read(path: string, limit: number, call?: Call): Promise<Buffer>;
  /** The direct children of a directory, by name. */
  list(path: string, call?: Call): Promise<readonly SkillChild[]>;
  /** Everything for an entry of the Skills extension. */
  manifest(call?: Call): Promise<Manifest>;
}

export interface SkillChild {
  readonly name: string;
  readonly kind: 'file' | 'directory';
  readonly size?: number;
}

export interface Manifest {
  /** The front matter as JSON values. Throws a FileError where that cannot be given. */
  head(): Readonly<Record<string, unknown>>;
  /**
   * Sorted by path; a digest is `sha256:` and 64 hexadecimal digits. `dynamic`: made on demand by an upstream server, so that
   * digests have no meaning.
   */
  readonly files: readonly { readonly path: string; readonly size: number; readonly digest: string }[] | 'dynamic';
}

/** A fault that was found while scanning: data, for people. */
export interface Problem {
  readonly where: string;
  readonly what: string;
  /** What a person can do about it, as a whole sentence. */
  readonly hint?: string;
  /** Nothing is lost by it: it is logged at level debug only, and `doctor` does not fail because of it. */
  readonly mild?: true;
}

/** A directory whose changes cause a refresh. `identity`: which directory it was when it was listed (files/stat.ts). */
export interface WatchedDirectory {
  readonly path: string;
  readonly identity: string;
}

/** What a source lists under a name or URI, and what runs behind it. */
interface Item<Members = unknown> {
  /** The upstream server that has it. */
  readonly server?: string;
  /** As it is listed. The name is the plain spelling (`server:tool`); some clients are shown another. */
  readonly definition: { readonly name: string; readonly [extra: string]: unknown } & Readonly<Members>;
}

export interface Tool extends Item<{ inputSchema: object }> {
  /** The call runs on a snapshot that is refreshed for it. Only for our own tools. */
  readonly isFresh?: true;
  /** The definition for one snapshot and client, where they matter. */
  define?(snapshot: Snapshot, view: ToolView): Tool['definition'];
  run(args: unknown, snapshot: Snapshot, call: Call): ToolOutcome | Promise<ToolOutcome>;
}

export type ToolOutcome = ToolResult | EncodedResult;

export interface ToolResult {
  readonly content: readonly object[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [extra: string]: unknown;
}

/** How our own tools are shown to one client. */
export interface ToolView {
  readonly describe: 'auto' | 'full' | 'compact' | 'list';
  /** Characters of the description that lists the skills. */
  readonly budget: number;
  /** The client's spelling of one of our tool names; undefined for a tool that is not served. */
  spell(name: string): string | undefined;
}

export interface Prompt extends Item {
  get(call: Call): object | Promise<object>;
}

export interface Resource extends Item<{ uri: string }> {
  read(call: Call): object | Promise<object>;
}

/** Resources that are not listed one by one. */
export interface Template extends Item<{ uriTemplate: string }> {
  matches(uri: string): boolean;
  read(uri: string, call: Call): object | Promise<object>;
}

/** Everything that a source has at one moment. */
export interface Contribution {
  readonly skills?: readonly Skill[];
  readonly tools?: readonly Tool[];
  readonly prompts?: readonly Prompt[];
  readonly resources?: readonly Resource[];
  readonly templates?: readonly Template[];
  /** The names of the upstream servers that have nothing listed yet: a filter may name what they will bring. */
  readonly awaited?: readonly string[];
  readonly problems?: readonly Problem[];
}

export interface Source {
  readonly name: string;
  /** Returns the same object as last time when nothing has changed. */
  load(): Promise<Contribution>;
  /** The directories that the last load listed. */
  watched?(): readonly WatchedDirectory[];
  /** Called once, before the first load. The source calls `changed` when `load` would return something new. */
  onChange?(changed: (reason: string) => void): void;
  /** The upstream servers behind this source. */
  status?(): readonly UpstreamStatus[];
  /** After the last response: ends what the source has started; resolves when that is done. */
  close?(): Promise<void>;
}

/** A skill and the shortest name that loads it. */
export interface ListedSkill {
  readonly id: string;
  readonly skill: Skill;
  /** Its provider's project has another skill of the name: it loads by `id`, and is not shown to models. */
  readonly isShadowed: boolean;
}

export type Resolution =
  | { readonly kind: 'found'; readonly listed: ListedSkill }
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] }
  | { readonly kind: 'missing'; readonly near: readonly string[] };

/** The skills of one snapshot by name. */
export interface Names {
  /** In a stable order. */
  readonly listed: readonly ListedSkill[];
  /** Without those that are shadowed: these are in the tool description and are prompts. */
  readonly visible: readonly ListedSkill[];
  resolve(name: string): Resolution;
}

/** Everything that is served, at one moment. Immutable: what is made from it is made once. */
export interface Snapshot {
  readonly names: Names;
  /** `skill://claude/pdf` and its skill, sorted by URI. */
  readonly uris: ReadonlyMap<string, ListedSkill>;
  /** Those of sources; of several with one name, the first counts. Our own tools are not among them. */
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  /** Those that are not files of skills, by URI. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** The first that matches a URI reads it. */
  readonly templates: readonly Template[];
  readonly problems: readonly Problem[];
}

export type UpstreamState = 'connecting' | 'ready' | 'failed' | 'disconnected' | 'untrusted' | 'disabled';

/** The state of one upstream server, and how many of each it has listed. It contains no secrets. */
export interface UpstreamStatus
  extends Readonly<Record<'tools' | 'prompts' | 'resources' | 'templates' | 'skills', number>> {
  readonly name: string;
  /** The file that configures it. */
  readonly from: string;
  readonly transport: 'stdio' | 'http' | 'sse' | 'none';
  readonly state: UpstreamState;
  /** Why it is not ready. */
  readonly reason?: string | undefined;
  /** When it is tried again, as an ISO date. */
  readonly nextAttempt?: string | undefined;
  readonly protocol?: string | undefined;
  readonly server?: { readonly name: string; readonly version: string } | undefined;
}
