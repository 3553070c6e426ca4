import fc from "fast-check";
import { expect, it } from "vitest";
import { duration, durationAsFlag, parseDuration } from "./duration.ts";

it.each([
  [0, "0 ms"],
  [0.4, "0 ms"],
  [999, "999 ms"],
  [999.6, "1 s"],
  [1_001, "1.001 s"],
  [59_999.6, "1 min"],
  [600_000, "10 min"],
  [90_061_001, "1 d 1 h 1 min 1.001 s"],
  [2_592_000_000, "30 d"],
  [-5, "0 ms"],
  [Infinity, "for ever"],
  [Number.NaN, "an unknown time"],
])("formats %d ms as %s", (durationMs, expected) => {
  expect(duration(durationMs)).toBe(expected);
});

it.each([
  ["500ms", 500],
  ["1.5h", 5_400_000],
  ["20m", 1_200_000],
  ["30d", 2_592_000_000],
  ["0s", 0],
])("parses %s as %d ms", (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

it.each(["", "5", "s", "-5s", "5 s", "5S", "1e3s", "5min", ".5s", "5s "])(
  "does not parse %j as a duration",
  (text) => {
    expect(parseDuration(text)).toBe(undefined);
  },
);

it("formats a duration without losing a millisecond", () => {
  const unitMs: Record<string, number> = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000, ms: 1 };
  fc.assert(
    fc.property(fc.nat({ max: 40 * 86_400_000 }), (durationMs) => {
      const words = duration(durationMs).split(" ");
      const sumMs = words.reduce(
        (sum, word, at) =>
          at % 2 === 0 ? sum + Number(word) * (unitMs[words[at + 1] ?? ""] ?? Number.NaN) : sum,
        0,
      );
      expect(Math.round(sumMs)).toBe(durationMs);
    }),
  );
});

it("formats a duration as the value of a flag that parses back to the same duration", () => {
  expect([durationAsFlag(30_000), durationAsFlag(1_500)]).toEqual(["30s", "1500ms"]);
  fc.assert(fc.property(fc.integer({ min: 1, max: 1e9 }), (ms) => parseDuration(durationAsFlag(ms)) === ms));
});
