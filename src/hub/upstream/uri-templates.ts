/**
 * URI templates (RFC 6570) of upstream servers, read backwards: which URIs they stand for.
 * Owns: which templates can be passed on, and what they match. Leaves alone: whose they are (foreign.ts).
 * Always true:
 * - a template that is passed on begins with a scheme, and not one of ours: it takes no URI that we gave to something;
 * - matching takes time in proportion to the length of the URI and the number of expressions, whatever they hold;
 * - a match is a guess at whom to ask: the server itself has the last word on what is there.
 */
import type { Params } from '../../protocol/index.ts';
import { visible } from '../../text.ts';

/** Who lists a name that we give could stand in the place of what we give it to. */
export const OURS = /^(skill|mcp):/i;

// Real servers have a few, of a hundred characters and four expressions. At all of these limits together a URI that none
// of them matches takes about half a second (measured).
export const MOST_TEMPLATES = 500;
export const LONGEST_TEMPLATE = 1024;
export const MOST_EXPRESSIONS = 10;
export const LONGEST_MATCHED = 2048;

/** Why it cannot be passed on; undefined: it can. */
export function templateFault({ uriTemplate, name }: Params): string | undefined {
  if (typeof uriTemplate !== 'string') return 'it has no uriTemplate';
  if (typeof name !== 'string') return 'it has no name';
  if (uriTemplate.length > LONGEST_TEMPLATE) return `it is over ${LONGEST_TEMPLATE} characters`;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(uriTemplate)) return 'it does not begin with a scheme';
  if (/\s/.test(uriTemplate) || visible(uriTemplate) !== uriTemplate) return 'it holds blanks or control characters';
  if (OURS.test(uriTemplate)) return 'its scheme is ours';
  const { texts, expressions } = partsOf(uriTemplate);
  if (texts.some((text) => /[{}]/.test(text)) || expressions.includes('')) return 'its braces make no sense';
  if (expressions.length > MOST_EXPRESSIONS) return `it has over ${MOST_EXPRESSIONS} expressions`;
  return undefined;
}

/** For a template without a fault. */
export function matcherOf(uriTemplate: string): (uri: string) => boolean {
  const { texts, expressions } = partsOf(uriTemplate);
  const [beginning = '', ...others] = texts;
  const steps = others.flatMap((text, at) => [value(expressions[at] ?? ''), ...(text === '' ? [] : [literal(text)])]);
  return (uri) => {
    if (uri.length > LONGEST_MATCHED || !uri.startsWith(beginning)) return false;
    let ends: Ends = new Uint8Array(uri.length + 1);
    ends[beginning.length] = 1;
    for (const step of steps) ends = step(uri, ends);
    return ends[uri.length] === 1;
  };
}

// --- internal ---

/** 1 at every place in a URI where what was matched so far may end. All at once, so that nothing is ever tried again. */
type Ends = Uint8Array;
type Step = (uri: string, from: Ends) => Ends;

/** What the values of an expression look like in a URI. */
interface Kind {
  /** The character that they begin with. With one they may also be missing, without one they are not empty. */
  readonly lead: string;
  /** The character that they do not hold; '' for none. */
  readonly not: string;
  /** The same for several, `{/x,y}` and `{x*}`: there are servers that take a whole path for these. */
  readonly notInMany: string;
}

const PLAIN: Kind = { lead: '', not: '/', notInMany: '' };
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['+', { lead: '', not: '', notInMany: '' }],
  ['#', { lead: '#', not: '', notInMany: '' }],
  ['.', { lead: '.', not: '/', notInMany: '' }],
  ['/', { lead: '/', not: '/', notInMany: '' }],
  [';', { lead: ';', not: '/', notInMany: '' }],
  ['?', { lead: '?', not: '#', notInMany: '#' }],
  ['&', { lead: '&', not: '#', notInMany: '#' }],
]);

/** `x://{a}/{b}` to the texts `x://`, `/` and '', with the expressions `a` and `b` between them. */
function partsOf(uriTemplate: string): { readonly texts: readonly string[]; readonly expressions: readonly string[] } {
  const parts = uriTemplate.split(/\{([^{}]*)\}/);
  return {
    texts: parts.filter((_part, at) => at % 2 === 0),
    expressions: parts.filter((_part, at) => at % 2 === 1),
  };
}

function value(expression: string): Step {
  const { lead, ...kind } = KINDS.get(expression.charAt(0)) ?? PLAIN;
  const not = /[*,]/.test(expression) ? kind.notInMany : kind.not;
  return (uri, from) => {
    const to = new Uint8Array(from.length);
    for (let at = 0; at < uri.length; at += 1) {
      const character = uri[at];
      const goesOn = to[at] === 1 && character !== not;
      const begins = from[at] === 1 && (lead === '' ? character !== not : character === lead);
      if (goesOn || begins) to[at + 1] = 1;
    }
    return lead === '' ? to : to.map((end, at) => end | (from[at] ?? 0));
  };
}

function literal(text: string): Step {
  return (uri, from) => {
    const to = new Uint8Array(from.length);
    const common = commonPrefixes(text + uri);
    for (let at = 0; at + text.length <= uri.length; at += 1) {
      if (from[at] === 1 && (common[text.length + at] ?? 0) >= text.length) to[at + text.length] = 1;
    }
    return to;
  };
}

/** For every place in a text, how far what follows is equal to its beginning. In one pass: the Z algorithm. */
function commonPrefixes(text: string): Uint16Array {
  const lengths = new Uint16Array(text.length + 1);
  // The stretch that reaches furthest among those already known to be equal to the beginning.
  let [start, end] = [0, 0];
  for (let at = 1; at < text.length; at += 1) {
    let length = at < end ? Math.min(end - at, lengths[at - start] ?? 0) : 0;
    while (at + length < text.length && text[length] === text[at + length]) length += 1;
    lengths[at] = length;
    if (at + length > end) [start, end] = [at, at + length];
  }
  return lengths;
}
