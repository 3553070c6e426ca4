/** A distribution as its histogram keeps it: values in milliseconds, ascending, with how often each came. */
export type Cells = readonly (readonly [valueMs: number, count: number])[];

export const countOf = (cells: Cells): number => cells.reduce((sum, [, count]) => sum + count, 0);

/** The smallest value that at least this share of all values does not exceed; undefined where there are none. */
export const quantileOf = (cells: Cells, share: number): number | undefined => {
  const rank = Math.max(1, Math.ceil(share * countOf(cells)));
  let reached = 0;
  for (const [value, count] of cells) {
    reached += count;
    if (reached >= rank) return value;
  }
  return cells.at(-1)?.[0];
};

export const mergeCells = (parts: readonly Cells[]): Cells => {
  const counts = new Map<number, number>();
  for (const part of parts)
    for (const [value, count] of part) counts.set(value, (counts.get(value) ?? 0) + count);
  return [...counts].toSorted(([a], [b]) => a - b);
};

const RESAMPLES = 200;
const MOST_BLOCKS = 60;
const LEAST_BLOCKS = 5;

/**
 * A 95 % interval of a quantile by the bootstrap over blocks of time (Künsch 1989, with blocks that
 * do not overlap): requests of one second share their fate, so seconds are drawn, never requests.
 * Undefined where there are too few blocks for an interval to mean anything.
 */
export const quantileInterval = (
  seconds: readonly Cells[],
  share: number,
  random: () => number,
): readonly [number, number] | undefined => {
  const blocks = blocksOf(seconds.filter((cells) => cells.length > 0));
  if (blocks.length < LEAST_BLOCKS) return undefined;
  const values = mergeCells(blocks).map(([value]) => value);
  const reached = blocks.map((cells) => countsUpTo(values, cells));
  const drawn = Array.from({ length: RESAMPLES }, () =>
    quantileIn(
      values,
      blocks.map(() => reached[Math.floor(random() * blocks.length)] ?? new Float64Array()),
      share,
    ),
  ).toSorted((a, b) => a - b);
  const at = (part: number): number =>
    drawn[Math.min(drawn.length - 1, Math.floor(part * drawn.length))] ?? 0;
  return [at(0.025), at(0.975)];
};

/** For each of these values, how many of a block's values do not exceed it. */
const countsUpTo = (values: readonly number[], cells: Cells): Float64Array => {
  const counts = new Map(cells);
  let reached = 0;
  return Float64Array.from(values, (value) => (reached += counts.get(value) ?? 0));
};

/** As quantileOf says of the blocks together, without adding them up anew for each draw. */
const quantileIn = (values: readonly number[], blocks: readonly Float64Array[], share: number): number => {
  const upTo = (at: number): number => blocks.reduce((sum, block) => sum + (block[at] ?? 0), 0);
  const rank = Math.max(1, Math.ceil(share * upTo(values.length - 1)));
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (upTo(middle) < rank) low = middle + 1;
    else high = middle;
  }
  return values[low] ?? 0;
};

/** Neighbouring seconds together, so that a long run costs no more than a short one. */
const blocksOf = (seconds: readonly Cells[]): readonly Cells[] => {
  const size = Math.ceil(seconds.length / MOST_BLOCKS);
  if (size <= 1) return seconds;
  return Array.from({ length: Math.ceil(seconds.length / size) }, (_, at) =>
    mergeCells(seconds.slice(at * size, (at + 1) * size)),
  );
};
