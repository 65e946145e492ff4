/**
 * Carries comments through esbuild, which keeps none but those that begin with `!` (meant for licences) and stand where
 * a statement could. Every comment of src/ that begins a line gets that mark before, and loses it after. esbuild moves
 * functions away from the comment above them, so that comment becomes the first line of the function. Comments of types
 * are dropped, as the types are. bundle.js checks that all this changes comments alone.
 */
import { readFileSync } from 'node:fs';

/** A plugin of esbuild that marks the comments of src/. */
export const markComments = {
  name: 'mark-comments',
  setup: (build) =>
    build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: mark(readFileSync(path, 'utf8')),
      loader: 'ts',
    })),
};

/** The bundle with those comments as they were written. */
export function unmarkComments(code) {
  return code.replace(/^([ \t]*)\/\*!\*/gm, '$1/**').replace(/^([ \t]*)\/\/!~/gm, '$1//');
}

// A comment at the left edge, and the line below it.
const ABOVE = /^((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)|(?:\/\/.*\n)+)(?=(.*)\n)/gm;
const FUNCTION = /^(?:export )?(?:async )?function\b/;
const TYPE = /^(?:export )?(?:type|interface) |^\/\//;

function mark(text) {
  const moved = text.replace(ABOVE, (comment, _comment, below, at) => {
    if (TYPE.test(below)) return '';
    if (!FUNCTION.test(below)) return comment;
    const rest = text.slice(at + comment.length);
    // The signature ends with the first line that closes at the left edge and opens the body.
    const signature = /^(?:\S.*\n(?:\s.*\n)*?)??\S.*\{\n/.exec(rest)?.[0];
    return signature === undefined ? comment : `\u0000${signature.length}:${comment}\u0000`;
  });
  const placed = moved.replace(/\u0000(\d+):([\s\S]*?)\u0000([\s\S]*?)(?=\u0000|$)/g, (_all, length, comment, rest) => {
    const indented = comment.replace(/^(?=.)/gm, '  ');
    return rest.slice(0, Number(length)) + indented + rest.slice(Number(length));
  });
  return placed.replace(/^([ \t]*)\/\*\*(?!\/)/gm, '$1/*!*').replace(/^([ \t]*)\/\/(?!!)/gm, '$1//!~');
}
