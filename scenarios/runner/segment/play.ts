import os from "node:os";
import type { ClockReading, Segment } from "../../../conformance/contract/segments.ts";
import type { LoadContext } from "../context.ts";
import { readClock } from "./read-clock.ts";
import type { SegmentPlan } from "../segment-plan.ts";

export const segmentOf = ({ target }: Pick<LoadContext, "target">, plan: SegmentPlan): Segment => ({
  runId: plan.runId,
  index: plan.index,
  count: plan.count,
  startAt: new Date(plan.startAtMs).toISOString(),
  host: os.hostname(),
  clock: {},
  ...(target.profile.slos === undefined ? {} : { objectives: target.profile.slos }),
});

export const clockOf = (context: LoadContext): Promise<ClockReading> => {
  context.onPhase?.("reading the target's clock");
  const { target, environment, clock, signal } = context;
  return readClock({ baseUrl: target.profile.baseUrl, environment, clock, signal });
};

/** How long ago the start was; undefined if it is still ahead. */
export const lateBy = (
  { clock }: Pick<LoadContext, "clock">,
  { startAtMs }: Pick<SegmentPlan, "startAtMs">,
): number | undefined => {
  const lateMs = clock.wallTime().getTime() - startAtMs;
  return lateMs >= 0 ? lateMs : undefined;
};
