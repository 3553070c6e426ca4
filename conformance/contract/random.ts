/** A source of random numbers in [0, 1). */
export type Random = () => number;

/** mulberry32: small, fast, and the same for the same seed. */
export const seededRandom = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/**
 * Integers from 0 to 2^32 - 1 by Chris Doty-Humphrey's sfc32 (PractRand). Its 128 bits of state are enough that
 * identifiers of a long load do not repeat by chance. The first rounds mix the state and are dropped.
 */
export const sfc32 = (
  state: readonly [a: number, b: number, c: number, counter: number],
  dropped: number,
): (() => number) => {
  let [a, b, c, counter] = state;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < dropped; round += 1) next();
  return next;
};

/** 32-bit FNV-1a: maps a text to a seed, the same on every machine. */
export const hash32 = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash | 0;
};

/** Formats 32 hexadecimal digits as a UUID of the given version, with the variant of RFC 9562. */
export const uuidOf = (digits: string, version: number): string => {
  const variant = ((parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${version}${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
};
