/**
 * The names of upstream servers: those of their configuration, and those they are served under.
 * Owns: which names there may be, and how other names are changed. Leaves alone: the names of their tools (upstream/).
 * Always true: no two servers are served under one name; a name that needs no change keeps it, unless a server of an
 * earlier group has it: a file that is not trusted must not rename the servers of others.
 */
import { cut, HASH_LENGTH, hashOf, visible } from '../../text.ts';
import { MAX_SERVER_NAME } from './limits.ts';

/** Why no server can have this name, nor one made from it. */
export function nameFault(name: string): string | undefined {
  if (name === '') return 'its name is empty';
  if (name.length > MAX_SERVER_NAME) return `its name is over ${MAX_SERVER_NAME} characters`;
  if (USUAL.test(name)) return undefined;
  if (/\p{C}/u.test(name)) return 'its name has a control character';
  // Such characters are removed from what is listed, and no tool of the server could be called by its listed name.
  if (visible(name) !== name) return 'its name has an invisible character';
  return plainOf(name) === '' ? 'its name has only colons, slashes and spaces' : undefined;
}

/**
 * The names that servers are served under, by those of their configuration; without those that have a fault.
 * The names of an earlier group do not depend on a later group.
 */
export function servedNames(...groups: readonly (readonly string[])[]): ReadonlyMap<string, string> {
  const served = new Map<string, string>();
  const taken = new Set<string>();
  for (const group of groups) {
    const names = group.filter((name) => nameFault(name) === undefined);
    const ordered = [...names.filter((name) => !needsChange(name)), ...names.filter(needsChange)];
    for (const name of ordered.filter((one) => !served.has(one))) {
      const plain = plainOf(name);
      let own = plain;
      for (let hash = hashOf(name); taken.has(own); hash = hashOf(hash))
        own = `${cut(plain, MAX_SERVER_NAME - HASH_LENGTH - 1)}-${hash}`;
      taken.add(own);
      served.set(name, own);
    }
  }
  return served;
}

// --- internal ---

// Such names need no other test: V8 takes a third of a millisecond for each pattern with \p{…}.
const USUAL = /^[\w.-]+$/;

/** A colon ends the server's part of a tool's name; a slash or a space would end it in URIs and in patterns. */
const needsChange = (name: string) => !USUAL.test(name) && /[:/\p{Z}]/u.test(name);

/** VS Code's gallery writes names such as "io.github.upstash/context7". */
function plainOf(name: string): string {
  if (!needsChange(name)) return name;
  const words = name.split(/[-:/\p{Z}]+/u);
  return words.filter((word) => word !== '').join('-');
}
