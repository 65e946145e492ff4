/**
 * Blots out what a configuration entrusts to us.
 * Owns: what counts as a secret and how it is hidden. Leaves alone: where texts go.
 * Always true: a text that went through `redact` holds none of the secrets, nor a line of one, as they are or in URL, JSON
 * or base64 spelling.
 */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

export type Redact = (text: string) => string;

export interface SecretSources {
  /** Many write their arguments here, where they are told that no such program was found. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** Where paths among the arguments begin. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly url?: string;
  /** What came out of variables. */
  readonly inserted: readonly string[];
}

export function secretsOf({
  command = '',
  args = [],
  cwd = '.',
  env = {},
  headers = {},
  url,
  inserted,
}: SecretSources): readonly string[] {
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

/** Everything that belongs to a secret goes, also where two of them overlap. Never throws. */
export function createRedact(secrets: readonly string[]): Redact {
  const byStart = new Map<string, string[]>();
  const firsts = new Set<number>();
  for (const spelling of new Set(secrets.flatMap(partsOf).flatMap(spellingsOf))) {
    const start = spelling.slice(0, SHORTEST);
    const same = byStart.get(start);
    if (same) same.push(spelling);
    else byStart.set(start, [spelling]);
    firsts.add(spelling.charCodeAt(0));
  }
  for (const same of byStart.values()) same.sort((a, b) => b.length - a.length);
  const longestAt = (text: string, at: number) =>
    firsts.has(text.charCodeAt(at))
      ? byStart.get(text.slice(at, at + SHORTEST))?.find((spelling) => text.startsWith(spelling, at))
      : undefined;

  return (text) => {
    let redacted = '';
    // Up to here the text is dealt with.
    let done = 0;
    for (let at = 0; at + SHORTEST <= text.length; at += 1) {
      const found = longestAt(text, at);
      if (found === undefined) continue;
      if (at >= done) redacted += text.slice(done, at) + BLOT;
      done = Math.max(done, at + found.length);
    }
    return redacted + text.slice(done);
  };
}

// --- internal ---

const BLOT = '[redacted]';
// Shorter values protect nothing, and blotting them out would make every text unreadable.
const SHORTEST = 4;
// A plain word that is a line of a secret by itself is blotted out only when it has this length.
const LONG_LINE = 8;
const COMMON: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'none',
  'info',
  'debug',
  'production',
  'bearer',
  'basic',
]);

/** A secret, and each of its lines: a log shows a private key line by line. */
function partsOf(secret: string): readonly string[] {
  const lines = secret.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim());
  return [secret, ...lines.filter((line) => line.length >= LONG_LINE || !PLAIN.test(line))].filter(isTelling);
}

const isTelling = (text: string) => text.length >= SHORTEST && !COMMON.has(text.toLowerCase());

function spellingsOf(part: string): readonly string[] {
  // Half of a surrogate pair cannot be encoded.
  const text = part.toWellFormed();
  const url = [encodeURIComponent(text), encodeURI(text)];
  const lowerCase = url.map((one) => one.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()));
  return [part, ...url, ...lowerCase, JSON.stringify(part).slice(1, -1), ...base64Of(text)];
}

/** As it stands inside a longer text that was encoded: three bytes make four characters, so there are three ways. */
function base64Of(text: string): readonly string[] {
  if (text.length < LONG_LINE) return [];
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.from('\0'.repeat(offset) + text).toString('base64');
    // The characters at both ends hold bits of what is around it.
    const inner = encoded.slice(offset === 0 ? 0 : offset + 1).replace(/.=+$/, '');
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** What follows one of these is a secret even if it is a word. */
const SECRET_FLAG = /^-[HpPuk]$|token|key|secret|pass|pwd|auth|cred|pat$|header|cookie|bearer|dsn|url|uri/i;
const FLAG = /^--?[A-Za-z][A-Za-z-]*$/;
// Words of letters, as in names of commands and packages with their versions; keys hold digits or have no end.
const PLAIN = /^@?[a-z]{1,20}([-._/@:][a-z]{1,20})*(@v?\d+(\.\d+)*)?$/i;
const LONGEST_PLAIN = 80;
// `sh -c`, `bash -lc`.
const SCRIPT_FLAG = /^-[a-z]*c$/;
// `NAME=value` as a shell reads it: of several parts, with quotes or without. No name begins inside a word.
const ASSIGNMENT = /(?<![\w-])([A-Za-z_][\w-]*)=((?:"[^"]*"|'[^']*'|[^\s"'`;&|<>()])+)/g;
const QUOTED = /"([^"]*)"|'([^']*)'/g;
// What a shell or a language puts around a word without meaning it.
const BEFORE_WORD: ReadonlySet<string> = new Set('"\'`(');
const BEHIND_WORD: ReadonlySet<string> = new Set('"\'`);,&|');
// Not yet expanded: it names a secret at most.
const VARIABLE = /^\$\{[^}]*\}$/;

function secretsInArgs(args: readonly string[], cwd: string): readonly string[] {
  return args.flatMap((arg, at) => secretsInArg(arg, args[at - 1] ?? '', cwd));
}

/** There is no telling what an argument means to a program, so all are hidden but those that surely give nothing away. */
function secretsInArg(arg: string, before: string, cwd: string): readonly string[] {
  const { flag, value } = split(arg, before);
  // A script may begin with an assignment, whose name says nothing of the words that follow.
  const said = SCRIPT_FLAG.test(before) && flag !== before ? '' : flag;
  return [...secretsInValue(value, said, cwd), ...secretsInScript(arg, cwd)];
}

function secretsInValue(value: string, flag: string, cwd: string): readonly string[] {
  if (value === '' || isHarmless(value, flag, cwd)) return [];
  if (isUrl(value)) return SECRET_FLAG.test(flag) ? [value, ...secretsInUrl(value)] : secretsInUrl(value);
  // A header is a name and words, "Authorization: Bearer x"; a script has words that every other text has too.
  const words = value.split(/\s+/).flatMap((word) => [word, bare(word)]);
  return [value, ...words.filter((word) => !isHarmless(word, flag, cwd))];
}

function bare(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && BEFORE_WORD.has(word.charAt(start))) start += 1;
  while (end > start && BEHIND_WORD.has(word.charAt(end - 1))) end -= 1;
  return word.slice(start, end);
}

/** What a script sets before it runs something: the program that gets to see it may repeat it without its name. */
function secretsInScript(script: string, cwd: string): readonly string[] {
  return [...script.matchAll(ASSIGNMENT)].flatMap(([, name = '', value = '']) =>
    SECRET_FLAG.test(name) ? secretsInValue(value.replace(QUOTED, '$1$2'), name, cwd) : [],
  );
}

/** What an argument says and what it says it of: `--flag=value`, `KEY=value`, or a value behind its flag. */
function split(arg: string, before: string): { readonly flag: string; readonly value: string } {
  const [, flag, value = ''] = /^(-{0,2}[A-Za-z][\w.-]*)=(.*)$/s.exec(arg) ?? [];
  if (flag !== undefined) return { flag, value };
  if (FLAG.test(arg)) return { flag: arg, value: '' };
  return { flag: before.startsWith('-') && !before.includes('=') ? before : '', value: arg };
}

function isHarmless(value: string, flag: string, cwd: string): boolean {
  if (VARIABLE.test(value)) return true;
  if (SECRET_FLAG.test(flag)) return false;
  return (value.length <= LONGEST_PLAIN && PLAIN.test(value)) || existsSync(resolve(cwd, value));
}

const isUrl = (text: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text);

/** User, password, everything in the query, and parts of the path that are no words: keys are often there. */
function secretsInUrl(text: string): readonly string[] {
  if (!isUrl(text)) return [];
  const { username, password, pathname, searchParams, search, hash } = new URL(text);
  return [
    username,
    password,
    decoded(username),
    decoded(password),
    ...pathname.split('/').flatMap((part) => (PLAIN.test(part) ? [] : [part, decoded(part)])),
    ...searchParams.values(),
    search.slice(1),
    hash.slice(1),
  ].filter((value) => value !== '');
}

/** People write a bare `%` in passwords, which stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replaceAll('%25', '%');
  }
}
