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

  const fileText = v.pipe(v.string(), v.parseJson(undefined, notJson), schema);

  return (path: string, problems: Problem[]) => {
    let last = known.get(path) ?? {};
    const look = lookAt(path);
    if (!look || !last.version || !sameVersion(last.version, look)) {
      let version: Version | undefined;
      try {
        const read = readStable(path, MAX_JSON_BYTES, 'follow');
        version = changedWithin(read.version, RECENT_MS) ? undefined : read.version;
        const text = read.bytes.toString().replace(/^\ufeff/, '');
        last = { version, value: v.parse(fileText, text, { message: messageFor }) };
      } catch (error) {
        const isMissing = error instanceof FileError && error.kind === 'missing';
        last = isMissing ? {} : { version, value: last.value, fault: faultOf(error) };
      }
      known.set(path, last);
    }
    if (last.fault !== undefined) problems.push({ where: path, what: last.fault });
    return { value: last.value, fault: last.fault !== undefined };
  };
}

// --- internal ---

/** For schemas without a message of their own: that of the package would quote the value. */
const messageFor = ({ expected, received }: v.BaseIssue<unknown>) =>
  received === 'undefined' ? 'is missing' : `must be ${expected}`;

function faultOf(error: unknown): string {
  const field = error instanceof v.ValiError ? v.getDotPath(error.issues[0]) : undefined;
  return field ? `${field} ${messageOf(error)}` : `cannot be read: ${messageOf(error)}`;
}

/** The parser's own message would quote the file too. */
function notJson({ input, received }: v.ParseJsonIssue<string>): string {
  const [position = ''] = / at position \d+/.exec(received) ?? [];
  const hasComment = /(?:^|[,[{}\]])[ \t]*\/[/*]/m.test(input);
  return `it ${hasComment ? 'has a comment, so it is not plain' : 'is not valid'} JSON${position}`;
}
