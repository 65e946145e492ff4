/**
 * Blots out what a configuration entrusts to us.
 * Owns: what counts as a secret and how it is hidden. Leaves alone: where texts go.
 * Always true: a text that went through `redact` holds none of the secrets, in plain, URL or JSON spelling.
 */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

export type Redact = (text: string) => string;

export interface Confidence {
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
  args = [],
  cwd = '.',
  env = {},
  headers = {},
  url,
  inserted,
}: Confidence): readonly string[] {
  return [
    ...inserted,
    ...Object.values(env),
    ...Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]),
    ...args.flatMap((arg, at) => secretsInArg(arg, args[at - 1] ?? '', cwd)),
    ...(url === undefined ? [] : secretsInUrl(url)),
  ];
}

export function createRedact(secrets: readonly string[]): Redact {
  const spellings = secrets
    .filter((secret) => secret.length >= SHORTEST && !COMMON.has(secret.toLowerCase()))
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  // Longest first, so that a secret inside another does not leave half of it standing.
  const ordered = [...new Set(spellings)].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((rest, secret) => rest.replaceAll(secret, BLOT), text);
}

// --- internal ---

const BLOT = '[redacted]';
// Shorter values protect nothing, and blotting them out would make every text unreadable.
const SHORTEST = 4;
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
const AROUND_WORD = /^["'`(]+|["'`);,&|]+$/g;
// Not yet expanded: it names a secret at most.
const VARIABLE = /^\$\{[^}]*\}$/;

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
  const words = value.split(/\s+/).flatMap((word) => [word, word.replace(AROUND_WORD, '')]);
  return [value, ...words.filter((word) => !isHarmless(word, flag, cwd))];
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
    decodeURIComponent(username),
    decodeURIComponent(password),
    ...pathname.split('/').filter((part) => !PLAIN.test(part)),
    ...searchParams.values(),
    search.slice(1),
    hash.slice(1),
  ].filter((value) => value !== '');
}
