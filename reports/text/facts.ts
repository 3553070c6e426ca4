import { duration } from "../../conformance/contract/duration.ts";
import { fieldOf, isObject, parseJson } from "../../conformance/contract/json.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import type { Facts } from "../../conformance/contract/verdict.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";

const simple = /^[\p{L}\p{N}_‹›][\p{L}\p{N} _.:/+‹›-]*$/u;

/** A JSON value in compact but clear notation: {status: 200, fields: [code, state]}. Safe to print. */
export const compact = (value: unknown): string => {
  if (typeof value === "string") return harmless(simple.test(value) ? value : JSON.stringify(value));
  if (Array.isArray(value)) return `[${value.map(compact).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{${pairs(value)}}`;
};

/** The same without the outermost braces: "status: 200, fields: [code, state]". */
export const compactFields = (value: unknown): string =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    ? pairs(value)
    : compact(value);

const pairs = (value: object): string =>
  Object.entries(value)
    .map(([key, inner]) => `${compact(key)}: ${compact(inner)}`)
    .join(", ");

/** A name from the code as words: "roundsWithoutWinner" gives "rounds without winner". Units are dropped. */
export const words = (name: string): string =>
  name
    .replace(/Ms$/, "")
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase();

/** The fields of an object with their values as text; nested objects are flattened. */
export const leavesOf = (value: object, path = ""): (readonly [name: string, leaf: string])[] =>
  Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const name = `${path}${key}`;
    return isObject(inner) && Object.values(inner).some(isObject)
      ? leavesOf(inner, `${name}, `)
      : [[name, isObject(inner) ? compactFields(inner) : compact(inner)] as const];
  });

export const parseFingerprint = (fingerprint: string): unknown => parseJson(fingerprint) ?? fingerprint;

export const readableFingerprint = (fingerprint: string): string =>
  compactFields(parseFingerprint(fingerprint));

/** Two fingerprints without the fields they share. */
export const changedOf = (before: string, after: string): readonly [before: string, after: string] => {
  const [one, other] = [parseFingerprint(before), parseFingerprint(after)];
  if (!isObject(one) || !isObject(other)) return [before, after];
  const [mine, theirs] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  const without = (own: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>): string =>
    JSON.stringify(
      Object.fromEntries(
        [...own].filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(others.get(key))),
      ),
    );
  return [without(mine, theirs), without(theirs, mine)];
};

/** A lifetime as measured by a rule, in milliseconds of age; facts of a record have no schema, so only the promise is certain. */
export interface Lifetime {
  readonly lifetimeMs: number;
  readonly acceptedUpToMs?: unknown;
  readonly refusedFromMs?: unknown;
  /** The largest error of the end that would go unnoticed; absent if the lifetime broke. */
  readonly resolutionMs?: unknown;
}

const isInterval = (value: unknown): value is Lifetime => typeof fieldOf(value, "lifetimeMs") === "number";

export const factsOf = ({ verdict }: RuleResult): Facts => ("facts" in verdict ? (verdict.facts ?? {}) : {});

/** Facts that reports show separately: readings, schedules, inputs. */
const elsewhere = new Set([
  "readings",
  "broken",
  "brokenCases",
  "schedule",
  "anchors",
  "sends",
  "bestReading",
]);

/** Omits a side that was not probed, but states one that was probed without success. */
export const intervalText = (interval: Lifetime): string => {
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

export const intervalsOf = (result: RuleResult): readonly (readonly [name: string, interval: Lifetime])[] =>
  Object.entries(factsOf(result)).flatMap(([name, value]) =>
    isInterval(value) ? [[name, value] as const] : [],
  );

/** A fact in words: "rounds 40", "bits 192". */
export const factText = (name: string, value: unknown): string => {
  if (value === true) return words(name);
  return `${words(name)} ${name.endsWith("Ms") && typeof value === "number" ? duration(value) : compact(value)}`;
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

export const betweenText = (fromMs: unknown, toMs: unknown): string => {
  const [from, to] = [secondsText(fromMs), secondsText(toMs)];
  return from === to ? to : `${from} to ${to}`;
};

/** A time in milliseconds as seconds; empty if a record has something else. */
export const secondsText = (ms: unknown): string =>
  typeof ms === "number" ? String(Math.round(ms) / 1_000) : "";

/** When a push arrived, in seconds: an interval if the clock was only read occasionally. */
export const cameText = ({ afterMs, beforeMs }: ScheduleRow): string => {
  if (afterMs === undefined || beforeMs === undefined) return "did not arrive";
  return betweenText(afterMs, beforeMs);
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
