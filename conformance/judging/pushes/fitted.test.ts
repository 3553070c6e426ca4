import { expect, it } from "vitest";
import { pushRunOf, senderOf } from "../../testing/push-runs.ts";
import { usualFirstLagMs, usualLatenessMs } from "./fitted.ts";
import { readingsOf } from "./readings.ts";

it("the lateness of a sender is told from more notifications than a call takes arguments", () => {
  const run = pushRunOf(senderOf("R1"));
  const [one] = run.pushCases.filter(({ purpose }) => purpose === "never");
  const [reading] = readingsOf(run.limits);
  if (one === undefined || reading === undefined) throw new Error("a push run has both");
  const many = { ...run, pushCases: Array.from({ length: 130_000 }, () => one) };
  expect(usualFirstLagMs(reading, many)).toBe(0);
  expect(usualLatenessMs({ reading, fits: [] }, many)).toBe(0);
});
