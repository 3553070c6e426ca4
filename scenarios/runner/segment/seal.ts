import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { exitCodes } from "../../../conformance/contract/exit-codes.ts";
import type { Outcome } from "../../../conformance/contract/record.ts";
import type { ClockReading, Segment } from "../../../conformance/contract/segments.ts";
import type { LoadResult } from "../collect/collect.ts";
import type { LoadFinal } from "../record.ts";

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
  const lateMs = setUp === undefined || setUp.lateMs <= 0 ? undefined : setUp.lateMs;
  const told: Segment = {
    ...segment,
    ...(startedAtMs === undefined || lateMs !== undefined ? {} : { beganAtMs: startedAtMs }),
    ...(setUp === undefined ? {} : { setUpMs: setUp.tookMs }),
    ...(lateMs === undefined ? {} : { lateMs }),
    clock: { ...segment.clock, after: clockAfter },
    lag: encodeIntoCompressedBase64(lag),
  };
  const { outcome: _, ...rest } = verdicts;
  const sealed = { ...rest, objectives: [], segment: told };
  if (lateMs !== undefined) return { ...sealed, ...lateEnd(lateMs) };
  const outcome = outcomeOf(result, isInterrupted);
  return {
    ...sealed,
    ...(outcome === undefined ? { exitCode: exitCodes.passed } : { outcome, exitCode: exitCodes[outcome] }),
  };
};

/** The end of a segment whose set-up took longer than the others waited. */
export const lateEnd = (lateMs: number) => {
  const stopped = `its set-up outlasted the start by ${(lateMs / 1_000).toFixed(1)} s, so it played no load; choose a later --start-at`;
  return { stopped, outcome: "incomplete" as const, exitCode: exitCodes.incomplete };
};

/** Undefined for a segment played to its end. */
const outcomeOf = (
  { end, stopped, exceptions }: Pick<LoadResult, "end" | "stopped" | "exceptions">,
  isInterrupted: boolean,
): Outcome | undefined => {
  if (isInterrupted || end.says === "interrupted") return "interrupted";
  if (exceptions.count > 0 || end.says === "harness") return "harness-error";
  if (stopped === undefined) return undefined;
  return stopped.startsWith("the record") ? "harness-error" : "failed";
};
