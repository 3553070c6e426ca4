import path from "node:path";
import { expect, it } from "vitest";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { runnerClock } from "./clock.ts";
import { k6OfFile, loadHere, startFront } from "./testing/load-here.ts";

/**
 * A ramp with the real k6: that it ends, and that the record and the exit code say so. A machine busy with other work may
 * end it early; at which rate a ramp ends is judged in `ramp.test.ts`, and what its outcome is in `verdicts.test.ts`,
 * without a clock.
 */

const folder = folderOfFile();
const k6 = k6OfFile();

it("a ramp ends where a service with room for sixty requests per second no longer keeps up", async () => {
  // One worker: requests wait for their turn, and only so many per second are handled, however many come.
  let freeAtMs = 0;
  await using front = await startFront(folder, (pass) => {
    const nowMs = runnerClock.nowMs();
    freeAtMs = Math.max(nowMs, freeAtMs) + 1_000 / 60;
    runnerClock.after(freeAtMs - nowMs, pass);
  });
  const flags = `--scenario token --shape breakpoint --rate 180 --duration 15s --warm-up 1s --profile ${front.profile}`;
  const { record, exitCode } = await loadHere(k6.path, flags, path.join(folder, "run"), front.env);
  const { breakpoint, outcome, objectives, stopped } = record;
  expect(stopped).toBeUndefined();
  expect(breakpoint?.heldTo).toBeLessThan(130);
  expect(breakpoint?.endedAt).toBeLessThan(180);
  expect(breakpoint?.gaveWay?.verdict ?? outcome).toMatch(/breached|incomplete/);
  // A machine too busy for the lowest rates holds to none.
  const ends = (breakpoint?.heldTo ?? 0) > 0 ? [["passed", 0]] : [["failed", 1]];
  expect([...ends, ["incomplete", 3]]).toContainEqual([outcome, exitCode]);
  const breached = objectives.filter(({ verdict }) => verdict === "breached");
  expect(outcome === "passed" ? breached : []).toEqual([]);
});
