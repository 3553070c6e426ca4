import type { LoadRecord } from "../../../conformance/contract/load-record.ts";
import type { Merged } from "../../../conformance/contract/segments.ts";
import { judgeValidity, type Validity } from "../judge/validity.ts";
import { skewProblem } from "./machines.ts";
import type { SegmentRun } from "./segment-run.ts";

type Reason = Validity["reasons"][number];

/** Why the machines together say nothing about the service's speed: a problem on one spoils the whole. */
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
      ofGenerator(skew, "synchronise the machines' clocks, and let them all be ready before --start-at"),
    // Reasons visible only from all machines together; a machine's own drops are among its problems.
    ...(achieved.dropped === 0
      ? judgeValidity({ achieved, whole: true, virtualUsers: { ready: 1, most: 1 }, cores }).reasons
      : []),
  ].filter((one) => one !== false);
  return { valid: reasons.length === 0, reasons };
};

const ofGenerator = (reason: string, remedy: string): Reason => ({ cause: "load generator", reason, remedy });

const remedyFor = (problem: string): string =>
  problem.includes("clock")
    ? "without it this machine's seconds cannot be aligned with the others: synchronise its clock, and let the target or what stands before it answer with one Date"
    : "see that machine's record and log, and play all segments again under another --run-id";

/** Why the load ended early: only if every machine gave up, which is the service's fault, not a machine's. */
export const gaveUp = (segments: readonly SegmentRun[], count: number): string | undefined => {
  const reasons = segments.flatMap(({ record }) =>
    record.outcome === "failed" && record.stopped !== undefined ? [record.stopped] : [],
  );
  return reasons.length === count ? reasons[0] : undefined;
};
