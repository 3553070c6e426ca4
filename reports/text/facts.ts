import { duration } from "../../conformance/contract/duration.ts";
import { fieldOf, isObject } from "../../conformance/contract/json.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import type { Facts } from "../../conformance/contract/verdict.ts";
import { compact, words } from "./compact.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";

/** A lifetime as measured by a rule, in milliseconds of age; facts of a record have no schema, so only the promise is certain. */
export interface TimeInterval {
  readonly lifetimeMs: number;
  readonly acceptedUpToMs?: unknown;
  readonly refusedFromMs?: unknown;
  /** The largest error of the end that would go unnoticed; absent if the lifetime broke. */
  readonly resolutionMs?: unknown;
}

const isInterval = (value: unknown): value is TimeInterval =>
  typeof fieldOf(value, "lifetimeMs") === "number";

export const factsOf = ({ verdict }: RuleResult): Facts => ("facts" in verdict ? (verdict.facts ?? {}) : {});

/** Facts that reports show separately: readings, schedules, inputs. */
const elsewhere = new Set(["readings", "broken", "brokenCases", "schedule", "anchors"]);

/** Omits a side that was not probed, but states one that was probed without success. */
export const intervalText = (interval: TimeInterval): string => {
  const { lifetimeMs, acceptedUpToMs, refusedFromMs, resolutionMs } = interval;
  const sides = [
    ...(acceptedUpToMs === undefined ? [] : [acceptedText(acceptedUpToMs)]),
    ...(refusedFromMs === undefined ? [] : [refusedText(refusedFromMs)]),
  ];
  const resolution =
    typeof resolutionMs === "number"
      ? `; an end off by up to ${duration(resolutionMs)} would not be detected`
      : "";
  return `${duration(lifetimeMs)} promised, ${sides.join(", ") || "nothing measured"}${resolution}`;
};

const acceptedText = (ageMs: unknown): string =>
  typeof ageMs === "number" && ageMs > 0 ? `accepted up to ${duration(ageMs)}` : "never accepted";

/** JSON stores an infinite age as null. */
const refusedText = (ageMs: unknown): string =>
  typeof ageMs === "number" && Number.isFinite(ageMs) ? `refused from ${duration(ageMs)}` : "never refused";

export const otherFactsOf = (result: RuleResult): readonly (readonly [name: string, value: unknown])[] =>
  Object.entries(factsOf(result)).filter(([name, value]) => !elsewhere.has(name) && !isInterval(value));

export const intervalsOf = (
  result: RuleResult,
): readonly (readonly [name: string, interval: TimeInterval])[] =>
  Object.entries(factsOf(result)).flatMap(([name, value]) =>
    isInterval(value) ? [[name, value] as const] : [],
  );

/** A fact in words: "rounds 40", "bits 192". */
export const factText = (name: string, value: unknown): string => {
  if (value === true) return harmless(words(name));
  return `${harmless(words(name))} ${name.endsWith("Ms") && typeof value === "number" ? duration(value) : compact(value)}`;
};

/** One measured push of a notification, with its time in each reading. */
export interface ScheduleRow {
  readonly push: number;
  /** Bounds of its arrival, in milliseconds after the event; absent if it did not arrive. */
  readonly afterMs?: number;
  readonly beforeMs?: number;
  readonly expectedMs: Readonly<Record<string, unknown>>;
  /** The window of each reading, including tolerances. */
  readonly earliestMs: unknown;
  readonly latestMs: unknown;
}

const isRow = (value: unknown): value is ScheduleRow =>
  typeof fieldOf(value, "push") === "number" && isObject(fieldOf(value, "expectedMs"));

export const scheduleRowsOf = (result: RuleResult): readonly ScheduleRow[] => {
  const rows = factsOf(result)["schedule"];
  return Array.isArray(rows) && rows.every(isRow) ? rows : [];
};

/** A time in milliseconds as seconds; empty if a record has something else. */
export const secondsText = (ms: unknown): string =>
  typeof ms === "number" ? String(Math.round(ms) / 1_000) : "";

/** When a push arrived, in seconds: an interval if the clock was only read occasionally. */
export const cameText = ({ afterMs, beforeMs }: ScheduleRow): string => {
  if (afterMs === undefined || beforeMs === undefined) return "did not arrive";
  const [from, to] = [secondsText(afterMs), secondsText(beforeMs)];
  return from === to ? to : `${from} to ${to}`;
};

export const expectedOf = (rows: readonly ScheduleRow[], name: string): readonly number[] =>
  rows.flatMap(({ expectedMs }) => {
    const ms = expectedMs[name];
    return typeof ms === "number" ? [ms] : [];
  });

export const readingsOf = (result: RuleResult): readonly string[] | undefined => {
  const allowed = factsOf(result)["readings"];
  return Array.isArray(allowed) ? allowed.map(String) : undefined;
};
