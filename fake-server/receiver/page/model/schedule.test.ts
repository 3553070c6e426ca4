import { describe, expect, it } from "vitest";
import { parseDelays } from "./schedule.ts";

describe("parseDelays", () => {
  it.each([
    ["30, 60 120;240", [30_000, 60_000, 120_000, 240_000]],
    ["0.3 0.6", [300, 600]],
  ])("accepts %s", (text, delaysMs) => {
    expect(parseDelays(text)).toEqual(delaysMs);
  });

  it.each(["", "soon", "-1", "0", "1e9", "1 2 3 4 5 6 7 8 9 10 11 12 13"])("rejects %j", (text) => {
    expect(parseDelays(text)).toBeUndefined();
  });
});
