import { leavesOpen, leftUnjudged } from "../conformance/contract/outcome.ts";
import type { RuleResult } from "../conformance/contract/record.ts";
import { casesOf } from "../conformance/contract/verdict.ts";
import type { RecordedGate, RecordedLoad, RecordedRun } from "./read/index.ts";
import { plural } from "./text/figures.ts";
import { wordOf } from "./text/verdicts.ts";

/** Why a run is no base for conclusions, even if what it did judge failed. */
export const whyIncomplete = (run: RecordedRun): string | undefined => {
  const { state, outcome } = run.record;
  const segment = run.kind === "load" ? run.record.segment : undefined;
  if (segment !== undefined)
    return `it is only segment ${segment.index} of ${segment.count}; \`merge\` makes a run of all`;
  if (state === "open" || outcome === undefined) return "it was cut off";
  if (outcome === "interrupted") return "it was interrupted";
  if (outcome === "harness-error") return "Touchstone itself failed";
  return run.kind === "conform" ? whyGateIncomplete(run) : whyLoadIncomplete(run);
};

const whyGateIncomplete = ({ record }: RecordedGate): string | undefined => {
  const { selected, outcome, rules, pinned } = record;
  if (selected.length === 0) return "no rule was selected";
  const unreached = selected.length - new Set(rules.map(({ id }) => id)).size;
  if (unreached > 0) return `${plural(unreached, "rule was", "rules were")} not reached`;
  const unjudged = rules.filter((result) => whyUnjudged(result) !== undefined).length;
  return outcome === "incomplete" || unjudged === rules.length || leftUnjudged(rules, pinned).length > 0
    ? `${unjudged} of ${plural(rules.length, "rule")} could not be judged`
    : undefined;
};

const whyLoadIncomplete = ({ record }: RecordedLoad): string | undefined => {
  const { achieved, stopped, validity, outcome } = record;
  if (stopped !== undefined) return `it ended early: ${stopped}`;
  if (validity?.valid === false) return "it is invalid";
  if (outcome === "incomplete") return "it could not be judged";
  return (achieved?.requests ?? 0) === 0 ? "it sent no requests" : undefined;
};

export const whyUnjudged = ({ verdict }: RuleResult): string | undefined => {
  if (leavesOpen(verdict))
    return verdict.kind === "not-applicable" ? "excluded by the profile" : wordOf(verdict.kind);
  if (verdict.kind === "harness-error") return wordOf(verdict.kind);
  if (verdict.kind === "failed" || verdict.kind === "not-applicable") return undefined;
  return casesOf(verdict) === 0 ? "no case was judged" : undefined;
};
