/**
 * The rules for the Markdown of a SKILL.md: its length, and where its links lead.
 * Always true: it takes time linear in the text; what stands in code or in a comment is not a link.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { echo } from '../../text.ts';
import { grouped, roughTokens } from '../output.ts';
import { lineStarts } from './lines.ts';
import { type Finding, MOST_LINES, MOST_TOKENS } from './rules.ts';

/** `body`: where the Markdown begins. `directory`: that of the file, where its links start from. */
export function checkBody(text: string, body: number, directory: string): readonly Finding[] {
  return [...checkLength(text, body), ...deadLinks(text, body, directory)];
}

// --- internal ---

function checkLength(text: string, body: number): readonly Finding[] {
  const starts = lineStarts(text);
  // A line break at the end does not begin another line.
  const lines = starts.at(-1) === text.length ? starts.length - 1 : starts.length;
  const tokens = roughTokens(text.slice(body));
  if (lines <= MOST_LINES && tokens <= MOST_TOKENS) return [];
  const message = `${grouped(lines)} lines and about ${grouped(tokens)} tokens are loaded whole; advised are at most ${grouped(MOST_LINES)} and ${grouped(MOST_TOKENS)}, the rest in files that are read when needed`;
  return [{ rule: 'body-length', at: lines > MOST_LINES ? (starts[MOST_LINES] ?? body) : body, message }];
}

function deadLinks(text: string, body: number, directory: string): readonly Finding[] {
  const markdown = text.slice(body);
  // Finding code takes longer than finding links, and most files have no dead link anywhere.
  const dead = deadLinksIn(markdown, directory).length > 0 ? deadLinksIn(withoutCode(markdown), directory) : [];
  return dead.map(({ at, link }) => ({
    rule: 'dead-link',
    at: body + at,
    message: `the link "${echo(link)}" leads to no file`,
  }));
}

/** Each once, where it comes first. */
function deadLinksIn(markdown: string, directory: string) {
  const seen = new Set<string>();
  const dead: { readonly at: number; readonly link: string }[] = [];
  for (const { 0: whole, 1: angled, 2: plain, 3: defined, index } of markdown.matchAll(LINK)) {
    const link = angled ?? plain ?? defined ?? '';
    const path = pathOf(link);
    if (path === undefined || seen.has(path)) continue;
    seen.add(path);
    if (!existsSync(join(directory, path))) dead.push({ at: index + whole.indexOf(link, whole.indexOf(']')), link });
  }
  return dead;
}

// `](path` and `[name]: path` at the start of a line. What follows the path does not matter. Lengths are bounded, so that
// an attempt at every character stays cheap.
const LINK =
  /\]\([ \t]{0,20}(?:<([^<>\r\n]{1,1000})>|((?:[^\s()<]|\([^\s()]{0,200}\)){1,1000})(?=[\s)]))|(?<![^\r\n]) {0,3}\[(?!\^)[^\]\r\n]{1,200}\]:[ \t]{1,20}([^\s<]{1,1000})/g;

/** The relative path that a link leads to; undefined for another kind of link, and for what stands for a path. */
function pathOf(written: string): string | undefined {
  const [path = ''] = written.split(/[?#]/, 1);
  if (path === '' || NOT_RELATIVE.test(path) || PLACEHOLDER.test(path) || !/[./]/.test(path)) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // A percent sign that is meant as such.
  }
}

const NOT_RELATIVE = /^(?:[a-z][a-z\d+.-]*:|[/\\~])/i;
// In examples: `{name}.md`, `$DIR/x`, `path/to/file`, `*.md`, `...`.
const PLACEHOLDER = /[{}<>$*|]|\.\.\.|\u2026|^(?:\.\/)?path\/to\/|^(?:https?|www\.)/i;

/** The same text with code and comments overwritten. */
function withoutCode(markdown: string): string {
  let fence = '';
  const isIndented = createIndentFinder();
  const lines = withoutComments(markdown)
    .split('\n')
    .map((line) => {
      const mark = fenceIn(line);
      const isInside = fence !== '';
      if (!isInside) fence = mark;
      else if (mark.startsWith(fence) && line.trimEnd().endsWith(mark)) fence = '';
      return isInside || mark !== '' || isIndented(line) ? blank(line) : withoutSpans(line);
    });
  return lines.join('\n');
}

/** Gives a function that tells of each line in turn, outside of fences, whether it is code by its indentation. */
function createIndentFinder(): (line: string) => boolean {
  /** The column at which the text of the innermost list item begins: code in it is deeper. */
  let margin = 0;
  /** Whether the line before is of a paragraph, which goes on whatever the indentation is. */
  let isOpen = false;
  return (line) => {
    const isBlank = line.trim() === '';
    const indent = columnsOf(/^[ \t]*/.exec(line)?.[0] ?? '');
    if (!isBlank && !isOpen && indent >= margin + 4) return true;
    const [item] = /^[ \t]*(?:[*+-]|\d{1,9}[.)])(?:[ \t]+|\r?$)/.exec(line) ?? [];
    if (item !== undefined) margin = columnsOf(item);
    else if (!isBlank && !isOpen) margin = Math.min(margin, indent);
    isOpen = !isBlank && !/^ {0,3}#{1,6}[ \t]/.test(line);
    return false;
  };
}

/** A tab goes to the next multiple of four. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += character === '\t' ? 4 - (columns % 4) : 1;
  return columns;
}

/** The characters that open or close a block of code, also in a list or a quotation. */
function fenceIn(line: string): string {
  const { 0: before = '', 1: mark = '' } = /^[\s>*+-]*(?:\d{1,9}[.)][ \t]+)?(`{3,}|~{3,})/.exec(line) ?? [];
  const isSpan = mark.startsWith('`') && line.includes('`', before.length);
  return isSpan ? '' : mark;
}

const blank = (text: string) => ' '.repeat(text.length);

/** With letters in their place: blanks could be taken for an indentation. */
function withoutComments(text: string): string {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const start = text.indexOf('<!--', from);
    const end = start === -1 ? -1 : text.indexOf('-->', start);
    if (end === -1) return parts.join('') + text.slice(from);
    parts.push(text.slice(from, start), text.slice(start, end).replace(/[^\r\n]/g, 'x'));
    from = end;
  }
  return parts.join('');
}

/** Code spans begin and end with equally many backticks. */
function withoutSpans(line: string): string {
  if (!line.includes('`')) return line;
  // Every second part is a run of backticks.
  const parts = line.split(/(`+)/);
  const last = new Map(parts.map((part, at) => [at % 2 === 1 ? part : '', at]));
  let open: string | undefined;
  return parts
    .map((part, at) => {
      const isMark = at % 2 === 1;
      const isInside = open !== undefined;
      if (isMark && part === open) open = undefined;
      else if (isMark && !isInside && (last.get(part) ?? 0) > at) open = part;
      return isInside || isMark ? blank(part) : part;
    })
    .join('');
}
