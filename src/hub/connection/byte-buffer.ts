/**
 * Bytes that come in pieces, held as one.
 * Owns: room that grows. Leaves alone: what the bytes mean and how many may come (sse.ts, http.ts).
 * Always true: what is held costs no more than twice its bytes (or 256), however small the pieces are, and each byte is copied a
 * few times at most, however many they are.
 */

export interface Hold {
  size(): number;
  add(piece: Uint8Array): void;
  /** All of it, and begins anew. */
  take(): Uint8Array;
}

export function createHold(): Hold {
  let room = NOTHING;
  let size = 0;
  return {
    size: () => size,
    add(piece) {
      const needed = size + piece.length;
      if (needed > room.length) {
        const grown = new Uint8Array(Math.max(needed, room.length * 2, LEAST_ROOM));
        grown.set(room.subarray(0, size));
        room = grown;
      }
      room.set(piece, size);
      size = needed;
    },
    take() {
      const all = room.subarray(0, size);
      room = NOTHING;
      size = 0;
      return all;
    },
  };
}

// --- internal ---

const NOTHING = new Uint8Array();
// Small ones are most of them, and need room once.
const LEAST_ROOM = 256;
