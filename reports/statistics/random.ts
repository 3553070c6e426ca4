/** A source of chance: numbers from 0 up to, and without, 1. */
export type Random = () => number;

/** Mulberry32: small, fast, and the same numbers for the same seed. */
export const seededRandom = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** A number from the standard normal distribution (Box and Muller). */
export const normalOf = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Puts the values from `start` to before `end` into random order, in place (Fisher and Yates). */
export const shuffle = (values: Float64Array, start: number, end: number, random: Random): void => {
  for (let at = end - 1; at > start; at -= 1) {
    const other = start + Math.floor(random() * (at - start + 1));
    const held = values[at] ?? 0;
    values[at] = values[other] ?? 0;
    values[other] = held;
  }
};
