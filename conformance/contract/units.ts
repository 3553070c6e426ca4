import type { ObjectiveResult } from "./load-record.ts";

/** A latency at a useful precision: "0.84 ms", "12.3 ms", "340 ms", "1.25 s". */
export const latency = (valueMs: number): string => {
  if (valueMs >= 999.5) return `${(valueMs / 1_000).toFixed(2)} s`;
  if (valueMs >= 99.95) return `${Math.round(valueMs)} ms`;
  return valueMs >= 9.995 ? `${valueMs.toFixed(1)} ms` : `${valueMs.toFixed(2)} ms`;
};

/** A share for readers: 0.0123 gives "1.23 %". */
export const percent = (share: number): string =>
  share !== 0 && Math.abs(share) < LEAST_SHARE
    ? `under ${LEAST_SHARE * 100} %`
    : `${Number((share * 100).toPrecision(3))} %`;

/** Smaller shares are rounding noise, or of no interest. */
const LEAST_SHARE = 0.000_01;

/** A rate for readers, without its unit. */
export const rate = (perSecond: number): string =>
  perSecond >= 100 ? Math.round(perSecond).toLocaleString("en") : String(Number(perSecond.toPrecision(3)));

export const inUnit = (value: number, unit: ObjectiveResult["unit"]): string => {
  if (unit === "ms") return latency(value);
  return unit === "share" ? percent(value) : `${rate(value)} a second`;
};
