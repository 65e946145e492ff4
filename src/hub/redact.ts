/**
 * Replaces the secrets of one configuration in texts that people see.
 * Owns: how a secret is found in a text. Leaves alone: which values are secrets (entries.ts), where texts go.
 * Always true: the time is linear in the text; a text is redacted before it is shortened, as half a secret is not found.
 */

export function createRedact(secrets: readonly string[]): (text: string) => string {
  const spellings = [...new Set(secrets.flatMap(partsOf).flatMap(spellingsOf))];
  // The longest first: one secret may begin with another.
  spellings.sort((a, b) => b.length - a.length);
  const known = new RegExp(spellings.map((one) => one.replace(/[^\w\s]/g, '\\$&')).join('|') || '(?!)', 'g');
  return (text) => text.replace(known, REPLACEMENT).replace(URL_CREDENTIALS, `://${REPLACEMENT}@`);
}

// --- internal ---

const REPLACEMENT = '[redacted]';
// Up to the last @ of the host's part, as URL parsers read it. No slash inside, so that no text is searched twice.
const URL_CREDENTIALS = /:\/\/[^\s/?#"'<>]+@/g;
// Shorter values protect nothing, and replacing them, or such words, would make every text unreadable.
const MIN_SECRET = 4;
const COMMON = /^(?:true|false|null|none|info|debug|production|development|bearer|basic)$/i;
// A part of a secret that is this long: a token behind the word Bearer, a line of a private key.
const MIN_PART = 8;

function partsOf(secret: string): readonly string[] {
  const parts = secret.split(/\s+/).filter((part) => part.length >= MIN_PART);
  return [secret.trim(), ...parts].filter((one) => one.length >= MIN_SECRET && !COMMON.test(one));
}

/** As it is, in a URL, and in JSON. */
function spellingsOf(secret: string): readonly string[] {
  // Half of a surrogate pair cannot be encoded.
  return [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)];
}
