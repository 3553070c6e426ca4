import type { ObjectiveResult } from "../../conformance/contract/load-record.ts";
import { figure } from "./figures.ts";
import { latency, percent } from "./latency.ts";

/** A rate as people read it, without its unit. */
export const rate = (perSecond: number): string =>
  perSecond >= 100 ? figure(Math.round(perSecond)) : String(Number(perSecond.toPrecision(3)));

export const inUnit = (value: number, unit: ObjectiveResult["unit"]): string => {
  if (unit === "ms") return latency(value);
  return unit === "share" ? percent(value) : `${rate(value)} a second`;
};
