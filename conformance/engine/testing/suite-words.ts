import { endingOf } from "../../../commands/shared/output.ts";
import { harmlessLines, withoutCommands } from "../../contract/harmless-text.ts";
import type { RuleResult } from "../../contract/record.ts";

/** Vitest prints messages as they are, and most of them quote the service. */
const shown = (text: string): string => withoutCommands(harmlessLines(text));

/** The reason why a rule's test fails; undefined if the promise is kept. */
export const complaintOf = ({ level, verdict }: RuleResult): string | undefined => {
  if (verdict.kind === "failed") {
    const { expected, actual, reproduction } = verdict.breach;
    return shown(
      `expected: ${expected}\nactual:   ${actual}\ninput:    ${reproduction.counterexample ?? "(none)"}`,
    );
  }
  if (verdict.kind === "harness-error") return shown(verdict.message);
  const gating = level === "required" || level === "derived";
  return gating && verdict.kind !== "passed"
    ? shown(`${verdict.kind}: ${"reason" in verdict ? verdict.reason : ""}`)
    : undefined;
};

/** The reason why a rule without a complaint was not judged; undefined if it was. */
export const skippedBecause = ({ verdict }: RuleResult): string | undefined =>
  verdict.kind === "could-not-run" || verdict.kind === "inconclusive" ? shown(verdict.reason) : undefined;

/** What ended a gate, as Vitest may print it: the error itself and its cause would quote the service. */
export const endedWith = (error: unknown): Error => new Error(shown(endingOf(error, false).message ?? ""));
