/*
 * Energy distances of one series split in two, at every place at once. For numbers on a line, the sum
 * of |a - b| over all pairs of a set grows by an amount that two Fenwick trees over the ranks know in
 * O(log n), so that all splits of n values cost O(n log n) instead of the O(n²) of a distance matrix.
 */

export interface Split {
  /** Index of the first value of the second side. */
  readonly at: number;
  readonly statistic: number;
}

/**
 * The statistic of every split, by index of the first value of the second side:
 * n·m/(n+m) · (2·E|X-Y| - E|X-X'| - E|Y-Y'|), the test statistic of Székely and Rizzo that E-divisive
 * (Matteson and James 2014) maximises, with exponent 1. Index 0 is no split and has 0.
 */
export const splitStatistics = (values: ArrayLike<number>): Float64Array => {
  const count = values.length;
  const ranks = ranksOf(values);
  const before = distancesWithin(values, ranks, false);
  const after = distancesWithin(values, ranks, true);
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

/** The best split that leaves at least so many values on either side; undefined where there are too few. */
export const bestSplit = (values: ArrayLike<number>, leastSide: number): Split | undefined => {
  if (values.length < 2 * leastSide) return undefined;
  const statistics = splitStatistics(values);
  let best = { at: leastSide, statistic: -Infinity };
  for (let at = leastSide; at <= values.length - leastSide; at += 1)
    if ((statistics[at] ?? 0) > best.statistic) best = { at, statistic: statistics[at] ?? 0 };
  return best;
};

const ranksOf = (values: ArrayLike<number>): Int32Array => {
  const order = Int32Array.from({ length: values.length }, (_, at) => at);
  order.sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const ranks = new Int32Array(values.length);
  for (let place = 0; place < order.length; place += 1) ranks[order[place] ?? 0] = place;
  return ranks;
};

/** Sum of |a - b| over all pairs of the first k values (of the last k ones), by k from 0 to all. */
const distancesWithin = (values: ArrayLike<number>, ranks: Int32Array, fromEnd: boolean): Float64Array => {
  const size = values.length;
  const counts = new Float64Array(size + 1);
  const sums = new Float64Array(size + 1);
  const within = new Float64Array(size + 1);
  let [total, distance] = [0, 0];
  for (let added = 0; added < size; added += 1) {
    const at = fromEnd ? size - 1 - added : added;
    const value = values[at] ?? 0;
    const place = (ranks[at] ?? 0) + 1;
    let [smaller, sumOfSmaller] = [0, 0];
    for (let node = place; node > 0; node -= node & -node) {
      smaller += counts[node] ?? 0;
      sumOfSmaller += sums[node] ?? 0;
    }
    distance += value * smaller - sumOfSmaller + (total - sumOfSmaller) - value * (added - smaller);
    within[added + 1] = distance;
    total += value;
    for (let node = place; node <= size; node += node & -node) {
      counts[node] = (counts[node] ?? 0) + 1;
      sums[node] = (sums[node] ?? 0) + value;
    }
  }
  return within;
};
