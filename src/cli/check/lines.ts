/** Lines of a text, whatever their endings. */

/** Where each line begins; the first one at 0. */
export function lineStarts(text: string): readonly number[] {
  const starts = [0];
  const end = /\r\n?|\n/g;
  while (end.test(text)) starts.push(end.lastIndex);
  return starts;
}
