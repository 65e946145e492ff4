/** Invisible characters: text that contains some of each kind, and an assertion that a value contains none. */
import assert from 'node:assert/strict';

const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]|\udb40/;
/** Some of each kind. */
export const DIRT = '\u001b[31m\u202e\u2066\u200b\u2060\ufeff\u{e0041}\u0007';

/** Fails when a string anywhere in the value contains an invisible character. */
export function assertClean(what: string, value: unknown): void {
  const strings: string[] = [];
  JSON.stringify(value, (_key, one) => {
    if (typeof one === 'string') strings.push(one);
    return one;
  });
  assert.deepEqual(
    strings.filter((text) => INVISIBLE.test(text)),
    [],
    what,
  );
}
