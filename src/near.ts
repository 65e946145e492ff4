/** What somebody may have meant who misspelt a name. Bounded in cost, however long or many the names are. */
import leven from 'leven';

// A longer "name" is no misspelling of anything, and comparing it would only cost time.
const LONGEST = 100;

/** The items with a spelling close to `word`, nearest first; among equals, in their order. */
export function nearest<T>(word: string, items: readonly T[], spellings: (item: T) => readonly string[]): readonly T[] {
  if (word === '' || word.length > LONGEST) return [];
  const reach = Math.max(2, Math.floor(word.length / 3));
  const scored = items.flatMap((item) => {
    const distance = Math.min(...spellings(item).map((spelling) => distanceTo(spelling, word, reach)));
    return distance <= reach ? [{ item, distance }] : [];
  });
  return scored.sort((a, b) => a.distance - b.distance).map(({ item }) => item);
}

// --- internal ---

/** Edits between the two; one that contains the word is near whatever its length. */
function distanceTo(spelling: string, word: string, reach: number): number {
  if (Math.abs(spelling.length - word.length) <= reach) {
    const distance = leven(spelling, word, { maxDistance: reach + 1 });
    if (distance <= reach) return distance;
  }
  return word.length >= 3 && spelling.includes(word) ? reach : reach + 1;
}
