import {
  drawnIntervals,
  mergeCounted,
  type Counted,
  type Interval,
} from "../../../conformance/contract/distribution.ts";
import type { Random } from "../../../conformance/contract/random.ts";
import { inGroups } from "../../../conformance/contract/text.ts";

const MOST_BLOCKS = 60;
const LEAST_BLOCKS = 5;

/** A 95 % interval of a quantile; undefined if there are too few seconds for a meaningful one. */
export const quantileInterval = (
  seconds: readonly Counted[],
  share: number,
  random: Random,
): Interval | undefined => {
  const filled = seconds.filter(({ total }) => total > 0);
  // Neighbouring seconds together, so that a long run costs no more than a short one.
  const size = Math.ceil(filled.length / MOST_BLOCKS);
  const blocks = size <= 1 ? filled : inGroups(filled, size).map(mergeCounted);
  return blocks.length < LEAST_BLOCKS ? undefined : drawnIntervals(blocks, [share], 0.95, random)[0];
};
