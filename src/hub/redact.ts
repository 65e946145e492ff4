/**
 * Blots out what a configuration entrusts to us.
 * Owns: what counts as a secret and how it is hidden. Leaves alone: where texts go.
 * Always true: a text that went through `redact` holds none of the secrets, in plain, URL or JSON spelling.
 */

export type Redact = (text: string) => string;

export interface Confidence {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly url?: string;
  /** What came out of variables. */
  readonly inserted: readonly string[];
}

export function secretsOf({ args = [], env = {}, headers = {}, url, inserted }: Confidence): readonly string[] {
  return [
    ...inserted,
    ...Object.values(env),
    ...Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]),
    ...args.flatMap((arg, at) => secretsInArg(arg, args[at - 1])),
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

const SECRET_FLAG = /^--?[\w-]*(token|key|secret|passw|auth|cred|pat|header|cookie|bearer|dsn|url|uri)[\w-]*/i;
// What issuers of keys put in front of them, and long words of letters and digits that no person types.
const SECRET_SHAPE =
  /^(sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|AKIA|AIza|eyJ)[-_A-Za-z0-9.]{8,}|^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_+=-]{24,}$/;

function secretsInArg(arg: string, before: string | undefined): readonly string[] {
  const [flag, value] = split(arg);
  return [
    ...(value !== undefined && SECRET_FLAG.test(flag) ? [value, ...value.split(/\s+/)] : []),
    ...(before !== undefined && SECRET_FLAG.test(before) && !before.includes('=') && !arg.startsWith('-')
      ? [arg, ...arg.split(/\s+/)]
      : []),
    ...(SECRET_SHAPE.test(arg) ? [arg] : []),
    ...secretsInUrl(arg),
    ...(value === undefined ? [] : secretsInUrl(value)),
  ];
}

function split(arg: string): [string, string | undefined] {
  const at = arg.indexOf('=');
  return at === -1 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}

/** User, password, and everything in the query: keys are often there. */
function secretsInUrl(text: string): readonly string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return [];
  const { username, password, searchParams, search } = new URL(text);
  return [
    decodeURIComponent(username),
    decodeURIComponent(password),
    ...searchParams.values(),
    ...(search === '' ? [] : [search.slice(1)]),
  ].filter((value) => value !== '');
}
