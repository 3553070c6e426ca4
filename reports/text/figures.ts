import type { Case } from "../../conformance/contract/cases.ts";
import { inUnit } from "../../conformance/contract/units.ts";

export { inUnit, latency, percent, rate } from "../../conformance/contract/units.ts";

/** A whole number for readers: 1204 gives "1,204". */
export const figure = (value: number): string => value.toLocaleString("en");

/** A number with its noun: "1 case", "1,204 cases". */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${figure(count)} ${count === 1 ? one : many}`;

/** A duration at a useful precision: "3 ms", "1.2 s", "7.5 min", "2.1 h". */
export const elapsed = (durationMs: number): string => {
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1_000).toFixed(1)} s`;
  if (durationMs < 3_597_000) return `${(durationMs / 60_000).toFixed(1)} min`;
  return `${(durationMs / 3_600_000).toFixed(1)} h`;
};

/** An ISO instant, to the second: "2030-01-01 12:00:05". */
export const moment = (instant: string): string => instant.slice(0, 19).replace("T", " ");

/** An ISO instant, to the minute: "2030-01-01 12:00". */
export const minuteOf = (instant: string): string => moment(instant).slice(0, 16);

export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const bars = "▁▂▃▄▅▆▇█";

/** Values as a row of bars, the maximum (or `full`) full; at most the last `most` values. */
export const sparkline = (values: readonly number[], most: number, full?: number): string => {
  const shown = values.slice(-most);
  const greatest = full ?? Math.max(...shown, Number.MIN_VALUE);
  return shown
    .map((value) => bars[Math.min(bars.length - 1, Math.floor((value / greatest) * bars.length))] ?? "")
    .join("");
};

/** From here on, a change is shown as a multiple. */
const TENFOLD = 10;
const MOST_TIMES = 1_000;

/** +12.3 %, -4 %, ×14.5. */
export const change = (ratio: number): string => {
  if (ratio > MOST_TIMES) return `over ×${figure(MOST_TIMES)}`;
  if (ratio >= TENFOLD) return `×${Number(ratio.toPrecision(3))}`;
  const rounded = Number(((ratio - 1) * 100).toFixed(1));
  const sign = rounded > 0 ? "+" : rounded < 0 ? "−" : "";
  return Number.isFinite(rounded) ? `${sign}${Math.abs(rounded)} %` : "?";
};

/** A measured value with its unit: "9.40 ms", "25 cases". */
export const amountOf = ({ value, unit }: NonNullable<Case["measured"]>): string =>
  unit === "cases" || unit === "checks" ? plural(value, unit.slice(0, -1)) : inUnit(value, unit);
