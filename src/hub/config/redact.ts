/**
 * Replaces the secrets of a configuration in texts that people see.
 * Owns: what counts as a secret, and how it is found. Leaves alone: where texts go.
 * Always true: a redacted text holds no secret and no line of one, neither as written nor in URL, JSON or base64
 * spelling; a text that was cut does not end with the first characters of one either.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { cut } from '../../text.ts';

/** `limit`: the text is cut to that many characters first. */
export type Redact = (text: string, limit?: number) => string;

export interface SecretSources {
  /** Some people write the arguments here. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** Relative paths among the arguments start here. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly url?: string;
  /** Values of variables. */
  readonly inserted: readonly string[];
}

export function secretsOf(sources: SecretSources): readonly string[] {
  const { command = '', args = [], cwd = '.', env = {}, headers = {}, url, inserted } = sources;
  const all = [
    ...inserted,
    ...Object.values(env),
    ...Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]),
    ...secretsInArgs(args, cwd),
    ...secretsInArgs(command.split(/\s+/).slice(1), cwd),
    ...(url === undefined ? [] : secretsInUrl(url)),
  ];
  return [...new Set(all)];
}

/** Overlapping secrets are replaced as a whole. Never throws. */
export function createRedact(secrets: readonly string[]): Redact {
  const byStart = new Map<string, string[]>();
  const firstUnits = new Set<number>();
  for (const spelling of new Set(secrets.flatMap(partsOf).flatMap(spellingsOf))) {
    const start = spelling.slice(0, MIN_SECRET);
    const same = byStart.get(start);
    if (same) same.push(spelling);
    else byStart.set(start, [spelling]);
    firstUnits.add(spelling.charCodeAt(0));
  }
  for (const same of byStart.values()) same.sort((a, b) => b.length - a.length);

  /** How many characters at this place belong to a secret; all that are left where the text was cut inside of one. */
  function secretLength(text: string, at: number, isCut: boolean): number {
    if (!firstUnits.has(text.charCodeAt(at))) return 0;
    const same = byStart.get(text.slice(at, at + MIN_SECRET)) ?? [];
    const left = text.length - at;
    if (isCut && same.some((one) => one.length > left && one.startsWith(text.slice(at)))) return left;
    return same.find((one) => text.startsWith(one, at))?.length ?? 0;
  }

  return (whole, limit = Number.POSITIVE_INFINITY) => {
    const text = cut(whole, limit);
    const isCut = text.length < whole.length;
    let redacted = '';
    /** The text is handled up to here. */
    let done = 0;
    for (let at = 0; at + MIN_SECRET <= text.length; at += 1) {
      const length = secretLength(text, at, isCut);
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
const MAX_PLAIN = 80;
// `sh -c`, `bash -lc`.
const SCRIPT_FLAG = /^-[a-z]*c$/;
// `NAME=value` as a shell reads it: the value may have several parts, with quotes or without.
const ASSIGNMENT = /(?<![\w-])([A-Za-z_][\w-]*)=((?:"[^"]*"|'[^']*'|[^\s"'`;&|<>()])+)/g;
const QUOTED = /"([^"]*)"|'([^']*)'/g;
// Punctuation of a shell around a word.
const BEFORE_WORD: ReadonlySet<string> = new Set('"\'`(');
const AFTER_WORD: ReadonlySet<string> = new Set('"\'`);,&|');
// A reference that is not expanded names a secret at most.
const VARIABLE = /^\$\{[^}]*\}$/;

function secretsInArgs(args: readonly string[], cwd: string): readonly string[] {
  return args.flatMap((arg, at) => secretsInArg(arg, args[at - 1] ?? '', cwd));
}

/** Only a program knows what its arguments mean, so all are secrets except those that surely are not. */
function secretsInArg(arg: string, before: string, cwd: string): readonly string[] {
  const { flag, value } = split(arg, before);
  // A script may start with an assignment, whose name says nothing about the words that follow.
  const meaning = SCRIPT_FLAG.test(before) && flag !== before ? '' : flag;
  return [...secretsInValue(value, meaning, cwd), ...secretsInScript(arg, cwd)];
}

function secretsInValue(value: string, flag: string, cwd: string): readonly string[] {
  if (value === '' || isHarmless(value, flag, cwd)) return [];
  if (isUrl(value)) return SECRET_FLAG.test(flag) ? [value, ...secretsInUrl(value)] : secretsInUrl(value);
  // The words too: a header is "Authorization: Bearer x".
  const words = value.split(/\s+/).flatMap((word) => [word, withoutPunctuation(word)]);
  return [value, ...words.filter((word) => !isHarmless(word, flag, cwd))];
}

function withoutPunctuation(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && BEFORE_WORD.has(word.charAt(start))) start += 1;
  while (end > start && AFTER_WORD.has(word.charAt(end - 1))) end -= 1;
  return word.slice(start, end);
}

/** Variables that a script sets: the program that gets them may print a value without its name. */
function secretsInScript(script: string, cwd: string): readonly string[] {
  return [...script.matchAll(ASSIGNMENT)].flatMap(([, name = '', value = '']) =>
    SECRET_FLAG.test(name) ? secretsInValue(value.replace(QUOTED, '$1$2'), name, cwd) : [],
  );
}

/** `--flag=value`, `KEY=value`, or a value after its flag. */
function split(arg: string, before: string): { readonly flag: string; readonly value: string } {
  const [, flag, value = ''] = /^(-{0,2}[A-Za-z][\w.-]*)=(.*)$/s.exec(arg) ?? [];
  if (flag !== undefined) return { flag, value };
  if (FLAG.test(arg)) return { flag: arg, value: '' };
  return { flag: before.startsWith('-') && !before.includes('=') ? before : '', value: arg };
}

function isHarmless(value: string, flag: string, cwd: string): boolean {
  if (VARIABLE.test(value)) return true;
  if (SECRET_FLAG.test(flag)) return false;
  return (value.length <= MAX_PLAIN && PLAIN.test(value)) || existsSync(resolve(cwd, value));
}

const isUrl = (text: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text);

/** User and password, also as basic authorization; the query; and parts of the path that are not plain words. */
function secretsInUrl(text: string): readonly string[] {
  if (!isUrl(text)) return [];
  const { username, password, pathname, searchParams, search, hash } = new URL(text);
  const authorization = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return [
    username,
    password,
    decoded(username),
    decoded(password),
    password === '' ? '' : authorization,
    ...pathname.split('/').flatMap((part) => (PLAIN.test(part) ? [] : [part, decoded(part)])),
    ...searchParams.values(),
    search.slice(1),
    hash.slice(1),
  ].filter((value) => value !== '');
}

/** A bare `%` in a password stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replaceAll('%25', '%');
  }
}
