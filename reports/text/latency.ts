import { figure } from "./figures.ts";

/** A latency to the precision that matters: "0.84 ms", "12.3 ms", "340 ms", "1.25 s". */
export const latency = (valueMs: number): string => {
  if (valueMs >= 999.5) return `${(valueMs / 1_000).toFixed(2)} s`;
  if (valueMs >= 99.95) return `${Math.round(valueMs)} ms`;
  return valueMs >= 9.995 ? `${valueMs.toFixed(1)} ms` : `${valueMs.toFixed(2)} ms`;
};

const bars = "▁▂▃▄▅▆▇█";

/** Values as a row of bars, the greatest one (or `full`) full; the last so many where there are more. */
export const sparkline = (values: readonly number[], most: number, full?: number): string => {
  const shown = values.slice(-most);
  const greatest = full ?? Math.max(...shown, Number.MIN_VALUE);
  return shown
    .map((value) => bars[Math.min(bars.length - 1, Math.floor((value / greatest) * bars.length))] ?? "")
    .join("");
};

/** A share as people read it: 0.0123 gives "1.23 %". */
export const percent = (share: number): string =>
  share !== 0 && Math.abs(share) < LEAST_SHARE
    ? `under ${LEAST_SHARE * 100} %`
    : `${Number((share * 100).toPrecision(3))} %`;

/** Smaller shares are noise of the arithmetic, or of no interest. */
const LEAST_SHARE = 0.000_01;

/** From here on, a change is told as a multiple. */
const TENFOLD = 10;
const MOST_TIMES = 1_000;

/** How a change reads: +12.3 %, -4 %, 14.5 times. */
export const change = (ratio: number): string => {
  if (ratio > MOST_TIMES) return `over ${figure(MOST_TIMES)} times`;
  if (ratio >= TENFOLD) return `${Number(ratio.toPrecision(3))} times`;
  const rounded = Number(((ratio - 1) * 100).toFixed(1));
  return Number.isFinite(rounded) ? `${rounded > 0 ? "+" : ""}${rounded} %` : "?";
};
