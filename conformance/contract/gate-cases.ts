import { isRequirementId, requirement } from "./catalogue.ts";
import { NOT_REACHED, type Case } from "./cases.ts";
import { exitCodes } from "./exit-codes.ts";
import { drifted, failsGate, leftUnjudged, waived, waiverStateText, waiverText } from "./outcome.ts";
import type { RuleResult, RunRecord } from "./record.ts";
import { counted } from "./text.ts";
import { casesOf as countOf, whyOpen, type Breach } from "./verdict.ts";

export type JudgedGate = Pick<
  RunRecord,
  "rules" | "selected" | "waivers" | "pinned" | "strict" | "notes" | "exitCode"
>;

/** What a gate run judged, item by item. */
export const gateCases = (record: JudgedGate): readonly Case[] => {
  const { rules, selected, pinned, waivers } = record;
  const settled = new Set<string>(rules.map(({ id }) => id));
  const open = new Set<string>(leftUnjudged(rules, pinned).map(({ id }) => id));
  return [
    ...rules.map((result): Case => {
      const { id, group, durationMs } = result;
      const measured = { value: countOf(result.verdict), unit: "cases" as const };
      return {
        id,
        group,
        ...verdictOf(result, record),
        ...(measured.value > 0 && { measured }),
        durationMs,
        ...(open.has(id) && { open: true as const }),
      };
    }),
    ...selected
      .filter((id) => !settled.has(id))
      .map((id): Case => ({
        id,
        group: requirement(id).group,
        status: "skipped",
        verdict: NOT_REACHED,
        seen: whyUnreached(record),
        open: true,
      })),
    ...waivers.filter(failsGate).map((waiver): Case => ({
      id: `waiver of ${waiver.id}`,
      group: "waivers",
      status: "failed",
      verdict: waiver.state,
      expected: `waived ${waiverText(waiver)}`,
      seen: waiverStateText(waiver),
    })),
  ];
};

/** If a run could not start, its reason applies to every rule. */
const whyUnreached = ({ exitCode, notes }: JudgedGate): string =>
  (exitCode === exitCodes.unreachable ? notes[0] : undefined) ?? "the run ended before";

type Judged = Pick<Case, "status" | "verdict" | "expected" | "seen" | "more">;

const verdictOf = (result: RuleResult, record: JudgedGate): Judged => {
  const { id, verdict } = result;
  const word = verdict.kind.replaceAll("-", " ");
  switch (verdict.kind) {
    case "failed":
    case "warned": {
      const { breach } = verdict;
      const said = { verdict: word, expected: breach.expected, seen: breach.actual };
      const waiver = record.waivers.find((one) => one.id === id && waived(record.waivers).has(id));
      if (waiver !== undefined)
        return {
          ...said,
          status: "skipped",
          more: [`waived ${waiverText(waiver)}`, ...furtherOf(id, breach)],
        };
      const isFailure = verdict.kind === "failed" || record.strict;
      return { ...said, status: isFailure ? "failed" : "passed", more: furtherOf(id, breach) };
    }
    case "observed": {
      const isDrifted = drifted([result], record.pinned).length > 0;
      const pin = Object.hasOwn(record.pinned, id) ? record.pinned[id] : undefined;
      return {
        status: isDrifted ? "failed" : "passed",
        verdict: isDrifted ? "drifted" : word,
        ...(pin !== undefined && { expected: pin }),
        seen: verdict.fingerprint,
      };
    }
    case "passed":
      return verdict.cases === 0
        ? { status: "skipped", verdict: "not judged", seen: "no case was judged" }
        : { status: "passed", verdict: word };
    case "harness-error":
      return { status: "error", verdict: word, seen: verdict.message };
    case "not-applicable":
      return {
        status: "skipped",
        verdict: verdict.by === "profile" ? "excluded by the profile" : word,
        seen: verdict.reason,
      };
    default:
      return { status: "skipped", verdict: word, seen: whyOpen(verdict) };
  }
};

const furtherOf = (id: string, { part, reproduction }: Breach): readonly string[] => {
  const { counterexample, replayed } = reproduction;
  return [
    ...(part === undefined ? [] : [`part: ${part}`]),
    ...(counterexample === undefined
      ? []
      : [`${isOfPushes(id) ? "notification" : "input"}: ${counterexample}`]),
    `again: ${cameBack(id, replayed)}`,
  ];
};

const isOfPushes = (rule: string): boolean => isRequirementId(rule) && requirement(rule).group === "push";

export const cameBack = (
  rule: string,
  { failures, attempts }: Breach["reproduction"]["replayed"],
): string => {
  if (attempts === 0)
    return isOfPushes(rule)
      ? "not replayed: it was seen in the push run, and no second push run decided it"
      : "not replayed";
  if (failures === attempts) return `reproduced in ${failures} of ${attempts} replays`;
  if (failures === 0) return `flaky: seen once, not reproduced in ${counted(attempts, "replay")}`;
  return `flaky: reproduced in ${failures} of ${attempts} replays`;
};
