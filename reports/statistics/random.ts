/** A source of chance: numbers from 0 up to, and without, 1. */
export type Random = () => number;

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
