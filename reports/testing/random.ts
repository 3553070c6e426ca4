/** A source of numbers for made-up records: the same seed always gives the same ones. */
export interface Random {
  /** Evenly spread from 0 up to, and without, 1. */
  next(): number;
  /** An integer from 0 up to, and without, `below`. */
  integer(below: number): number;
  /** From the standard normal distribution. */
  normal(): number;
}

/** Mulberry32, with normal numbers by the method of Box and Muller. */
export const seededRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    integer: (below) => Math.floor(next() * below),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  };
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
