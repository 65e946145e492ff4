/**
 * What is known of files without reading them again, and what was last promised of them.
 * Memory: a path, a version and a digest, some 400 bytes, for at most MOST_FILES files; and the front matter of those
 * that are a SKILL.md. No contents.
 */
import type { FrontMatter } from './frontmatter.ts';

export interface FileRecord {
  readonly size: number;
  readonly digest: string;
  /** Only of a SKILL.md. */
  readonly head?: FrontMatter;
}

export interface Promises {
  /** What was found when the file had this version. */
  recall(real: string, version: string): FileRecord | undefined;
  /** Without a version: found, but not to be relied on. */
  keep(real: string, version: string | undefined, record: FileRecord): void;
  /** A manifest with this digest is being given out. */
  promise(real: string, digest: string): void;
  release(real: string): void;
  /** The digest that was promised, if any still is. */
  promised(real: string): string | undefined;
}

export const MOST_FILES = 100_000;
// A host checks digests itself and asks anew when one is wrong; holding to a promise only spares it that. Somebody else
// who reads the same file and lists nothing must not be kept out for ever.
export const PROMISE_MS = 15 * 60 * 1000;

export function createPromises(now: () => number = () => performance.now()): Promises {
  const records = createBounded<{ readonly version: string | undefined; readonly record: FileRecord }>();
  const promises = createBounded<{ readonly digest: string; readonly until: number }>();
  return {
    recall(real, version) {
      const known = records.get(real);
      return known?.version === version ? known.record : undefined;
    },
    keep: (real, version, record) => records.set(real, { version, record }),
    promise: (real, digest) => promises.set(real, { digest, until: now() + PROMISE_MS }),
    release: (real) => promises.delete(real),
    promised(real) {
      const promise = promises.get(real);
      return promise && promise.until > now() ? promise.digest : undefined;
    },
  };
}

// --- internal ---

/** Forgets what was set longest ago when there is too much. */
function createBounded<V>() {
  const map = new Map<string, V>();
  return {
    get: (key: string) => map.get(key),
    delete: (key: string) => void map.delete(key),
    set(key: string, value: V): void {
      map.delete(key);
      map.set(key, value);
      if (map.size <= MOST_FILES) return;
      const [oldest] = map.keys();
      if (oldest !== undefined) map.delete(oldest);
    },
  };
}
