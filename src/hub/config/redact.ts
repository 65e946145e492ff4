/**
 * Replaces the secrets of a configuration in texts that people see.
 * Owns: what counts as a secret, and how it is found. Leaves alone: where texts go.
 * Always true: a redacted text holds no secret and no line of one, neither as written nor in URL, JSON or base64
 * spelling; a text that was cut does not end with the first characters of one either.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { unescape as decoded } from 'node:querystring';
import { lazy } from '../../lazy.ts';
import { cut } from '../../text.ts';
import type { HttpTarget } from '../connection/http-client.ts';
import type { StdioTarget } from '../connection/stdio.ts';

/** `limit`: the text is cut to that many characters first. */
export type Redact = (text: string, limit?: number) => string;

/** The target of a server, and the values of variables in it. */
export interface SecretSources extends Partial<StdioTarget>, Partial<HttpTarget> {
  readonly inserted: Iterable<string>;
}

export function secretsOf(sources: SecretSources): readonly string[] {
  const { command = '', args = [], cwd = '.', env = {}, headers = {}, url, inserted } = sources;
  return [
    ...inserted,
    ...Object.values(env),
    ...Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]),
    ...secretsInArgs(args, cwd),
    // Some people write the arguments into the command.
    ...secretsInArgs(command.split(/\s+/).slice(1), cwd),
    ...(url ? secretsInUrl(url) : []),
  ];
}

/** Overlapping secrets are replaced as a whole. Never throws. The secrets are asked for with the first text. */
export function createRedact(secrets: () => readonly string[]): Redact {
  const byStart = lazy(() => spellingsByStart(secrets()));

  /** How many characters at this place belong to a secret; all that are left where the text was cut inside of one. */
  function secretLength(text: string, at: number, isCut: boolean): number {
    const same = byStart().get(text.slice(at, at + MIN_SECRET)) ?? [];
    const left = text.length - at;
    if (isCut && same.some((one) => one.length > left && one.startsWith(text.slice(at)))) return left;
    return same.find((one) => text.startsWith(one, at))?.length ?? 0;
  }

  return (whole, limit = Number.POSITIVE_INFINITY) => {
    const text = cut(whole, limit);
    let redacted = '';
    /** The text is handled up to here. */
    let done = 0;
    for (let at = 0; at + MIN_SECRET <= text.length; at += 1) {
      const length = secretLength(text, at, text.length < whole.length);
      if (length === 0) continue;
      if (at >= done) redacted += text.slice(done, at) + REPLACEMENT;
      done = Math.max(done, at + length);
    }
    return redacted + text.slice(done);
  };
}

// --- internal ---

const REPLACEMENT = '[redacted]';
// Shorter values protect nothing, and replacing them would make every text unreadable.
const MIN_SECRET = 4;
// A line of a secret that is a plain word is replaced from this length on.
const MIN_PLAIN_LINE = 8;
const COMMON_WORDS: ReadonlySet<string> = new Set('true false null none info debug production bearer basic'.split(' '));

/** Everything to replace, by its first characters, the longest first. */
function spellingsByStart(secrets: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const byStart = new Map<string, string[]>();
  const parts = [...new Set(secrets.flatMap(partsOf))];
  for (const spelling of new Set(parts.flatMap(spellingsOf))) {
    const start = spelling.slice(0, MIN_SECRET);
    if (!byStart.get(start)?.push(spelling)) byStart.set(start, [spelling]);
  }
  for (const same of byStart.values()) same.sort((a, b) => b.length - a.length);
  return byStart;
}

/** A secret, and each of its lines: a log shows a private key line by line. */
function partsOf(secret: string): readonly string[] {
  const lines = secret.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim());
  return [secret, ...lines.filter((line) => line.length >= MIN_PLAIN_LINE || !PLAIN.test(line))].filter(
    (one) => one.length >= MIN_SECRET && !COMMON_WORDS.has(one.toLowerCase()),
  );
}

function spellingsOf(part: string): readonly string[] {
  // Half of a surrogate pair cannot be encoded.
  const text = part.toWellFormed();
  const url = [encodeURIComponent(text), encodeURI(text)];
  const lowerCase = url.map((one) => one.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()));
  return [part, ...url, ...lowerCase, JSON.stringify(part).slice(1, -1), ...base64Of(text)];
}

/** Inside a longer text that was encoded. Three bytes make four characters, so there are three offsets. */
function base64Of(text: string): readonly string[] {
  if (text.length < MIN_PLAIN_LINE) return [];
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.from('\0'.repeat(offset) + text).toString('base64');
    // The characters at both ends also hold bits of the text around it.
    const inner = encoded.slice(offset === 0 ? 0 : offset + 1).replace(/.=+$/, '');
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** The value of such a flag is a secret even if it is a plain word. */
const SECRET_FLAG = /^-[HpPuk]$|token|key|secret|pass|pwd|auth|cred|pat$|header|cookie|bearer|dsn|url|uri/i;
const FLAG = /^--?[A-Za-z][A-Za-z-]*$/;
// Words of letters, as in names of commands and of packages with their versions. Keys hold digits or are longer.
const PLAIN = /^@?[a-z]{1,20}([-._/@:][a-z]{1,20})*(@v?\d+(\.\d+)*)?$/i;
const MAX_PLAIN = 80; // Characters of such words together; names of packages are shorter.
// `/a`, `./a`, `../a`, `~/a`, `C:\\a`.
const PATH_START = /^(?:[a-z]:|~|\.\.?)?[\\/]/i;
// What stands between slashes, dots and dashes in a path: a word, a version. Keys mix letters and digits or are longer.
const pathWord = lazy(() => /^\p{L}{0,20}\d{0,4}$/u);
// `sh -c`, `bash -lc`.
const SCRIPT_FLAG = /^-[a-z]*c$/;
// `NAME=value` as a shell reads it: the value may have several parts, with quotes or without.
const ASSIGNMENT = /(?<![\w-])([A-Za-z_][\w-]*)=((?:"[^"]*"|'[^']*'|[^\s"'`;&|<>()])+)/g;
const QUOTED = /"([^"]*)"|'([^']*)'/g;
// A reference that is not expanded names a secret at most.
const VARIABLE = /^\$\{[^}]*\}$/;

/** Only a program knows what its arguments mean, so all are secrets except those that surely are not. */
function secretsInArgs(args: readonly string[], cwd: string): readonly string[] {
  return args.flatMap((arg, at) => {
    const before = args[at - 1] ?? '';
    const { flag, value } = split(arg, before);
    // A script may start with an assignment, whose name says nothing about the words that follow.
    const meaning = SCRIPT_FLAG.test(before) && flag !== before ? '' : flag;
    // The program that gets the variables of a script may print a value without its name.
    const assigned = [...arg.matchAll(ASSIGNMENT)].flatMap(([, name = '', text = '']) =>
      SECRET_FLAG.test(name) ? secretsInValue(text.replace(QUOTED, '$1$2'), name, cwd) : [],
    );
    return [...secretsInValue(value, meaning, cwd), ...assigned];
  });
}

/** `--flag=value`, `KEY=value`, or a value after its flag. */
function split(arg: string, before: string): { readonly flag: string; readonly value: string } {
  const [, flag, value = ''] = /^(-{0,2}[A-Za-z][\w.-]*)=(.*)$/s.exec(arg) ?? [];
  if (flag !== undefined) return { flag, value };
  if (FLAG.test(arg)) return { flag: arg, value: '' };
  return { flag: before.startsWith('-') && !before.includes('=') ? before : '', value: arg };
}

function secretsInValue(value: string, flag: string, cwd: string): readonly string[] {
  const isHarmless = (text: string) => {
    if (text === '' || VARIABLE.test(text)) return true;
    if (SECRET_FLAG.test(flag)) return false;
    return (text.length <= MAX_PLAIN && PLAIN.test(text)) || isPlainPath(text) || existsSync(resolve(cwd, text));
  };
  if (isHarmless(value)) return [];
  if (isUrl(value)) return [...(SECRET_FLAG.test(flag) ? [value] : []), ...secretsInUrl(new URL(value))];
  // The words too, with the punctuation of a shell and without: a header is "Authorization: Bearer x".
  const words = value.split(/\s+/).flatMap((word) => [word, withoutPunctuation(word)]);
  return [value, ...words.filter((word) => !isHarmless(word))];
}

/** Whether or not there is such a file: when there is none, the reason why a server does not start must name it. */
function isPlainPath(text: string): boolean {
  const [start] = PATH_START.exec(text) ?? [];
  if (start === undefined) return false;
  const words = text.slice(start.length).split(/[\\/._-]/);
  return words.every((word) => pathWord().test(word));
}

/** Only at the ends: an address inside JSON is not a secret. Not by a pattern: the time must stay linear. */
function withoutPunctuation(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && '"\'`('.includes(word.charAt(start))) start += 1;
  while (end > start && '"\'`);,&|'.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(start, end);
}

const isUrl = (text: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text);

/** User and password, also as basic authorization; the query; and parts of the path that are not plain words. */
function secretsInUrl({ username, password, pathname, searchParams, search, hash }: URL): readonly string[] {
  const authorization = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  const parts = [username, password, ...pathname.split('/').filter((part) => !PLAIN.test(part))];
  return [
    ...parts.flatMap((part) => [part, decoded(part)]),
    authorization,
    ...searchParams.values(),
    search.slice(1),
    hash.slice(1),
  ];
}
