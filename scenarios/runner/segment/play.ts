import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { exitCodes } from "../../../conformance/contract/exit-codes.ts";
import { asRecord } from "../../../conformance/contract/given.ts";
import type { Segment } from "../../../conformance/contract/segments.ts";
import type { LoadResult } from "../collect/collect.ts";
import type { LoadContext, LoadPlan } from "../context.ts";
import { segmentOf } from "../header.ts";
import type { LoadFinal } from "../record.ts";
import type { SegmentPlan } from "../segment-plan.ts";
import { earlyOutcome, verdictsOf } from "../verdicts.ts";
import { readClock } from "./read-clock.ts";

/** Plays one segment, between two readings of the target's clock, unless the start has already passed. */
export const playSegment = async (
  context: LoadContext,
  plan: LoadPlan,
  segmentPlan: SegmentPlan,
  play: () => Promise<LoadResult>,
): Promise<LoadFinal> => {
  const { target, clock, signal, onPhase } = context;
  onPhase?.("reading the target's clock");
  const segment: Segment = {
    ...segmentOf(target, segmentPlan),
    clock: { before: await readClock(context) },
  };
  const lateMs = clock.wallTime().getTime() - segmentPlan.startAtMs;
  const endedAt = (): string => clock.wallTime().toISOString();
  if (lateMs >= 0) return { endedAt: endedAt(), segment: { ...segment, lateMs }, ...lateEnd(lateMs) };
  onPhase?.(`waiting for the start at ${segment.startAt}`);
  const result = await play();
  onPhase?.("reading the target's clock");
  const after = await readClock(context);
  onPhase?.(undefined);
  const verdicts = verdictsOf(context, plan, result, {});
  return sealedSegment(verdicts, { ...segment, clock: { ...segment.clock, after } }, result, signal.aborted);
};

/**
 * The end of a segment. The data for judging stays in the record for the merge, which alone gives the verdict: a
 * segment played to its end has no outcome, and exit code 0.
 */
export const sealedSegment = (
  verdicts: LoadFinal,
  segment: Segment,
  result: LoadResult,
  isInterrupted: boolean,
): LoadFinal => {
  const { setUp, startedAtMs, lag } = result;
  const lateMs = setUp !== undefined && setUp.lateMs > 0 ? setUp.lateMs : undefined;
  const told = asRecord<Segment>({
    ...segment,
    beganAtMs: lateMs === undefined ? startedAtMs : undefined,
    setUpMs: setUp?.tookMs,
    lateMs,
    lag: encodeIntoCompressedBase64(lag),
  });
  const { outcome: _, ...rest } = verdicts;
  const sealed = { ...rest, objectives: [], segment: told };
  if (lateMs !== undefined) return { ...sealed, ...lateEnd(lateMs) };
  const outcome = earlyOutcome(result, isInterrupted);
  return { ...sealed, exitCode: exitCodes[outcome ?? "passed"], ...(outcome && { outcome }) };
};

/** The end of a segment whose set-up took longer than the others waited. */
const lateEnd = (lateMs: number) => {
  const stopped = `its set-up outlasted the start by ${(lateMs / 1_000).toFixed(1)} s, so it played no load; choose a later --start-at`;
  return { stopped, outcome: "incomplete" as const, exitCode: exitCodes.incomplete };
};
