/** Random choices that a seed decides. */
export interface Random {
  /** From 0 to below 1. */
  readonly next: () => number;
  /** A whole number from 0 to below `bound`. */
  readonly below: (bound: number) => number;
  /** One of the characters a-z, A-Z, 0-9 after the other. */
  readonly letters: (length: number) => string;
  /** A UUID of version 4 in its form (RFC 9562 section 5.4); its bits come from the seed. */
  readonly uuid: () => string;
}

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** Choices for one purpose: the same key gives the same ones, another key others. */
export const randomFrom = (key: string): Random => {
  const next = sfc32(key);
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    letters: (length) => {
      let text = "";
      for (let at = 0; at < length; at += 1) text += alphabet.charAt(below(alphabet.length));
      return text;
    },
    uuid: () => {
      const digits = Array.from({ length: 32 }, () => below(16).toString(16));
      digits[12] = "4";
      digits[16] = (8 + below(4)).toString(16);
      const hex = digits.join("");
      return [8, 12, 16, 20, 32].map((end, index) => hex.slice([0, 8, 12, 16, 20][index], end)).join("-");
    },
  };
};

/**
 * Chris Doty-Humphrey's sfc32 (PractRand), which holds 128 bits of state: enough that the accounts
 * of an hour's load do not meet by chance. The key fills the state through four rounds of FNV-1a.
 */
const sfc32 = (key: string): (() => number) => {
  let [a, b, c, d] = [1, 2, 3, 4].map((round) => fnv1a(key, round)) as [number, number, number, number];
  const step = (): number => {
    const mixed = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + mixed) | 0;
    return (mixed >>> 0) / 4_294_967_296;
  };
  for (let warmUp = 0; warmUp < 12; warmUp += 1) step();
  return step;
};

const fnv1a = (text: string, round: number): number => {
  let hash = (0x811c9dc5 ^ Math.imul(round, 0x9e3779b1)) | 0;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
};
