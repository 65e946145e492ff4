/**
 * JSON files that other programs keep, such as settings: each is read and checked again only when it has changed.
 * Owns: that cache, and what is said of a file at fault. Leaves alone: what the files mean (skills/plugins.ts, hub/).
 * Always true: a file that cannot be read or understood is a Problem, and its last good content still counts: most often it
 * is just being written. No message quotes the file, which may contain secrets.
 */
import * as v from 'valibot';
import { MAX_JSON_BYTES, RECENT_MS } from '../limits.ts';
import { messageOf } from '../log.ts';
import type { Problem } from '../model.ts';
import { FileError, readStable } from './read.ts';
import { changedWithin, lookAt, sameVersion, type Version } from './stat.ts';

/**
 * Gives a function that reads any number of files of one shape. `value`: undefined when the file does not exist, or was
 * never understood. `fault`: its present content is not used.
 */
export function createJsonReader<T>(schema: v.GenericSchema<unknown, T>) {
  /** `version`: undefined when the file is read again next time. */
  const known = new Map<string, { version?: Version | undefined; value?: T | undefined; fault?: string }>();

  return (path: string, problems: Problem[], limit = MAX_JSON_BYTES) => {
    let file = known.get(path) ?? {};
    const look = lookAt(path);
    if (!look || !file.version || !sameVersion(file.version, look)) {
      let version: Version | undefined;
      try {
        const content = readStable(path, limit, 'follow');
        if (!changedWithin(content.version, RECENT_MS)) version = content.version;
        file = { version, value: v.parse(schema, parseJson(content.bytes), { message: said }) };
      } catch (error) {
        const isMissing = error instanceof FileError && error.kind === 'missing';
        file = isMissing ? {} : { version, value: file.value, fault: faultOf(error) };
      }
      known.set(path, file);
    }
    if (file.fault !== undefined) problems.push({ where: path, what: file.fault });
    return { value: file.value, fault: file.fault !== undefined };
  };
}

// --- internal ---

/** For schemas without a message of their own: that of the package would quote the value. */
const said = ({ expected, received }: v.BaseIssue<unknown>) =>
  received === 'undefined' ? 'is missing' : `must be ${expected}`;

function faultOf(error: unknown): string {
  const place = error instanceof v.ValiError ? v.getDotPath(error.issues[0]) : undefined;
  return place ? `${place} ${messageOf(error)}` : `cannot be read: ${messageOf(error)}`;
}

function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString().replace(/^\ufeff/, '');
  try {
    return JSON.parse(text);
  } catch (error) {
    const [place = ''] = / at position \d+.*$/.exec(messageOf(error)) ?? [];
    const hasComment = /(?:^|[,[{}\]])[ \t]*\/[/*]/m.test(text);
    throw new Error(`it ${hasComment ? 'has a comment, so it is not plain' : 'is not valid'} JSON${place}`);
  }
}
