/* Energy distances of one series split in two, at every position at once. */

export interface Split {
  /** Index of the first value of the second side. */
  readonly at: number;
  readonly statistic: number;
}

/**
 * The statistic of every split, indexed by the first value of the second side: n·m/(n+m) · (2·E|X-Y| - E|X-X'| -
 * E|Y-Y'|), the test statistic of Székely and Rizzo that E-divisive (Matteson and James 2014) maximises, with exponent
 * 1. Index 0 is not a split and has 0.
 */
export const splitStatistics = (values: ArrayLike<number>): Float64Array => {
  const count = values.length;
  const before = distancesWithin(values);
  const after = distancesWithin(Array.from(values).toReversed());
  const all = before[count] ?? 0;
  const statistics = new Float64Array(count);
  for (let at = 1; at < count; at += 1) {
    const [n, m] = [at, count - at];
    const left = before[n] ?? 0;
    const right = after[m] ?? 0;
    const between = all - left - right;
    const energy = (2 * between) / (n * m) - (2 * left) / n ** 2 - (2 * right) / m ** 2;
    statistics[at] = ((n * m) / (n + m)) * energy;
  }
  return statistics;
};

/** The best split that leaves at least this many values on either side; undefined if there are too few. */
export const bestSplit = (values: ArrayLike<number>, leastSide: number): Split | undefined => {
  if (values.length < 2 * leastSide) return undefined;
  const statistics = splitStatistics(values);
  let best = { at: leastSide, statistic: -Infinity };
  for (let at = leastSide; at <= values.length - leastSide; at += 1)
    if ((statistics[at] ?? 0) > best.statistic) best = { at, statistic: statistics[at] ?? 0 };
  return best;
};

/** Sum of |a - b| over all pairs of the first k values, for k from 0 to n. */
const distancesWithin = (values: ArrayLike<number>): Float64Array => {
  const within = new Float64Array(values.length + 1);
  for (let last = 0; last < values.length; last += 1) {
    let distance = within[last] ?? 0;
    for (let at = 0; at < last; at += 1) distance += Math.abs((values[at] ?? 0) - (values[last] ?? 0));
    within[last + 1] = distance;
  }
  return within;
};
