import { whyOpenCases } from "../conformance/contract/cases.ts";
import type { RecordedRun } from "./read/index.ts";

/** Why a run is no base for conclusions, even if what it did judge failed. */
export const whyIncomplete = ({ record }: Pick<RecordedRun, "record">): string | undefined => {
  const { state, outcome } = record;
  const segment = "segment" in record ? record.segment : undefined;
  if (segment !== undefined)
    return `it is only segment ${segment.index} of ${segment.count}; \`merge\` makes a run of all`;
  if (state === "open" || outcome === undefined) return "it was cut off";
  if (outcome === "interrupted") return "it was interrupted";
  if (outcome === "harness-error") return "Touchstone itself failed";
  return whyOpenCases(record.cases);
};
