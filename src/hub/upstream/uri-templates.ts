/**
 * Resource templates (RFC 6570) of upstream servers, and which URIs they match.
 * Owns: which templates can be passed on, and matching. Leaves alone: which server is asked (resources.ts).
 * Always true:
 * - a template that is passed on begins with a scheme that is not `skill:` or `mcp:`, so it matches no URI that we assign;
 * - matching never backtracks, so its time is bounded by the limits whatever template and URI contain;
 * - a match only selects the server; whether the resource exists is the server's answer.
 */
import type { Params } from '../../protocol/index.ts';
import { visible } from '../../text.ts';
import { MAX_EXPRESSIONS, MAX_MATCHED_URI, MAX_TEMPLATE } from './limits.ts';

/** Schemes of the URIs that we assign. A server must not list any of them as its own. */
export const OWN_SCHEMES = /^(skill|mcp):/i;

/** Why a template cannot be passed on; undefined when it can. */
export function templateFault({ uriTemplate, name }: Params): string | undefined {
  if (typeof uriTemplate !== 'string') return 'it has no uriTemplate';
  if (typeof name !== 'string') return 'it has no name';
  if (uriTemplate.length > MAX_TEMPLATE) return `it is over ${MAX_TEMPLATE} characters`;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(uriTemplate)) return 'it does not begin with a scheme';
  if (/\s/.test(uriTemplate) || visible(uriTemplate) !== uriTemplate) return 'it has spaces or control characters';
  if (OWN_SCHEMES.test(uriTemplate)) return 'its scheme is reserved for skillwire';
  const { texts, expressions } = partsOf(uriTemplate);
  if (texts.some((text) => /[{}]/.test(text)) || expressions.includes('')) return 'its braces do not match';
  if (expressions.length > MAX_EXPRESSIONS) return `it has over ${MAX_EXPRESSIONS} expressions`;
  return undefined;
}

/** For a template without a fault. */
export function matcherOf(uriTemplate: string): (uri: string) => boolean {
  const { texts, expressions } = partsOf(uriTemplate);
  const [beginning = '', ...others] = texts;
  const steps = others.flatMap((text, at) => [value(expressions[at] ?? ''), ...(text === '' ? [] : [literal(text)])]);
  return (uri) => {
    if (uri.length > MAX_MATCHED_URI || !uri.startsWith(beginning)) return false;
    let ends: Ends = new Uint8Array(uri.length + 1);
    ends[beginning.length] = 1;
    for (const step of steps) ends = step(uri, ends);
    return ends[uri.length] === 1;
  };
}

// --- internal ---

/** 1 at every position where the part that was matched so far may end. All of them at once, instead of backtracking. */
type Ends = Uint8Array;
type Step = (uri: string, from: Ends) => Ends;

/** What the value of an expression looks like in a URI. */
interface Kind {
  /** The character that it begins with. A value with one may be absent, a value without one is not empty. */
  readonly first: string;
  /** The character that it does not contain; '' for none. */
  readonly not: string;
  /** The same for several values, `{/x,y}` and `{x*}`, which some servers use for a whole path. */
  readonly notInMany: string;
}

const PLAIN: Kind = { first: '', not: '/', notInMany: '' };
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['+', { first: '', not: '', notInMany: '' }],
  ['#', { first: '#', not: '', notInMany: '' }],
  ['.', { first: '.', not: '/', notInMany: '' }],
  ['/', { first: '/', not: '/', notInMany: '' }],
  [';', { first: ';', not: '/', notInMany: '' }],
  ['?', { first: '?', not: '#', notInMany: '#' }],
  ['&', { first: '&', not: '#', notInMany: '#' }],
]);

/** `x://{a}/{b}` has the texts `x://`, `/` and '', and the expressions `a` and `b` between them. */
function partsOf(uriTemplate: string): { readonly texts: readonly string[]; readonly expressions: readonly string[] } {
  const parts = uriTemplate.split(/\{([^{}]*)\}/);
  return {
    texts: parts.filter((_part, at) => at % 2 === 0),
    expressions: parts.filter((_part, at) => at % 2 === 1),
  };
}

function value(expression: string): Step {
  const { first, ...kind } = KINDS.get(expression.charAt(0)) ?? PLAIN;
  const not = /[*,]/.test(expression) ? kind.notInMany : kind.not;
  return (uri, from) => {
    const to = new Uint8Array(from.length);
    for (let at = 0; at < uri.length; at += 1) {
      const character = uri[at];
      const continues = to[at] === 1 && character !== not;
      const begins = from[at] === 1 && (first === '' ? character !== not : character === first);
      if (continues || begins) to[at + 1] = 1;
    }
    return first === '' ? to : to.map((end, at) => end | (from[at] ?? 0));
  };
}

function literal(text: string): Step {
  return (uri, from) => {
    const to = new Uint8Array(from.length);
    for (let at = uri.indexOf(text); at !== -1; at = uri.indexOf(text, at + 1))
      if (from[at] === 1) to[at + text.length] = 1;
    return to;
  };
}
