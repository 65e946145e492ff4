/**
 * Files that other programs keep, such as settings: each is read and parsed again only when it has changed.
 * Owns: that cache. Leaves alone: what the files mean (skills/plugins.ts, hub/config/files.ts).
 * Always true: a file that cannot be read or parsed has a fault, and its last good content still counts: most often it is
 * just being written.
 */
import { relative } from 'node:path';
import { messageOf } from '../log.ts';
import { type FileContent, NOFOLLOW, readInside, readStable } from './read.ts';
import { isMissing, lstatOf, realPathOf, sameVersion, statOf, type Version } from './stats.ts';

export interface ParsedFile<T> {
  /** Undefined: the file does not exist, or was never understood. */
  readonly value: T | undefined;
  /** Why the present content is not used; undefined also when the file does not exist. */
  readonly fault: { readonly step: 'read' | 'parse'; readonly why: string } | undefined;
}

/** Which symbolic links are followed: all of them, none, or those that stay in a directory. */
export type Links = 'all' | 'none' | { readonly within: string };

/** Gives a function that reads any number of files of one format. `parse` throws an Error that says what is wrong. */
export function createFileCache<T>(
  maxBytes: number,
  parse: (bytes: Buffer, path: string) => T,
): (path: string, links: Links) => ParsedFile<T> {
  const cache = new Map<string, Known<T>>();

  return (path, links) => {
    const last = cache.get(path);
    let step: 'read' | 'parse' = 'read';
    let version: Version | undefined;
    let next: Known<T>;
    try {
      // Not through a link where none is followed: a link has a version of its own, so it is noticed.
      const look = links === 'none' ? lstatOf(path) : statOf(path);
      if (last?.version && sameVersion(last.version, look)) return last;
      // Windows has no flag that refuses links.
      if (look.isSymbolicLink()) throw new Error('it is a link, and what it leads to belongs to another project');
      const content = read(path, links, maxBytes);
      version = content.recent ? undefined : content.version;
      step = 'parse';
      next = { version, value: parse(content.bytes, path), fault: undefined };
    } catch (error) {
      if (isMissing(error)) {
        cache.delete(path);
        return MISSING;
      }
      next = { version, value: last?.value, fault: { step, why: messageOf(error) } };
    }
    cache.set(path, next);
    return next;
  };
}

/** The value of JSON text, which may begin with a byte order mark. The message of its error never quotes the text. */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString().replace(/^\ufeff/, '');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`it is not valid JSON${placeOf(error, text)}`);
  }
}

// --- internal ---

const MISSING = { value: undefined, fault: undefined };

interface Known<T> extends ParsedFile<T> {
  /** Undefined: the file is read again next time. */
  readonly version: Version | undefined;
}

function read(path: string, links: Links, maxBytes: number): FileContent {
  if (typeof links === 'object') return readInside(realPathOf(links.within), relative(links.within, path), maxBytes);
  return readStable(path, maxBytes, links === 'none' ? NOFOLLOW : 0);
}

/** Where the fault is, if the parser tells. */
function placeOf(error: unknown, text: string): string {
  const position = / at position (\d+)/.exec(messageOf(error))?.[1];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`;
}
