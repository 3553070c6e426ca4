import colors from "picocolors";
import { describe, expect, it } from "vitest";
import type { Facts } from "../../conformance/contract/verdict.ts";
import { resultOf } from "../testing/fixture.ts";
import { schedule } from "./schedule.ts";

const page = { palette: colors.createColors(false), columns: 100 };
const lines = (facts: Facts): string =>
  schedule(resultOf("push.schedule", { kind: "passed", cases: 14, facts }), page).join("\n");

describe("the schedule of pushes", () => {
  it("stands beside what the readings expect, push by push", () => {
    expect(
      lines({
        readings: ["R1"],
        anchors: ["failure"],
        schedule: [
          { push: 1, afterMs: 0, beforeMs: 0, expectedMs: { R1: 0, R3: 30_000 } },
          { push: 2, afterMs: 29_000, beforeMs: 30_000, expectedMs: { R1: 30_000, R3: 90_000 } },
          { push: 3, expectedMs: { R1: 90_000 } },
        ],
      }),
    ).toMatchInlineSnapshot(`
      "push.schedule, in seconds after the event
        push    came after  R1  R3
           1             0   0  30
           2      29 to 30  30  90
           3  did not come  90
        delays count from a push's failure"
    `);
  });

  it("is left out where nothing was measured, and where a record has something else there", () => {
    expect(lines({})).toBe("");
    expect(lines({ schedule: [{ push: "1" }] })).toBe("");
  });
});
