/**
 * The types that all parts share: skills, tools, problems, sources, and the snapshot of everything that is served.
 * Always true: everything is readonly; a change is a new object.
 */
import type { Call, EncodedResult, LogLevel } from './protocol/index.ts';

/** `mcp`: on an upstream server, which is the provider. */
export type Location = 'project' | 'global' | 'plugin' | 'custom' | 'mcp';

export interface Plugin {
  readonly name: string;
  readonly marketplace: string;
}

/** One directory with a usable SKILL.md, reached from one root. */
export interface Skill {
  /** From the front matter, on one line. */
  readonly name: string;
  /** The form of `name` in which names are compared: see `nameKey`. */
  readonly key: string;
  readonly description: string;
  /** The agent that the root belongs to by convention: `agents`, `claude`, `codex`, `custom`, … */
  readonly provider: string;
  /** The upstream server that it belongs to, as for tools and resources. */
  readonly server?: string;
  readonly location: Location;
  readonly plugin: Plugin | undefined;
  readonly root: string;
  readonly directory: string;
  readonly file: string;
  /** Its name is valid and equals that of its directory. May be left out. */
  readonly isRegular?: boolean;
  /** Equal for two paths of one real directory. */
  readonly place: string;
  /** The whole SKILL.md as it was when scanned; undefined when the limit of texts in memory was reached. */
  readonly bytes: Buffer | undefined;
  /** The bytes of SKILL.md; throws when the file can no longer be read. */
  read(): Buffer | Promise<Buffer>;
  readonly files: SkillFiles;
}

/** All files of one skill, as they are now. Paths are relative to it, with slashes on every system. */
export interface SkillFiles {
  /**
   * All files, of one version of the skill. `records`: the files that the same request has read so far; they are not
   * read again, so that two manifests agree about a file that both contain.
   */
  manifest(signal: AbortSignal, records?: Map<string, FileRecord>): Promise<ManifestReading>;
  /** `maxBytes`: a longer file is refused without being read. */
  read(path: string, signal: AbortSignal, maxBytes?: number): Promise<FileReading>;
  /** The direct children of a directory, by name; the skill itself is ''. Undefined: no directory that can be read. */
  list(path: string, signal: AbortSignal): Promise<readonly SkillChild[] | undefined>;
  /** Equal as long as the file's bytes are; undefined when there is no such file. */
  version(path: string): Promise<string | undefined>;
}

export interface ManifestFile extends Pick<FileRecord, 'size' | 'digest'> {
  readonly path: string;
}

/** What reading one file has given. `head`: only of a SKILL.md. */
export interface FileRecord {
  readonly size: number;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  readonly head: FrontMatter | undefined;
}

/** Front matter as JSON values. */
export type FrontMatter =
  | { readonly kind: 'read'; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unfit'; readonly why: string };

export type ManifestReading =
  | {
      readonly kind: 'whole';
      /** The front matter of the SKILL.md in `files`, as JSON values. */
      readonly head: Readonly<Record<string, unknown>>;
      /** Sorted by path, each once; `dynamic` when the content is made on demand, so that a digest has no meaning. */
      readonly files: readonly ManifestFile[] | 'dynamic';
    }
  /** It loads, but cannot be listed with digests. `files`: when only its front matter is at fault. */
  | { readonly kind: 'unfit'; readonly why: string; readonly files?: readonly ManifestFile[] }
  /** `gone`: its directory or its SKILL.md is. `moving`: it kept changing while it was read. */
  | { readonly kind: 'gone' | 'moving' };

export type FileReading =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  /** `moving`: it kept changing while it was read. */
  | { readonly kind: 'missing' | 'directory' | 'moving' }
  | { readonly kind: 'refused'; readonly why: string };

export interface SkillChild {
  readonly name: string;
  readonly kind: 'file' | 'directory';
  readonly size?: number;
}

/** A fault in a file or directory that was found while scanning. */
export interface Problem {
  readonly where: string;
  readonly what: string;
  /** Nothing is lost by it, so it is logged at level debug only. */
  readonly mild?: true;
}

/** A directory whose changes, or those of one entry in it alone, cause a refresh. */
export interface Watched {
  readonly directory: string;
  readonly only?: string;
  /** Which directory it was when it was scanned: a watch sees no changes in a directory that replaced it. */
  readonly identity: Identity | undefined;
}

/** Which file or directory it is, by whatever path: inode numbers are reused, but not with the birth time. */
export interface Identity {
  readonly dev: number;
  /** A bigint where a number would not be exact. */
  readonly ino: number | bigint;
  readonly birthtimeMs: number;
}

/** Everything that a source has at one moment. */
export interface Contribution {
  readonly skills?: readonly Skill[];
  readonly resources?: readonly Resource[];
  readonly templates?: readonly Template[];
  readonly tools?: readonly Tool[];
  readonly prompts?: readonly Prompt[];
  /** The names of all upstream servers, connected or not. */
  readonly servers?: readonly string[];
  readonly problems?: readonly Problem[];
}

/** The upstream server that a name belongs to. */
export interface Owner {
  readonly isReady: boolean;
  /** For people: "failed: exited with code 1; next attempt in 4 s". */
  readonly state: string;
}

export interface Source {
  readonly name: string;
  /** Returns the same object as last time when nothing has changed. */
  load(): Promise<Contribution>;
  /** The directories to watch, as of the last load; the same object while they have not changed. */
  watched?(): readonly Watched[];
  /** Whether `watched` has all that `load` depends on: while no watch reports anything, nothing has changed. */
  isFullyWatched?(): boolean;
  /** Whether the last load found a file that was being written: the source is then loaded again soon. */
  isUnsettled?(): boolean;
  /** Resolves when the source has everything that it has at the start. The first lists wait for it, up to a second. */
  arrived?(): Promise<unknown>;
  /** The server that a tool, prompt or skill of that name would be on; undefined when no server has such names. */
  explain?(name: string): Owner | undefined;
  /** Called once, before the first load. The source calls `changed` when `load` would return something new. */
  onChange?(changed: (reason: string) => void): void;
  /**
   * From now on, log messages of this level and above that belong to no request go to `send`; none when the level is
   * undefined.
   */
  followLog?(level: LogLevel | undefined, send: (message: LogMessage) => void): void;
  /** Of the upstream servers behind this source. */
  status?(): readonly UpstreamStatus[];
  /** Called after the last response: the source ends what it has started, and the promise resolves when that is done. */
  close?(): Promise<void>;
}

/** The parameters of `notifications/message`. */
export interface LogMessage {
  readonly level: LogLevel;
  readonly logger: string;
  readonly data: unknown;
}

/** A skill and the shortest name that loads it. */
export interface ListedSkill {
  readonly id: string;
  readonly skill: Skill;
  /** Its provider and name load another skill. */
  readonly isShadowed?: true;
}

export type Resolution =
  | { readonly kind: 'found'; readonly id: string; readonly skill: Skill }
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] }
  | { readonly kind: 'missing' };

/** The skills of one snapshot by name. */
export interface Names {
  readonly listed: readonly ListedSkill[];
  /** Without the skills that another skill of the same provider hides: these are in the description and are prompts. */
  readonly visible: readonly ListedSkill[];
  /** Skills that are not listed because they are another path to, or a folded copy of, one that is: each with that one. */
  readonly originals: ReadonlyMap<Skill, Skill>;
  /** Names that mean several skills, and skills that another one hides. */
  readonly problems: readonly Problem[];
  resolve(name: string): Resolution;
  /** Ids that are similar to `name`, the most similar first. */
  near(name: string): readonly string[];
}

/** The skills of one snapshot by resource URI. A skill whose name does not fit into a URI has none. */
export interface SkillUris {
  /** They are assigned on first use, all at once. This does it beforehand, with breaks. */
  prepare(): Promise<void>;
  /** `skill://claude/pdf` and its skill, sorted by URI. */
  readonly roots: ReadonlyMap<string, ListedSkill>;
  rootOf(skill: Skill): string | undefined;
  /** Skills that cannot be in `skills/list`. */
  readonly problems: readonly Problem[];
}

export interface Snapshot {
  readonly generation: number;
  /** Every source had arrived, or had had its time to: no client is listed an earlier snapshot. */
  readonly isComplete: boolean;
  readonly names: Names;
  readonly uris: SkillUris;
  /** Resources that are not files of skills, by URI. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** Sorted, each once. The first that matches a URI reads it. */
  readonly templates: readonly Template[];
  /** All that are configured, connected or not. */
  readonly servers: readonly string[];
  readonly tools: readonly Tool[];
  /** Those that are not skills, each name once. */
  readonly prompts: readonly Prompt[];
  readonly problems: readonly Problem[];
}

export interface ResourceDefinition {
  readonly uri: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly size?: number | undefined;
  readonly [extra: string]: unknown;
}

/** Without `updates`, a new object under the same URI means that its content has changed. */
export interface Resource {
  readonly server?: string;
  readonly definition: ResourceDefinition;
  /** The result of `resources/read`. */
  read(call: Call): object | Promise<object>;
  readonly updates?: Updates;
}

/** Changes of a resource that its server announces. */
export interface Updates {
  /** The same as long as they are announced by the same server. */
  readonly origin: object;
  /** Calls `changed` at each until the signal fires. Rejects, with a reason for people, when the server announces none. */
  follow(changed: () => void, until: AbortSignal): Promise<void>;
}

export interface TemplateDefinition {
  readonly uriTemplate: string;
  readonly name: string;
  readonly [extra: string]: unknown;
}

/** Resources that are not listed one by one. */
export interface Template {
  readonly server?: string;
  readonly definition: TemplateDefinition;
  matches(uri: string): boolean;
  read(uri: string, call: Call): object | Promise<object>;
  updatesOf?(uri: string): Updates;
  /** The result of `completion/complete`. Without it, there are no values to offer. */
  complete?(call: Call): object | Promise<object>;
}

export interface PromptDefinition {
  /** The plain spelling; some clients are shown another. Filters compare what is behind `server:`. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly object[];
  readonly [extra: string]: unknown;
}

export interface Prompt {
  readonly server?: string;
  readonly definition: PromptDefinition;
  /** The result of `prompts/get`. */
  get(call: Call): object | Promise<object>;
  /** As of a template. */
  complete?(call: Call): object | Promise<object>;
}

export type UpstreamState = 'connecting' | 'ready' | 'failed' | 'disconnected' | 'untrusted' | 'disabled';

/** The state of one upstream server. It contains no secrets. */
export interface UpstreamStatus {
  readonly name: string;
  /** The file it is configured in. */
  readonly from: string;
  readonly transport: 'stdio' | 'http' | 'sse' | 'none';
  readonly state: UpstreamState;
  /** Why it is not ready. */
  readonly reason?: string;
  /** When it is tried again, as an ISO date. */
  readonly nextAttempt?: string;
  readonly tools: number;
  readonly resources: number;
  readonly templates: number;
  readonly prompts: number;
  readonly skills: number;
  readonly protocol?: string;
  readonly server?: { readonly name: string; readonly version: string };
}

/** How tools are shown to one client. */
export interface ToolView {
  /** `auto`: full while that fits the budget, else compact. */
  readonly describe: 'auto' | 'full' | 'compact' | 'list';
  /** In characters, unless the client counts bytes. */
  readonly budget: number;
  readonly inBytes?: boolean | undefined;
  /** The client accepts structured content that is not an object. */
  readonly anyStructure?: boolean;
  /** The client's spelling of one of our tool names. */
  spell(name: string): string;
  /** Whether the client is shown the tool of that plain name. */
  shows(name: string): boolean;
}

export interface ToolResult {
  readonly content: readonly object[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [extra: string]: unknown;
}

/** With a `resultType` it is not a result but, for example, a request for input that the client must answer first. */
export type ToolOutcome =
  | ToolResult
  | { readonly resultType: string; readonly [extra: string]: unknown }
  | EncodedResult;

/** A source's tool needs `name`, `inputSchema`, `run` and, for the model, a `description`. */
export interface Tool {
  /** The plain spelling; some clients are shown another. Filters compare what is behind `server:`. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
  readonly annotations?: object;
  readonly server?: string;
  /** The tool runs on a snapshot that is refreshed for the call. Only for the server's own tools. */
  readonly fresh?: boolean;
  /** Members of the definition that depend on the snapshot or on the client. */
  define?(snapshot: Snapshot, view: ToolView): Readonly<Record<string, unknown>>;
  run(args: unknown, snapshot: Snapshot, call: Call): ToolOutcome | Promise<ToolOutcome>;
}
