import { scaleLinear } from "d3-scale";
import { change } from "../text/figures.ts";
import type { Tick } from "./chart.ts";

/** Changes that label the axis, as shares; each is shown with its inverse if both fit. */
const shares = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4, 9];
/** Beyond tenfold, a picture only says that the change is large. */
const MOST = Math.log(10);
const LEAST = Math.log1p(0.01);
const TICKS_A_SIDE = 2;

/**
 * Ratios on a logarithmic axis with "no change" in the middle, so that twice as slow is as far out as twice as fast.
 * The range covers `ratios`, and at least half to double.
 */
export const changeScale = (ratios: readonly number[], from: number, to: number) => {
  const ways = ratios.flatMap((ratio) =>
    ratio > 0 && Number.isFinite(ratio) ? [Math.abs(Math.log(ratio))] : [],
  );
  const most = Math.min(MOST, Math.max(LEAST, ...ways) * 1.12);
  const at = scaleLinear([-most, most], [from, to]).clamp(true);
  const wide = shares.filter((share) => Math.log1p(share) <= most * 0.94);
  const steps = wide
    .slice(-TICKS_A_SIDE)
    .filter((share, index, all) => all.length === 1 || index === 0 || share >= 2 * (all[0] ?? 0));
  const ticks: readonly Tick[] = [...steps.flatMap((share) => [1 / (1 + share), 1 + share]), 1]
    .toSorted((a, b) => a - b)
    .map((ratio) => ({ at: at(Math.log(ratio)), label: change(ratio), kept: ratio === 1 }));
  return { at: (ratio: number): number => at(Math.log(Math.max(Number.MIN_VALUE, ratio))), ticks };
};
