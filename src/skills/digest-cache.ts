/**
 * What is known of files without reading them again.
 * Memory: a path, a version and a digest, some 400 bytes, for at most MOST_FILES files; and the front matter of those
 * that are a SKILL.md. No contents.
 */
import type { FrontMatter } from './front-matter-values.ts';

export interface FileRecord {
  readonly size: number;
  readonly digest: string;
  /** Only of a SKILL.md. */
  readonly head?: FrontMatter;
}

export interface Records {
  /** What was found when the file had this version. */
  recall(real: string, version: string): FileRecord | undefined;
  /** Forgets what was kept longest ago when there is too much. */
  keep(real: string, version: string, record: FileRecord): void;
}

export const MOST_FILES = 100_000;

export function createRecords(): Records {
  const records = new Map<string, { readonly version: string; readonly record: FileRecord }>();
  return {
    recall(real, version) {
      const known = records.get(real);
      return known?.version === version ? known.record : undefined;
    },
    keep(real, version, record) {
      records.delete(real);
      records.set(real, { version, record });
      const [oldest] = records.size > MOST_FILES ? records.keys() : [];
      if (oldest !== undefined) records.delete(oldest);
    },
  };
}
