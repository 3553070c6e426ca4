import { scaleLinear, scaleLog } from "d3-scale";
import { change, figure } from "../text/figures.ts";
import type { Tick } from "./chart.ts";

/** A round latency for an axis label: "0.5 ms", "100 ms", "2 s". */
export const roundLatency = (ms: number): string =>
  ms >= 1_000 ? `${figure(ms / 1_000)} s` : `${trimmed(ms)} ms`;

const trimmed = (value: number): string => String(Number(value.toPrecision(3)));

const unitFor = (lastSecond: number): { readonly seconds: number; readonly name: string } => {
  if (lastSecond >= 7_200) return { seconds: 3_600, name: "h" };
  return lastSecond >= 180 ? { seconds: 60, name: "min" } : { seconds: 1, name: "s" };
};

const stepsSeconds = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400,
];

/** The number of ticks that fit on a narrow page. */
const TICKS = 6;

export const timeScale = (seconds: number) => {
  const at = scaleLinear([0, seconds], [0, 100]);
  const step = stepsSeconds.find((one) => seconds / one <= TICKS) ?? seconds / TICKS;
  const unit = unitFor(seconds);
  const moments = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
  const ticks: readonly Tick[] = moments.map((second, index) => ({
    at: at(second),
    label: `${trimmed(second / unit.seconds)}${index === moments.length - 1 ? ` ${unit.name}` : ""}`,
    kept: index === moments.length - 1,
  }));
  return { at: (second: number): number => at(second), ticks };
};

export const upScale = (highest: number, heightPx: number, label: (value: number) => string) => {
  const at = scaleLinear([0, highest <= 0 ? 1 : highest], [heightPx, 6]).nice(3);
  return {
    at: (value: number): number => at(value),
    ticks: at.ticks(3).map((one) => ({ at: at(one), label: label(one) })),
  };
};

/** Latencies on a logarithmic axis over the given range, from `from` to `to` in the picture's units. */
export const latencyScale = (lowMs: number, highMs: number, from: number, to: number) => {
  const low = Math.max(0.001, lowMs);
  const high = Math.max(low * 1.5, highMs);
  const at = scaleLog([low, high], [from, to]).clamp(true);
  return {
    at: (ms: number): number => at(Math.max(low, ms)),
    domain: [low, high] as const,
    ticks: logTicks(low, high).map((ms) => ({ at: at(ms), label: roundLatency(ms) })),
  };
};

/** Above this ratio of highest to lowest, powers of ten are enough ticks. */
const MANY_TICKS = 60;

const logTicks = (low: number, high: number): readonly number[] => {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const factors = high / low > MANY_TICKS ? [1] : [1, 2, 5];
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
    .flatMap((power) => factors.map((factor) => factor * 10 ** power))
    .filter((ms) => ms >= low && ms <= high);
};

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
