import type { LoadRecord } from "../../../conformance/contract/load-record.ts";
import type { Merged } from "../../../conformance/contract/segments.ts";
import { judgeValidity, type Validity } from "../judge/validity.ts";
import { skewProblem } from "./machines.ts";
import type { SegmentRun } from "./segment-run.ts";

type Reason = Validity["reasons"][number];

/** Why the machines together cannot speak of the service's speed: what spoils one spoils the whole. */
export const mergedValidity = (
  achieved: NonNullable<LoadRecord["achieved"]>,
  merged: Merged,
  cores: number,
): Validity => {
  const skew = skewProblem(merged);
  const reasons = [
    ...merged.machines.flatMap(({ index, problems }) =>
      problems.map((problem) =>
        ofGenerator(`segment ${index} of ${merged.count}: ${problem}`, remedyFor(problem)),
      ),
    ),
    skew !== undefined &&
      ofGenerator(
        skew,
        "set the machines' clocks by a time service, and let them all be ready before --start-at",
      ),
    ...wholeReasons(achieved, cores),
  ].filter((one) => one !== false);
  return { valid: reasons.length === 0, reasons };
};

const ofGenerator = (reason: string, remedy: string): Reason => ({ cause: "load generator", reason, remedy });

const remedyFor = (problem: string): string =>
  problem.includes("clock")
    ? "without it seconds of this machine cannot be laid on those of the others: set its clock by a time service, and let the target or what stands before it answer with one Date"
    : "look into that machine's record and log, and play all segments again under another --run-id";

/** What only all machines together show; what one of them dropped stands among its own problems. */
const wholeReasons = (achieved: NonNullable<LoadRecord["achieved"]>, cores: number): readonly Reason[] => {
  if (achieved.dropped > 0) return [];
  return judgeValidity({ achieved, whole: true, virtualUsers: { ready: 1, most: 1 }, cores }).reasons;
};

/** Why the load ended early: only where every machine gave up, which is the service's doing and not a machine's. */
export const gaveUp = (segments: readonly SegmentRun[], count: number): string | undefined => {
  const reasons = segments.flatMap(({ record }) =>
    record.outcome === "failed" && record.stopped !== undefined ? [record.stopped] : [],
  );
  return reasons.length === count ? reasons[0] : undefined;
};
