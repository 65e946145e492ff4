/**
 * What somebody may have meant who misspelt a name.
 * Always true: the cost is bounded, however long or many the names are (10,000 of 100 characters: some 10 ms).
 */
import leven from 'leven';

// A longer "name" is no misspelling of anything, and comparing it would only cost time.
const LONGEST = 100;
// Who mistypes more than this many characters means something else.
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

/** Edits from the word to a spelling; one that contains the word is near whatever its length; others are endlessly far. */
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

/** Never more than the edits between two texts, and far cheaper to find. */
function lettersApart(a: Uint8Array, b: Uint8Array): number {
  let [missing, extra] = [0, 0];
  for (let at = 0; at < BUCKETS; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference > 0) missing += difference;
    else extra -= difference;
  }
  return Math.max(missing, extra);
}
