/** The greatest of any number of numbers, and at least `least`: a load has more notifications than a call takes arguments. */
export const greatest = (least: number, numbers: readonly number[]): number =>
  numbers.reduce((most, one) => Math.max(most, one), least);
