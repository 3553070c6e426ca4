import { sleep } from "k6";
import exec from "k6/execution";
import { epochMs } from "./clock.ts";
import { say } from "./report.ts";
import { settings } from "./settings.ts";

/**
 * Does the set-up, then waits for the moment at which all segments begin; k6 begins right after. A
 * set-up that outlasted it ends the run before any load: a segment that begins late is no part of the whole.
 * It sleeps to the end: where the last milliseconds are spun away, processes begin further apart (docs/figures.md).
 */
export const waitForStart = <Data>(setUp: () => Data): Data => {
  const { segment, preflight } = settings;
  const beganAtMs = epochMs();
  const data = setUp();
  if (segment === undefined || preflight) return data;
  const doneAtMs = epochMs();
  const leftMs = segment.startAtMs - doneAtMs;
  say({ kind: "set-up", tookMs: doneAtMs - beganAtMs, lateMs: -leftMs });
  if (leftMs < 0) exec.test.abort("the set-up outlasted the start");
  sleep(leftMs / 1_000);
  return data;
};
