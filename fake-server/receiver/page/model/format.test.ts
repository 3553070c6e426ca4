import { describe, expect, it } from "vitest";
import { axisLabel, plural, span } from "./format.ts";

describe("durations", () => {
  it.each([
    [0.4, "0 ms"],
    [12, "12 ms"],
    [1_250, "1.25 s"],
    [30_049, "30.0 s"],
    [450_000, "450.0 s"],
    [930_000, "15 min 30 s"],
    [-1_500, "−1.50 s"],
  ])("shows %d ms as %s", (milliseconds, text) => {
    expect(span(milliseconds)).toBe(text);
  });

  it.each([
    [0, "0"],
    [300, "300 ms"],
    [2_500, "2.5 s"],
    [930_000, "930 s"],
    [7_200_000, "2 h"],
  ])("labels %d ms on the axis as %s", (milliseconds, text) => {
    expect(axisLabel(milliseconds)).toBe(text);
  });
});

describe("counts", () => {
  it("use the singular for one only", () => {
    expect([plural(0, "push", "pushes"), plural(1, "push", "pushes"), plural(1_000, "line")]).toEqual([
      "0 pushes",
      "1 push",
      "1,000 lines",
    ]);
  });
});
