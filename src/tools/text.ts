/** Small pieces of text that go into descriptions and answers. */
import { printable } from '../log.ts';
import type { ToolResult } from '../model.ts';

/** For the inside of an XML element. Characters that XML cannot hold become the replacement character. */
export function xml(text: string): string {
  // One look at each of ten thousand descriptions, instead of four.
  if (!/[&<>\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text)) return text;
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** On one line, with blanks collapsed. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

/** At most `length` characters, cut between characters and marked where something is missing. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  if (length < 1) return '';
  const cut = text.slice(0, length - 1);
  // Half of a surrogate pair is no character.
  const whole = /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
  return `${whole.trimEnd()}…`;
}

export function success(text: string): ToolResult {
  return { content: [{ type: 'text', text }] };
}

/** A miss the model can mend: a result, not an exception. */
export function failure(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
