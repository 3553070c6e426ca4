import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { exitCodes } from "../../../conformance/contract/exit-codes.ts";
import { present } from "../../../conformance/contract/present.ts";
import type { ClockReading, Segment } from "../../../conformance/contract/segments.ts";
import type { LoadResult } from "../collect/collect.ts";
import type { LoadFinal } from "../record.ts";
import { earlyOutcome } from "../verdicts.ts";

export interface SegmentEnd {
  readonly segment: Segment;
  readonly result: LoadResult;
  readonly clockAfter: ClockReading;
  readonly isInterrupted: boolean;
}

/**
 * The end of a segment. The data for judging stays in the record for the merge, which alone gives the verdict: a
 * segment played to its end has no outcome, and exit code 0.
 */
export const sealedSegment = (
  verdicts: LoadFinal,
  { segment, result, clockAfter, isInterrupted }: SegmentEnd,
): LoadFinal => {
  const { setUp, startedAtMs, lag } = result;
  const lateMs = setUp !== undefined && setUp.lateMs > 0 ? setUp.lateMs : undefined;
  const told = present<Segment>({
    ...segment,
    beganAtMs: lateMs === undefined ? startedAtMs : undefined,
    setUpMs: setUp?.tookMs,
    lateMs,
    clock: { ...segment.clock, after: clockAfter },
    lag: encodeIntoCompressedBase64(lag),
  });
  const { outcome: _, ...rest } = verdicts;
  const sealed = { ...rest, objectives: [], segment: told };
  if (lateMs !== undefined) return { ...sealed, ...lateEnd(lateMs) };
  const outcome = earlyOutcome(result, isInterrupted);
  return { ...sealed, exitCode: exitCodes[outcome ?? "passed"], ...(outcome && { outcome }) };
};

/** The end of a segment whose set-up took longer than the others waited. */
export const lateEnd = (lateMs: number) => {
  const stopped = `its set-up outlasted the start by ${(lateMs / 1_000).toFixed(1)} s, so it played no load; choose a later --start-at`;
  return { stopped, outcome: "incomplete" as const, exitCode: exitCodes.incomplete };
};
