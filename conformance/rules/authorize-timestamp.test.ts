import { expect, it } from "vitest";
import { judgeLooks } from "./authorize-timestamp.ts";

const ANSWER_MS = 25;

/** Timestamps of six answers in a row and, three seconds later, six more, from two machines in turn. */
const looksAt = (options: {
  readonly startMs: number;
  readonly apartMs: number;
  readonly told: (nowMs: number) => number;
}) =>
  Array.from({ length: 12 }, (_, n) => {
    const nowMs = options.startMs + n * ANSWER_MS + (n < 6 ? 0 : 3_000);
    return {
      timestamp: options.told(nowMs + (n % 2) * options.apartMs),
      at: { earliestMs: nowMs, latestMs: nowMs + ANSWER_MS },
    };
  });

const units = {
  seconds: (nowMs: number) => Math.floor(nowMs / 1_000),
  milliseconds: (nowMs: number) => nowMs,
  "milliseconds of whole seconds": (nowMs: number) => Math.floor(nowMs / 1_000) * 1_000,
  "seconds with a fraction": (nowMs: number) => nowMs / 1_000,
};

/** How it is judged, at every fraction of a second at which it may begin. */
const kindsOf = (unit: keyof typeof units, apartMs: number) => {
  const starts = Array.from({ length: 40 }, (_, n) => 1_700_000_000_000 + n * ANSWER_MS);
  return new Set(starts.map((startMs) => judgeLooks(looksAt({ startMs, apartMs, told: units[unit] })).kind));
};

it.each(Object.keys(units) as (keyof typeof units)[])(
  "two machines whose clocks are a second apart may tell the time in %s",
  (unit) => {
    expect(kindsOf(unit, 1_000)).toEqual(new Set(["passed"]));
    expect(kindsOf(unit, -1_000)).toEqual(new Set(["passed"]));
  },
);

it.each([
  ["seconds", 3_100],
  ["milliseconds", 1_100],
  ["milliseconds of whole seconds", 3_100],
  ["seconds with a fraction", 1_100],
] as const)("two machines that tell the time in %s may not be %d ms apart", (unit, apartMs) => {
  expect(kindsOf(unit, apartMs)).toEqual(new Set(["failed"]));
  expect(kindsOf(unit, -apartMs)).toEqual(new Set(["failed"]));
});
