import { describe, expect, it } from "vitest";
import { keepsTime } from "./later-endings.ts";

const instants = [0, 30_000, 90_000, 210_000, 450_000];
const fine = { fineMs: 1_000 };

/** A notification whose pushes came between these looks. */
const passed = (...looks: readonly (readonly [fromMs: number, toMs: number])[]) => ({
  purpose: "ending" as const,
  pushes: looks.map(([earliestMs, latestMs]) => {
    const at = { earliestMs, latestMs };
    return { at, ended: at };
  }),
});

describe("a sender whose clock was moved past its pushes", () => {
  it("keeps time if several of them came within one move", () => {
    expect(keepsTime([passed([0, 0], [55_000, 600_000], [55_000, 600_000])], instants, fine)).toBe(true);
  });

  it("keeps time if the next one came in time for when the one before was due", () => {
    expect(keepsTime([passed([0, 0], [1_000, 40_000], [85_000, 91_000])], instants, fine)).toBe(true);
  });

  it("does not if they leave once the clock has been moved, each with its delay from then", () => {
    const late = passed([0, 0], [1_000, 40_000], [99_000, 100_000], [219_000, 220_000]);
    expect(keepsTime([late], instants, fine)).toBe(false);
  });

  it("is not known to if one came alone, or it was not looked for", () => {
    expect(keepsTime([passed([0, 0], [1_000, 600_000])], instants, fine)).toBe(false);
    expect(keepsTime([], instants, fine)).toBe(false);
  });
});
