/** Replacing parts of a text, and finding its lines. */

/** Puts `text` in the place of what is between two offsets. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export const insert = (at: number, text: string): TextEdit => ({ start: at, end: at, text });
export const erase = (start: number, end: number): TextEdit => ({ start, end, text: '' });

/** The edits must not overlap. Insertions at one offset stay in their order. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let taken = 0;
  const parts: string[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    parts.push(text.slice(taken, edit.start), edit.text);
    taken = edit.end;
  }
  return parts.join('') + text.slice(taken);
}

/** The line break that the text uses. */
export const newlineOf = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n');

export const startOfLine = (text: string, at: number) => text.lastIndexOf('\n', at - 1) + 1;
