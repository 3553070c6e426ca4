import type { Segment } from "../../../conformance/contract/segments.ts";
import type { LoadResult } from "../collect/collect.ts";
import type { LoadContext, LoadPlan } from "../context.ts";
import { segmentOf } from "../header.ts";
import type { LoadFinal } from "../record.ts";
import type { SegmentPlan } from "../segment-plan.ts";
import { verdictsOf } from "../verdicts.ts";
import { readClock } from "./read-clock.ts";
import { lateEnd, sealedSegment } from "./seal.ts";

/** Plays one segment, between two readings of the target's clock, unless the start has already passed. */
export const playSegment = async (
  context: LoadContext,
  plan: LoadPlan,
  segmentPlan: SegmentPlan,
  play: () => Promise<LoadResult>,
): Promise<LoadFinal> => {
  const { target, environment, clock, signal, onPhase } = context;
  const lookAtClock = () => {
    onPhase?.("reading the target's clock");
    return readClock({ baseUrl: target.profile.baseUrl, environment, clock, signal });
  };
  const before = await lookAtClock();
  const segment: Segment = { ...segmentOf(target, segmentPlan), clock: { before } };
  const lateMs = clock.wallTime().getTime() - segmentPlan.startAtMs;
  if (lateMs >= 0)
    return {
      endedAt: clock.wallTime().toISOString(),
      segment: { ...segment, lateMs },
      ...lateEnd(lateMs),
    };
  onPhase?.(`waiting for the start at ${segment.startAt}`);
  const result = await play();
  const clockAfter = await lookAtClock();
  onPhase?.(undefined);
  const verdicts = verdictsOf(context, plan, result, undefined);
  return sealedSegment(verdicts, { segment, result, clockAfter, isInterrupted: signal.aborted });
};
