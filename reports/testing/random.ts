import { seededRandom } from "../../conformance/contract/random.ts";

/** A number from the standard normal distribution (Box and Muller). */
export const normalOf = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** A random source for made-up records, deterministic for a given seed. */
export interface Random {
  /** Uniform from 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** An integer from 0 (inclusive) to `below` (exclusive). */
  integer(below: number): number;
  /** Standard normal. */
  normal(): number;
}

export const madeRandom = (seed: number): Random => {
  const next = seededRandom(seed);
  return { next, integer: (below) => Math.floor(next() * below), normal: () => normalOf(next) };
};

/** A UUID-shaped string. */
export const madeUuid = (random: Random): string => {
  const hex = (): string =>
    random
      .integer(2 ** 32)
      .toString(16)
      .padStart(8, "0");
  const all = hex() + hex() + hex() + hex();
  return `${all.slice(0, 8)}-${all.slice(8, 12)}-4${all.slice(13, 16)}-8${all.slice(17, 20)}-${all.slice(20)}`;
};
