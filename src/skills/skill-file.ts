/**
 * One SKILL.md on this machine: when it is read, and which skill or Problem it becomes.
 * Leaves alone: where it was found (walk.ts), when it is looked at (scan.ts), its syntax (front-matter.ts).
 * Always true: an unchanged file is not opened, and equal bytes stay the same skill object; a half-written file is never
 * shown, because only the version that was looked at before is read. Its last good state is shown.
 */
import { basename, sep } from 'node:path';
import { ChangingError, type FileContent, type Memory, NOFOLLOW, readInside, readStable } from '../files/read.ts';
import {
  codeOf,
  isMissing,
  isTransient,
  keyOf,
  lstatOf,
  sameFile,
  sameVersion,
  statOf,
  type Version,
  versionOf,
} from '../files/stats.ts';
import { messageOf } from '../log.ts';
import type { Identity, Location, Plugin, Problem, Skill, SkillFiles } from '../model.ts';
import { delay } from '../wait.ts';
import { type HeadReading, readHead, remarkOn } from './front-matter.ts';
import { ABSENCE_MS, MAX_SKILL_BYTES } from './limits.ts';
import { nameKey } from './names.ts';
import { type Root, SKILL_FILE } from './roots.ts';

/** A directory as a walk has found it. */
export interface ListedDirectory {
  readonly listing: { readonly real: string; readonly version: Version | undefined } | undefined;
}

/** Whether surely no entry of the directory was replaced since it was listed. */
export function isUntouched({ listing }: ListedDirectory): boolean {
  try {
    return listing?.version !== undefined && sameVersion(listing.version, lstatOf(listing.real));
  } catch {
    return false; // It was removed.
  }
}

export class SkillFile {
  readonly root: Root;
  readonly directory: string;
  /** The directory around it; undefined when a link leads to it. */
  readonly parent: ListedDirectory | undefined;
  /** The real path of the directory, and which one it is. */
  readonly real: string;
  readonly identity: Identity;
  /** Surely a regular file itself, and not a link. */
  isPlain = false;
  skill: LocalSkill | undefined = undefined;
  problem: Problem | undefined = undefined;
  /** What skill and problem are made of, or will be when it is read; undefined: the file is read at the next scan. */
  #look: Seen | undefined = undefined;
  /** Whether the file was just seen unchanged. */
  #isSeen = false;

  constructor(root: Root, place: Pick<SkillFile, 'directory' | 'parent' | 'real' | 'identity'>) {
    this.root = root;
    this.directory = place.directory;
    this.parent = place.parent;
    this.real = place.real;
    this.identity = place.identity;
  }

  get path(): string {
    return this.directory + sep + SKILL_FILE;
  }

  /** Whether the file must be read. A file that is looked at is read only as the version that was seen. */
  look(): boolean {
    const now = lookAt(this.path);
    if (this.#look !== undefined && sameLook(this.#look, now)) return false;
    this.#look = typeof now === 'string' ? now : versionOf(now);
    return true;
  }

  /** Whether the file is as it was when it was last looked at, now or in this turn. Throws when it cannot be looked at. */
  isUnchanged(): boolean {
    if (this.#isSeen) return true;
    if (this.#look === undefined || !sameLook(this.#look, statOf(this.path))) return false;
    // Requests that arrived together share one look. It is forgotten before the next input is read, so a client that
    // changes a file and then asks for it is never answered by a look from before.
    this.#isSeen = true;
    queueMicrotask(() => {
      this.#isSeen = false;
    });
    return true;
  }

  /**
   * Gives false while the file is changing. `room`: the most bytes that may be held in memory. `memory`: where they go; the
   * caller then makes sure that the directory was not replaced meanwhile.
   */
  read(room: number, memory?: Memory): boolean | Promise<boolean> {
    const look = this.#look;
    this.#look = undefined;
    try {
      const content = this.#readBytes(memory);
      if (look !== undefined && !sameLook(look, content.version)) return false;
      const head = readHead(content.bytes);
      if (!(head instanceof Promise)) return this.#accept(head, content, room);
      return head.then(
        (later) => this.#accept(later, content, room),
        (error) => this.#keep(error),
      );
    } catch (error) {
      return this.#fail(error, look);
    }
  }

  /** What was read may be of another directory. */
  discard(): void {
    this.skill = undefined;
    this.problem = undefined;
    this.#look = undefined;
  }

  #readBytes(memory: Memory | undefined): FileContent {
    if (!this.isPlain) return readInside(this.real, SKILL_FILE, MAX_SKILL_BYTES);
    const content = readStable(this.real + sep + SKILL_FILE, MAX_SKILL_BYTES, NOFOLLOW, memory);
    // For a plain file one look at its directory after opening is enough, at a third of the cost of `readInside`.
    if (!memory && !sameFile(lstatOf(this.real), this.identity)) throw new ChangingError();
    return content;
  }

  #accept(head: HeadReading, { bytes, version, recent }: FileContent, room: number): true {
    if (!recent) this.#look = version;
    if (head.kind === 'unusable') {
      this.skill = undefined;
      this.problem = { where: this.path, what: head.why };
      return true;
    }
    const held = bytes.length <= room ? bytes : undefined;
    const remark = head.note === undefined ? remarkOn(head.name, basename(this.directory)) : { what: head.note };
    if (!held || !this.skill?.bytes?.equals(held)) this.skill = new LocalSkill(this, head, held, !remark);
    this.problem = remark && { where: this.path, ...remark };
    return true;
  }

  /** For an error that says nothing about the file: the last skill stays, and the file is read again. */
  #keep(error: unknown): true {
    this.problem = { where: this.path, what: `cannot be read: ${messageOf(error)}` };
    return true;
  }

  #fail(error: unknown, look: Seen | undefined): boolean {
    if (error instanceof ChangingError) return false;
    if (isTransient(error)) return this.#keep(error);
    const what = isMissing(error) ? 'is a link that leads nowhere' : `cannot be read: ${messageOf(error)}`;
    const isGone = isMissing(error) && this.isPlain;
    this.problem = isGone ? undefined : { where: this.path, what };
    this.skill = undefined;
    if (!isGone) this.#look = look;
    return !isGone;
  }
}

/** A class, because there are thousands of them: methods as closures cost memory and time for each skill. */
export class LocalSkill implements Skill {
  readonly name: string;
  readonly key: string;
  readonly description: string;
  readonly bytes: Buffer | undefined;
  readonly isRegular: boolean;
  readonly #from: SkillFile;

  /** `bytes`: undefined when memory for texts is full. */
  constructor(
    from: SkillFile,
    head: Pick<Skill, 'name' | 'description'>,
    bytes: Buffer | undefined,
    isRegular: boolean,
  ) {
    this.name = head.name;
    this.key = nameKey(head.name);
    this.description = head.description;
    this.bytes = bytes;
    this.isRegular = isRegular;
    this.#from = from;
  }

  get directory(): string {
    return this.#from.directory;
  }

  get file(): string {
    return this.#from.path;
  }

  get provider(): string {
    return this.#from.root.provider;
  }

  get location(): Location {
    return this.#from.root.location;
  }

  get plugin(): Plugin | undefined {
    return this.#from.root.plugin;
  }

  get root(): string {
    return this.#from.root.directory;
  }

  get place(): string {
    return keyOf(this.#from.identity);
  }

  get files(): SkillFiles {
    return lateFiles(this.#from.real);
  }

  read(): Buffer | Promise<Buffer> {
    try {
      return this.#readNow();
    } catch (error) {
      if (!isMissing(error)) throw error;
      return delay(ABSENCE_MS).then(() => this.#readNow());
    }
  }

  /** The new bytes of a changed file are served after the next refresh, together with its new name and description. */
  #readNow(): Buffer {
    if (this.bytes && this.#from.isUnchanged()) return this.bytes;
    try {
      const { bytes } = readInside(this.#from.real, SKILL_FILE, MAX_SKILL_BYTES);
      return this.bytes ?? bytes;
    } catch (error) {
      if (!this.bytes || !(error instanceof ChangingError)) throw error;
      return this.bytes;
    }
  }
}

// --- internal ---

/** The code that reads files besides SKILL.md is loaded when one is first asked for. */
function lateFiles(home: string): SkillFiles {
  const load = async () => (await import('./contents.ts')).localFiles(home);
  return {
    manifest: async (...args) => (await load()).manifest(...args),
    read: async (...args) => (await load()).read(...args),
    list: async (...args) => (await load()).list(...args),
    version: async (...args) => (await load()).version(...args),
  };
}

/** A version, or the code of the error: as long as the error stays the same, reading again is useless. */
type Seen = Version | string;

function lookAt(path: string) {
  try {
    return statOf(path);
  } catch (error) {
    return codeOf(error);
  }
}

function sameLook(a: Seen, b: Seen): boolean {
  return typeof a === 'object' && typeof b === 'object' ? sameVersion(a, b) : a === b;
}
