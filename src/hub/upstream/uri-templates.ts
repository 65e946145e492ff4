/**
 * Resource templates (RFC 6570) of upstream servers, and which URIs they match.
 * Owns: which templates can be passed on, and matching. Leaves alone: which server is asked (resources.ts).
 * Always true: a template that is passed on matches no URI that we assign; matching never backtracks, so its time is
 * bounded by the limits; a match only selects the server, and whether the resource exists is the server's answer.
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
  const parts = partsOf(uriTemplate);
  if (parts.some((part, at) => (isText(at) ? /[{}]/.test(part) : part === ''))) return 'its braces do not match';
  return parts.length > 2 * MAX_EXPRESSIONS + 1 ? `it has over ${MAX_EXPRESSIONS} expressions` : undefined;
}

/** For a template without a fault. */
export function matcherOf(uriTemplate: string): (uri: string) => boolean {
  const parts = partsOf(uriTemplate);
  const steps = parts.map((part, at) => (isText(at) ? literal(part) : value(part)));
  return (uri) => {
    // Most templates differ from a URI in their first characters.
    if (uri.length > MAX_MATCHED_URI || !uri.startsWith(parts[0] ?? '')) return false;
    const start: Ends = new Uint8Array(uri.length + 1);
    start[0] = 1;
    return steps.reduce((ends, step) => step(uri, ends), start).at(-1) === 1;
  };
}

// --- internal ---

/** 1 at every position where the part that was matched so far may end. All of them at once, instead of backtracking. */
type Ends = Uint8Array;
type Step = (uri: string, from: Ends) => Ends;

/** `x://{a}/{b}` has the texts `x://`, `/` and '', and the expressions `a` and `b` between them. */
const partsOf = (uriTemplate: string) => uriTemplate.split(/\{([^{}]*)\}/);
const isText = (at: number) => at % 2 === 0;

/** The value of an expression: the character that it begins with, if any, and then any that it may contain. */
function value(expression: string): Step {
  const [operator = ''] = /^[+#./;?&]/.exec(expression) ?? [];
  // A value with a first character may be absent; a value without one is not empty.
  const first = operator === '+' ? '' : operator;
  // Several values, `{/x,y}` and `{x*}`, are used by some servers for a whole path.
  const isWhole = operator === '+' || operator === '#' || /[*,]/.test(expression);
  const not = operator === '?' || operator === '&' ? '#' : isWhole ? '' : '/';
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
  if (text === '') return (_uri, from) => from;
  return (uri, from) => {
    const to = new Uint8Array(from.length);
    for (let at = uri.indexOf(text); at !== -1; at = uri.indexOf(text, at + 1))
      if (from[at] === 1) to[at + text.length] = 1;
    return to;
  };
}
