/**
 * A skill in a directory of this machine.
 * Owns: its fields, and reading its SKILL.md when it is asked for. Leaves alone: when it is scanned (scan.ts).
 */
import type { Clock } from '../clock.ts';
import { readInside } from '../files/read.ts';
import { isMissing, statOf, versionOf } from '../files/stats.ts';
import type { Location, Plugin, Skill, SkillFiles } from '../model.ts';
import { cut, visibleLine } from '../text.ts';
import type { ContentsOf } from './contents.ts';
import type { SkillHead } from './front-matter.ts';
import { ABSENCE_MS, LONGEST_NAME, MAX_SKILL_BYTES } from './limits.ts';
import { nameKey } from './names.ts';
import type { Root } from './roots.ts';
import { SKILL_FILE, type SkillFile } from './walk.ts';

/** What all skills of one scanner share. */
export interface SkillTools {
  readonly contentsOf: ContentsOf;
  readonly clock: Clock;
}

/** A class, because there are thousands of them: methods as closures cost memory and time for each skill. */
export class LocalSkill implements Skill {
  readonly name: string;
  readonly key: string;
  readonly description: string;
  readonly provider: string;
  readonly location: Location;
  readonly plugin: Plugin | undefined;
  readonly root: string;
  readonly directory: string;
  readonly file: string;
  readonly place: string;
  readonly version: string;
  readonly text: string | undefined;
  readonly #real: string;
  readonly #tools: SkillTools;

  /** `head`: checked already. `text`: undefined when memory for texts is full. */
  constructor(
    root: Root,
    file: SkillFile,
    head: SkillHead,
    version: string,
    text: string | undefined,
    tools: SkillTools,
  ) {
    this.name = head.name;
    this.key = nameKey(head.name);
    this.description = head.description;
    this.provider = prefix(root.provider);
    this.location = root.location;
    this.plugin = root.plugin && { name: prefix(root.plugin.name), marketplace: prefix(root.plugin.marketplace) };
    this.root = root.directory;
    this.directory = file.directory;
    this.file = file.path;
    this.place = file.place;
    this.version = version;
    this.text = text;
    this.#real = file.real;
    this.#tools = tools;
  }

  get files(): SkillFiles {
    return this.#tools.contentsOf(this.#real);
  }

  read(): string | Promise<string> {
    try {
      return this.#readNow();
    } catch (error) {
      if (!isMissing(error)) throw error;
      return this.#tools.clock.delay(ABSENCE_MS).then(() => this.#readNow());
    }
  }

  #readNow(): string {
    if (this.text !== undefined && versionOf(statOf(this.file)) === this.version) return this.text;
    const reading = readInside(this.#real, SKILL_FILE, MAX_SKILL_BYTES);
    if (reading.kind === 'missing' || reading.kind === 'refused') throw reading.error;
    // The new text of a changed file is served after the next refresh, together with its new name and description.
    if (this.text !== undefined) return this.text;
    if (reading.kind === 'moving') throw new Error(`${this.file} is being written; ask again`);
    return reading.bytes.toString();
  }
}

// --- internal ---

/** A provider or plugin name as it stands before a skill's name and a colon. Directories and files choose them. */
const prefix = (text: string) => cut(visibleLine(text), LONGEST_NAME);
