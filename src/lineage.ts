/**
 * Who is in front of us, as far as it came with requests: so that a hub never serves itself through others.
 * Owns: the names of processes and how they travel. Leaves alone: who sends them (hub/) and who looks (transports/).
 * Always true: what we say of ourselves holds our own name last, and is short whatever we were told.
 */

export const LINEAGE_HEADER = 'x-skillwire-lineage';

export interface Lineage {
  /** Everybody in front of us, and us. */
  text(): string;
  /** Whether a request with this lineage has come from us. If not, those in it are in front of us from now on. */
  isCircle(text: string): boolean;
}

export function createLineage(): Lineage {
  // When it is first needed: making one takes a part of the time that starting takes.
  let name: string | undefined;
  const own = () => {
    name ??= crypto.randomUUID();
    return name;
  };
  const ancestors = new Set<string>();
  return {
    text: () => [...ancestors, own()].join(' '),
    isCircle(text) {
      const names = text.split(' ').filter((one) => NAME.test(one));
      if (names.length > 0 && names.includes(own())) return true;
      for (const one of names.slice(-MOST)) {
        // Those heard of last stay longest.
        ancestors.delete(one);
        ancestors.add(one);
      }
      for (const one of [...ancestors].slice(0, -MOST)) ancestors.delete(one);
      return false;
    },
  };
}

// --- internal ---

const NAME = /^[0-9a-f-]{36}$/;
// A header has 16 KiB on most servers. Nobody stacks this many hubs.
const MOST = 50;
